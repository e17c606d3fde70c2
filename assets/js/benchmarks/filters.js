// Sliders for ε and τ. A slider covers what is usual, the number beside it everything.
import { LARGEST_EPSILON, LARGEST_TAU, USUAL, usable } from "./address.js";
import { h } from "../shared/elements.js";

const FURTHEST = { epsilon: 200, tau: 1 };
const HINTS = { epsilon: "A session is dropped if a turn moves the target back by more ranks than this.",
  tau: "A session is dropped if two of its texts have this cosine or more. Above 1 the filter is off." };

/** @param {BenchmarkView} view @param {(changes: Partial<BenchmarkView>) => void} change */
export function createFilters(view, change) {
  /** @type {(name: "epsilon" | "tau", label: string, step: number, most: number) => { element: HTMLElement, put(text: string): void }} */
  const slider = (name, label, step, most) => {
    const hint = `cq-be-hint-${name}`;
    const range = h("input", { type: "range", min: 0, max: FURTHEST[name], step, value: view[name], "aria-label": label, "aria-describedby": hint });
    const number = h("input", { type: "number", min: 0, max: most, step: name === "tau" ? "any" : 1, value: view[name], "aria-label": `${label}, as a number` });
    range.addEventListener("input", () => {
      number.value = range.value;
      change({ [name]: range.value });
    });
    number.addEventListener("input", () => {
      const text = number.value.trim();
      number.setAttribute("aria-invalid", String(!usable(name, text)));
      if (!usable(name, text)) return;
      range.value = text;
      change({ [name]: text });
    });
    return {
      element: h("div", { class: "cq-be-slider" }, h("span", { class: "label", text: label, "aria-hidden": "true" }), number, range, h("small", { id: hint, text: HINTS[name] })),
      put(text) {
        range.value = text;     // which keeps it within the slider
        number.value = text;
        number.setAttribute("aria-invalid", "false");
      },
    };
  };
  const epsilon = slider("epsilon", "Rank margin ε", 1, LARGEST_EPSILON), tau = slider("tau", "Text similarity τ", 0.01, LARGEST_TAU);
  const reset = h("button", { class: "cq-btn small", type: "button", text: "The paper’s: ε 30, τ 0.8", onclick: () => {
    epsilon.put(USUAL.epsilon);
    tau.put(USUAL.tau);
    change({ epsilon: USUAL.epsilon, tau: USUAL.tau });
  } });
  return h("div", { class: "cq-be-sliders", role: "group", "aria-label": "Filters" }, epsilon.element, tau.element, h("div", {}, reset));
}
