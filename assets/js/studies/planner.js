// People × items × overlap → hours and precision, before anybody begins.
import { api, copy, createDelay, field, h, messageOf } from "../shared/common.js";
import { count, lasting, plural } from "../shared/words.js";
/** @import { Screen } from "./main.js" */

const WAIT_MS = 250;
/** @type {[string, string, number, number, number][]} */
const FIELDS = [
  ["people", "People", 5, 1, 10000], ["items", "Items", 500, 1, 1000000], ["overlap", "People per item", 2, 1, 100],
  ["block", "Agreement items", 50, 0, 100000], ["seconds", "Seconds per item", 60, 1, 3600],
];
/** @type {Record<string, string>} */
const EXPLAINED = {
  overlap: "How many people judge each item independently.",
  block: "Items for everyone, to compare all people with each other.",
};

export function planner(/** @type {Screen} */ screen, /** @type {{ open: boolean }} */ { open }) {
  const inputs = /** @type {Map<string, HTMLInputElement>} */ (new Map());
  const fields = FIELDS.map(([name, label, value, least, most]) => {
    const input = h("input", { type: "number", name, min: least, max: most, value, step: 1, inputmode: "numeric" });
    inputs.set(name, input);
    return field(label, input, EXPLAINED[name]);
  });
  const answer = h("div", { class: "cq-stforecast", "aria-live": "polite" });
  const command = h("code", { class: "cq-stcommand" });
  const values = () => Object.fromEntries([...inputs].map(([name, input]) => [name, input.value.trim()]));
  const typed = createDelay(WAIT_MS);
  let asked = 0;

  async function ask() {
    const mine = ++asked, sent = values();
    command.textContent = `cirque study create validity NAME --from-audit FOLDER --sample ${sent.items} --people ${sent.people} `
      + `--overlap ${sent.overlap} --agreement-items ${sent.block} --seconds-per-item ${sent.seconds}`;
    if (!answer.childElementCount) answer.replaceChildren(h("p", { class: "cq-quiet", text: "Computing…" }));
    try {
      const forecast = await api("GET", `studies/plan?${new URLSearchParams(sent)}`);
      if (mine === asked) answer.replaceChildren(...forecastFigures(forecast));
    } catch (error) {
      if (mine === asked) answer.replaceChildren(h("p", { class: "cq-inline", text: messageOf(error) }));
    }
  }
  const form = h("form", { class: "cq-stplan", oninput: () => typed.start(ask),
    onsubmit: (event) => { event.preventDefault(); typed.stop(); ask(); } }, fields);
  const box = h("details", { class: "cq-stbox", open, ontoggle: () => { if (box.open && !asked) ask(); } },
    h("summary", {}, h("h2", { text: "Plan a study" }), h("span", { class: "cq-quiet", text: "Estimate effort and precision" })),
    form, answer,
    h("p", { class: "cq-quiet", text: "From the command line, for example from an audit (see cirque study create --help for other sources):" }),
    h("div", { class: "cq-stcopy" }, command, h("button", { class: "cq-btn small", type: "button", text: "Copy", onclick: () => copy(command.textContent, { shown: command }) })));
  return box;
}

export function forecastFigures(/** @type {Forecast} */ it) {
  /** @type {(value: string, what: string, more: string) => HTMLElement} */
  const fact = (value, what, more) => h("div", {}, h("dt", { text: what }), h("dd", { text: value }), h("dd", { text: more }));
  const half = (/** @type {number} */ width) => `± ${(width / 2).toFixed(width < 0.02 ? 3 : 2)}`;
  return [h("dl", {},
    fact(lasting(3600 * it.hours_per_person), "per person", `up to ${plural(it.items_per_person, "item")}`),
    fact(lasting(3600 * it.hours_total), "of work in total", plural(it.judgements, "judgement")),
    fact(half(it.rate_width), "share of valid items", `if about ${Math.round(100 * it.valid_rate)} % are`),
    it.kappa_width === null
      ? fact("–", "Cohen’s κ", "nothing to compare")
      : fact(half(it.kappa_width), "Cohen’s κ", `if about ${it.kappa.toFixed(2)}, from ${plural(it.doubly_judged, "item")}`)),
  h("p", { class: "cq-quiet", text: it.kappa_reason || `${plural(it.doubly_judged, "item")} of ${count(it.items)} will be judged by more than one person. `
    + "Widths of 95 % intervals." })];
}
