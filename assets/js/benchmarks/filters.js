// Sliders for ε and τ. A slider covers what is usual, the number beside it everything.
import { LARGEST_EPSILON, LARGEST_TAU, USUAL, usable } from "./address.js";
import { h } from "../shared/elements.js";

const FURTHEST = { epsilon: 200, tau: 1 };
const HINTS = { epsilon: "A session is dropped if a turn moves the target back by more ranks than this.",
  tau: "A session is dropped if two of its texts have this cosine or more. Above 1 the filter is off." };

/**
 * A slider up to ``furthest`` and a number up to ``most``; ``any``: it need not be a whole number of steps.
 * @param {{ name: string, label: string, hint: string, value: string, step: number, any: boolean, most: number, furthest: number, change(text: string): void }} of
 */
export function createSlider({ name, label, hint, value, step, any, most, furthest, change }) {
  const id = `cq-be-hint-${name}`;
  const range = h("input", { type: "range", min: 0, max: furthest, step, value, "aria-label": label, "aria-describedby": id });
  const number = h("input", { type: "number", min: 0, max: most, step: any ? "any" : 1, value, "aria-label": `${label}, as a number` });
  range.addEventListener("input", () => {
    number.value = range.value;
    number.setAttribute("aria-invalid", "false");
    change(range.value);
  });
  number.addEventListener("input", () => {
    const text = number.value.trim();
    number.setAttribute("aria-invalid", String(!usable(name, text)));
    if (!usable(name, text)) return;
    range.value = text;
    change(text);
  });
  return {
    element: h("div", { class: "cq-be-slider" }, h("span", { class: "label", text: label, "aria-hidden": "true" }), number, range, h("small", { id, text: hint })),
    put(/** @type {string} */ text) {
      range.value = text;     // which keeps it within the slider
      number.value = text;
      number.setAttribute("aria-invalid", "false");
    },
  };
}

/** @param {BenchmarkView} view @param {(changes: Partial<BenchmarkView>) => void} change */
export function createFilters(view, change) {
  /** @type {(name: "epsilon" | "tau", label: string, step: number, most: number) => ReturnType<typeof createSlider>} */
  const slider = (name, label, step, most) => createSlider({ name, label, hint: HINTS[name], value: view[name], step, any: name === "tau", most, furthest: FURTHEST[name],
    change: (text) => change({ [name]: text }) });
  const epsilon = slider("epsilon", "Rank margin ε", 1, LARGEST_EPSILON), tau = slider("tau", "Text similarity τ", 0.01, LARGEST_TAU);
  const reset = h("button", { class: "cq-btn small", type: "button", text: "The paper’s: ε 30, τ 0.8", onclick: () => {
    epsilon.put(USUAL.epsilon);
    tau.put(USUAL.tau);
    change({ epsilon: USUAL.epsilon, tau: USUAL.tau });
  } });
  return h("div", { class: "cq-be-sliders", role: "group", "aria-label": "Filters" }, epsilon.element, tau.element, h("div", {}, reset));
}
