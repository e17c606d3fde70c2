// How many people, and what the planner says of it.
import { createDelay, api, field, h, messageOf } from "../../shared/common.js";
import { forecastFigures } from "../planner.js";
import { lasting, plural } from "../../shared/words.js";

const WAIT_MS = 250;
export const TABLE_ORDER = 1; // among the choices

/** @param {NewKind} kind @param {Record<string, number>} design is changed here @param {() => void} changed @param {boolean} [stored] of a source other than a table */
export function designPart(kind, design, changed, stored = false) {
  const answer = h("div", { class: "cq-stforecast", "aria-live": "polite" }, h("p", { class: "cq-quiet", text: "The planner needs the table and its pictures." }));
  const typed = createDelay(WAIT_MS);
  let items = 0, asked = 0;
  const fields = kind.design.map(({ name, title, value, least, most, explained, choices }) => {
    const input = choices.length ? h("select", { name }, choices.map((text, number) => (stored && name === "order" && number === TABLE_ORDER ? null : h("option", { value: String(number), text, selected: number === (design[name] ?? value) })))) : h("input", { type: "number", name, min: least, max: most, step: 1, value: design[name] ?? value, inputmode: "numeric", placeholder: String(value) });
    return h("div", {}, field(title, input), explained ? h("small", { class: "cq-quiet", text: explained }) : null);
  });
  const form = h("div", { class: "cq-stfields", oninput: (event) => {
    const { name, value } = /** @type {HTMLInputElement} */ (event.target);
    if (value.trim() === "") delete design[name];
    else design[name] = Number(value);
    changed();
    typed.start(ask);
  } }, fields);
  async function ask() {
    const mine = ++asked;
    if (!items) return;
    try {
      const found = await api("POST", "studies/new/plan", { kind: kind.kind, items, design });
      if (mine === asked) show(items, found);
    } catch (error) {
      if (mine === asked) answer.replaceChildren(h("p", { class: "cq-inline", text: messageOf(error) }));
    }
  }
  function show(/** @type {number} */ number, /** @type {DraftForecast} */ it) {
    items = number;
    if (it.problem) return answer.replaceChildren(h("p", { class: "cq-inline", role: "alert", text: it.problem }));
    answer.replaceChildren(...("rate_width" in it ? forecastFigures(/** @type {Forecast} */ (/** @type {unknown} */ (it))) : figures(it)));
  }
  function figures(/** @type {DraftForecast} */ it) {
    /** @type {(value: string, what: string, more: string) => HTMLElement} */
    const fact = (value, what, more) => h("div", {}, h("dt", { text: what }), h("dd", { text: value }), h("dd", { text: more }));
    const pairs = it.pairs ?? 0;
    return [h("dl", {}, fact(plural(it.people, "person", "people"), "to judge", ""),
      fact(lasting(3600 * it.hours_per_person), "per person", `up to ${plural(it.items_per_person ?? it.per_person ?? 0, kind.one, kind.many)}`),
      fact(lasting(3600 * it.hours_total), "of work in total", plural(it.judgements ?? it.answers ?? 0, "answer")),
      fact(pairs ? String(pairs) : "–", "pairs for comparing people", pairs ? "" : "No items are shared"))];
  }
  return { element: h("div", {}, form, answer), show };
}
