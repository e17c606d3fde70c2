// Which answers a report is about, and how its numbers are made.
import { h } from "./elements.js";
import { filtered } from "./analysis-address.js";
import { chipRow, choice } from "./analysis-chips.js";
import { ruleLines } from "./survey-rules.js";
import { plural } from "./studies-words.js";

const DRAWS = [["0", "None", "Wilson’s alone, which need no draws"], ["200", "200"], ["1000", "1,000"], ["5000", "5,000"]];
const NO_RULE = "none";

// ``view()``: what is looked at now; ``change({…})`` changes a part of it.
export function createFilters({ kind, view, change }) {
  const unit = kind === "preference" ? "questions" : "items";
  const list = (name, label, of = unit) => chipRow({ label, unit: of, chosen: () => view()[name], change: (values) => change({ [name]: values }) });
  const datasets = list("datasets", "Data set"), categories = list("categories", "Category"), people = list("people", "People", "answers");
  const block = chipRow({ label: "Items", unit, chosen: () => (view().block ? ["block"] : []), change: (on) => change({ block: on.length > 0 }) });
  const clear = h("button", { class: "cq-btn small", type: "button", text: "Clear filters", onclick: () => change({ datasets: [], categories: [], people: [], block: false }, true) });
  const made = howMade({ kind, view, change, unit });
  const element = h("div", { class: "cq-an-filters", role: "search", "aria-label": "What to look at" },
    datasets.element, categories.element, people.element, block.element, clear, made.element);
  return {
    element,
    put({ choices, report }) {
      datasets.put(choices.datasets.map(([name, number]) => [name, name, number]));
      categories.put(choices.categories.map(([name, number]) => [name, name.replaceAll("_", " "), number]));
      people.put(choices.people.map(({ seat, name, judgements }) => [seat, name, judgements]));
      block.put(choices.block ? [["block", "Agreement block only", choices.block]] : []);
      block.element.hidden = !choices.block;
      clear.hidden = !filtered(view());
      made.put(report);
    },
    // No name is left in it.
    forget: () => people.put([]),
  };
}

function howMade({ kind, view, change, unit }) {
  const now = view();
  const field = (label, name, props, title) => {
    const input = h("input", { value: now[name], ...props, onchange: () => change({ [name]: input.value.trim() || (props.value ?? "") }) });
    return h("label", { class: "cq-an-filter", title }, h("span", { class: "cq-label", text: label }), input);
  };
  const parts = [
    choice({ label: "Draws for intervals", options: DRAWS, value: now.draws, change: (draws) => change({ draws }) }).element,
    field("Seed", "seed", { type: "number", min: 0, step: 1, placeholder: "cirque’s own", inputmode: "numeric" }, "The same seed gives the same intervals"),
  ];
  if (kind === "validity") {
    parts.push(choice({ label: "κ where all say one and the same", value: now.undefined, change: (value) => change({ undefined: value }),
      options: [["null", "No number", "Chance alone would agree as well: left out of means, with the reason"], ["one", "1.0", "As CIRCUS’s released report counts it"]] }).element);
  } else {
    parts.push(
      choice({ label: "Drawn whole", value: now.resample, change: (resample) => change({ resample }),
        options: [["items", "Questions", "Intervals for other questions of the same kind"], ["people", "People", "Intervals for other people"]] }).element,
      field("Recall at", "k", { type: "text", size: 6, value: now.k, placeholder: "5", pattern: "[1-5](\\s*,\\s*[1-5])*" }, "One or more of 1 to 5, with commas between"));
  }
  const rules = kind === "preference" ? ruleList({ view, change }) : null;
  return {
    element: h("details", { class: "cq-an-made" }, h("summary", { text: "How numbers are made" }),
      h("div", { class: "cq-an-options" }, parts), rules?.element ?? null),
    put(report) { rules?.put(report?.rules ?? {}); },
  };
}

// Rules of this look alone; what the study keeps is set in its own screen.
function ruleList({ view, change }) {
  const lines = ruleLines(() => change({ rules: lines.filter(({ on }) => on.checked).map((it) => it.text).join(",") || NO_RULE }));
  const back = h("button", { class: "cq-btn small", type: "button", text: "Back to the rules the study keeps", onclick: () => change({ rules: null }) });
  const said = h("p", { class: "cq-quiet", role: "status" });
  return {
    element: h("fieldset", { class: "cq-an-rules" }, h("legend", { class: "cq-label", text: "Left out" }),
      h("ul", { class: "cq-strules" }, lines.map((it) => it.element)), h("p", { class: "cq-row" }, said, back)),
    put(inForce) { // {failed_checks: 2}
      for (const it of lines) {
        const limit = inForce[it.rule.replaceAll("-", "_")];
        it.set(limit === undefined || limit === false || limit === null ? undefined : `${it.rule}=${limit}`);
      }
      const own = view().rules !== null;
      back.hidden = !own;
      said.textContent = own ? "Rules of this look alone: the study’s own stay as they are."
        : Object.keys(inForce).length ? `The study keeps ${plural(Object.keys(inForce).length, "rule")}.` : "The study keeps no rule: all answers count.";
    },
  };
}
