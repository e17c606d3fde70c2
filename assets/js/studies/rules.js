// Rules by which answers of a preference study are left out, as lines with a box and a limit.
import { h } from "../shared/elements.js";

// name, first limit, words before and behind the number, its bounds, and how many of it are one in the rule
/** @type {[string, number | null, string, string?, { min: number, max?: number, step: number | "any", unit?: number }?][]} */
const RULES = [
  ["irrelevant", null, "Answers that flag the results as irrelevant, to image or text"],
  ["failed-checks", 2, "People with more than", "wrong answers to checks", { min: 0, step: 1 }],
  ["median-seconds", 5, "People with a median below", "seconds a question", { min: 0.5, step: "any" }],
  ["straight-lining", 12, "People with", "questions in a row rated the same, or more", { min: 2, step: 1 }],
  ["one-side", 90, "People who chose the same side in", "% of their answers, or more", { min: 51, max: 100, step: "any", unit: 100 }],
];

// [{rule, on, element, takes, text, set}]: ``text`` as it is typed, "failed-checks=2"; ``set`` takes it so, or nothing.
export const ruleLines = (/** @type {() => unknown} */ changed) => RULES.map(([rule, usual, before, behind = "", props]) => {
  const { unit = 1, ...limits } = props ?? {};
  const on = h("input", { type: "checkbox", onchange: changed });
  const limit = usual === null ? null : h("input", { type: "number", class: "cq-strule", "aria-label": `${before} … ${behind}`, value: usual, ...limits,
    onchange: () => { on.checked = true; changed(); } });
  const takes = h("small", { class: "cq-sttakes" });
  return { rule, takes, on,
    element: h("li", {}, h("label", {}, on, h("span", { text: before })), limit ? [limit, h("span", { text: behind })] : null, takes),
    get text() { return limit ? `${rule}=${unit === 1 ? limit.value : Number(limit.value) / unit}` : rule; },
    set(/** @type {string | undefined} */ given) {
      on.checked = given !== undefined;
      const value = given?.split("=")[1];
      if (value !== undefined && limit) limit.value = String(Math.round(10000 * Number(value) * unit) / 10000);
    } };
});
