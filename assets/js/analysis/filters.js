// Which answers a report is about, and how its numbers are made.
import { h } from "../shared/elements.js";
import { CUTOFFS, EVERYTHING, SEEDS, USUAL, filtered } from "./address.js";
import { chipRow, choice } from "./chips.js";
import { ruleLines } from "../studies/survey.js";
import { plural } from "../shared/words.js";
/** @import { Option } from "./address.js" */

/** ``view()``: what is looked at now; ``change({…})`` changes a part of it. @typedef {{ view(): View, change(part: Partial<View>): void }} ViewControls */

const DRAWS = [["0", "None", "Wilson’s only, without bootstrap"], ["200", "200"], ["1000", "1,000"], ["5000", "5,000"]];
const NO_RULE = "none";

export function createFilters(/** @type {ViewControls & { words: KindWords }} */ { words, view, change }) {
  const { many: unit, groups: [dataset, category] } = words;
  const datasets = chipRow({ label: dataset, unit, chosen: () => view().datasets, change: (values) => change({ datasets: values }) });
  const categories = chipRow({ label: category, unit, chosen: () => view().categories, change: (values) => change({ categories: values }) });
  const people = chipRow({ label: "People", unit: "answers", chosen: () => view().people, change: (values) => change({ people: values }) });
  const block = chipRow({ label: "Items", unit, chosen: () => (view().block ? ["block"] : []), change: (on) => change({ block: on.length > 0 }) });
  const clear = h("button", { class: "cq-btn small", type: "button", text: "Clear filters", onclick: () => change(EVERYTHING) });
  const made = howMade({ words, view, change });
  const element = h("div", { class: "cq-an-filters", role: "search", "aria-label": "Filters" },
    datasets.element, categories.element, people.element, block.element, clear, made.element);
  return {
    element,
    put(/** @type {Report} */ { choices, report, about }) {
      datasets.put(choices.datasets.map(([name, number]) => [name, name, number]));
      categories.put(choices.categories.map(([name, number]) => [name, category === "Category" ? name.replaceAll("_", " ") : name, number]));
      people.put(choices.people.map(({ seat, name, judgements }) => [seat, name, judgements]));
      block.put(choices.block ? [["block", "Only the agreement block", choices.block]] : []);
      block.element.hidden = !choices.block;
      clear.hidden = !filtered(view());
      made.put(report, about);
    },
    // No name is left in it.
    forget: () => people.put([]),
  };
}

function howMade(/** @type {ViewControls & { words: KindWords }} */ { words, view, change }) {
  const now = view();
  const fields = /** @type {[Option, HTMLInputElement][]} */ ([]), choosing = /** @type {[Option, { mark(value: string): void }][]} */ ([]);
  /** @type {(label: string, name: Option, props: Props, title?: string) => [HTMLInputElement, HTMLElement]} */
  const field = (label, name, props, title) => {
    const input = h("input", { value: now[name], ...props, onchange: () => {
      const value = input.value.trim() || USUAL[name];
      if (input.reportValidity() && value !== view()[name]) change({ [name]: value });
    } });
    fields.push([name, input]);
    return [input, h("label", { class: "cq-an-filter", title }, h("span", { class: "cq-label", text: label }), input)];
  };
  const oneOf = (/** @type {string} */ label, /** @type {Option} */ name, /** @type {string[][]} */ options) => {
    const made = choice({ label, options, value: now[name], change: (value) => change({ [name]: value }) });
    choosing.push([name, made]);
    return made.element;
  };
  const [seed, seedField] = field("Seed", "seed", { type: "number", ...SEEDS, placeholder: "Default", inputmode: "numeric" }, "The same seed reproduces the intervals");
  const parts = [oneOf("Bootstrap draws", "draws", DRAWS), seedField];
  const has = (/** @type {string} */ option) => words.options.includes(option);
  if (words.undefined) {
    parts.push(oneOf(`Undefined ${words.undefined}`, "undefined",
      [["null", "leave out", "If chance agreement is complete: no number, with the reason"], ["one", "count as 1", "As CIRCUS’s released report counts it"]]));
  }
  if (has("resample")) {
    parts.push(oneOf("Bootstrap unit", "resample", [["items", `${words.many[0].toUpperCase()}${words.many.slice(1)}`, `Generalise to other ${words.many} of the same kind`],
      ["people", "People", "Generalise to other people"]]));
  }
  if (has("k")) parts.push(field("Recall at", "k", { type: "text", size: 6, placeholder: USUAL.k, pattern: CUTOFFS }, "One or more of 1 to 5, separated by commas")[1]);
  const rules = has("rule") ? ruleList({ view, change }) : null;
  return {
    element: h("details", { class: "cq-an-made" }, h("summary", { text: "How numbers are computed" }),
      h("div", { class: "cq-an-options" }, parts), rules?.element ?? null),
    put(/** @type {Report["report"]} */ report, /** @type {Report["about"]} */ about) {
      for (const [name, input] of fields) if (document.activeElement !== input && input.validity.valid) input.value = view()[name];
      for (const [name, made] of choosing) made.mark(view()[name]);
      const used = about?.options?.seed;
      if (used !== undefined && Number.isInteger(used) && !view().seed) seed.placeholder = String(used);
      rules?.put(report?.rules ?? {});
    },
  };
}

// Rules of this look alone; what the study keeps is set in its own screen.
function ruleList(/** @type {ViewControls} */ { view, change }) {
  const limits = (/** @type {Element} */ of) => [...of.querySelectorAll("input[type=number]")];
  const valid = () => lines.every(({ on, element: line }) => !on.checked || limits(line).every((input) => input.reportValidity()));
  const lines = ruleLines(() => valid() && change({ rules: lines.filter(({ on }) => on.checked).map((it) => it.text).join(",") || NO_RULE }));
  for (const input of lines.flatMap((it) => limits(it.element))) input.required = true;
  const back = h("button", { class: "cq-btn small", type: "button", text: "Back to the study’s rules", onclick: () => change({ rules: null }) });
  const status = h("p", { class: "cq-quiet", role: "status" });
  const element = h("fieldset", { class: "cq-an-rules" }, h("legend", { class: "cq-label", text: "Excluded" }),
    h("ul", { class: "cq-strules" }, lines.map((it) => it.element)), h("p", { class: "cq-row" }, status, back));
  return {
    element,
    put(/** @type {Record<string, number | boolean | null>} */ inForce) { // {failed_checks: 2}
      for (const it of lines) {
        const limit = inForce[it.rule.replaceAll("-", "_")];
        it.set(limit === undefined || limit === false || limit === null ? undefined : `${it.rule}=${limit}`);
      }
      const own = view().rules !== null;
      back.hidden = !own;
      status.textContent = own ? "These rules apply to this view only; the study’s own are unchanged."
        : Object.keys(inForce).length ? `The study has ${plural(Object.keys(inForce).length, "rule")}.` : "The study has no rules: all answers count.";
    },
  };
}
