// In the studies screen: how people answered, what rules would exclude, gold; of a preference study the methods, too.
import { api, h, messageOf, tellIn } from "../shared/common.js";
import { count, lasting, plural } from "../shared/words.js";
import { goldCell, goldPart } from "./gold.js";

/** @import { Secret } from "./results.js" */
/** @import { Screen } from "./main.js" */

const NONE = "none";
const share = (/** @type {number | null} */ value) => (value === null ? "–" : `${Math.round(100 * value)} %`);
const range = (/** @type {Share} */ { low, high }) => (low === null || high === null ? "" : `${Math.round(100 * low)}–${Math.round(100 * high)} %`);

// Somebody who answers in the study sees nothing of it before they ask to: see ``secret`` in oneView.
// ``sets``: whether it is a preference study.
/** @type {(screen: Screen, query: string, name: string, secret: Secret, sets?: boolean) => { element: HTMLElement, again(): Promise<void> }} */
export function surveyPart(screen, query, name, secret, sets = true) {
  const people = h("div", {}), methods = h("div", {}), sides = h("div", {}), effect = h("p", { class: "cq-quiet", role: "status" });
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const lines = ruleLines(() => again(), sets);
  const gold = goldPart(screen, name, () => again());
  const keep = h("button", { class: "cq-btn small", type: "button", text: "Save these rules", hidden: true, title: "Exports apply the study’s saved rules",
    onclick: async () => {
      const done = await screen.does("POST", "studies/rules", { study: name, rules: chosen() }, "Saved: exports apply these rules");
      if (done) await again();
    } });
  const element = h("section", { "aria-label": sets ? "Quality and methods" : "Quality" });
  let kept = /** @type {string[] | null} */ (null), asked = 0;

  const chosen = () => lines.filter(({ on }) => on.checked).map((it) => it.text);
  const fresh = () => {
    element.replaceChildren(h("div", { class: "cq-sttitle" }, h("h2", { text: "Quality" })), people, h("h3", { text: "What to exclude" }),
      h("p", { class: "cq-quiet", text: "Nothing is excluded automatically. Turn rules on to see what each excludes." }),
      h("ul", { class: "cq-strules" }, lines.map((it) => it.element)), problem, h("p", { class: "cq-row" }, effect, keep),
      gold.element, ...(sets ? [h("h3", { text: "Sides" }), sides, h("h3", { text: "Methods" }), methods] : []));
  };

  async function again() {
    if (secret.kept) {
      return element.replaceChildren(h("h2", { text: sets ? "Quality and methods" : "Quality" }), h("div", { class: "cq-stcovered" },
        h("p", { text: "You are a participant in this study. This shows what participants should not see." }),
        h("button", { class: "cq-btn small", type: "button", text: "Show it anyway", onclick: () => { secret.tell(); again(); } })));
    }
    if (!people.isConnected) fresh();
    const mine = ++asked;
    const rules = kept === null ? "" : `&rules=${encodeURIComponent(chosen().join(",") || NONE)}`;
    try {
      const [found, of] = await Promise.all([api("GET", `studies/quality?${query}${rules}`), sets ? api("GET", `studies/methods?${query}${rules}`) : null]);
      if (mine !== asked) return;
      if (kept === null) for (const it of lines) it.set(found.rules.find((rule) => rule.split("=")[0] === it.rule));
      kept = found.kept_rules;
      draw(found, of);
    } catch (error) {
      if (mine !== asked) return;
      tellIn(problem, messageOf(error));
    }
  }

  function draw(/** @type {Quality} */ found, /** @type {Methods | null} */ of) {
    problem.hidden = true;
    people.replaceChildren(qualityTable(found.people, sets));
    gold.draw(found);
    for (const it of lines) it.takes.textContent = taken(found.removed.find(({ rule }) => rule === it.rule), it.on.checked);
    const { together, left, answers } = found;
    effect.textContent = found.rules.length ? `Total: ${plural(together.answers, "answer")} excluded, ${count(left)} of ${count(answers)} remain.` : answers ? `No rule: all ${plural(answers, "answer")} count.` : "";
    keep.hidden = !screen.may("manage") || JSON.stringify(found.rules) === JSON.stringify(found.kept_rules);
    if (!of) return;
    sides.replaceChildren(...(left < answers ? [h("p", { class: "cq-quiet", text: `Of the ${plural(left, "answer")} left by the rules.` })] : []), sideTable(found.sides));
    methods.replaceChildren(...methodTables(of));
  }
  return { element, again };
}

/** @type {(removal: Removal | undefined, on: boolean) => string} */
const taken = (removal, on) => (!on || !removal ? "" : removal.answers === null ? "not recorded" : removal.answers
  ? `${plural(removal.answers, "answer")} excluded${removal.people.length ? `: all of ${removal.people.join(", ")}` : ""}` : "none excluded");

const number = (/** @type {string} */ text) => h("td", { class: "num", text });
/** @type {(value: number | null, told: (value: number) => string) => HTMLElement} */
const unrecorded = (value, told) => (value === null ? h("td", { class: "num", title: "Not recorded", text: "–" }) : number(told(value)));
/** @type {(heads: string[][], rows: Child, kind?: string) => HTMLElement} */
const table = (heads, rows, kind = "") => h("div", { class: "cq-stscroll", tabindex: "0" }, h("table", { class: `cq-sttable ${kind}` },
  h("thead", {}, h("tr", {}, heads.map(([text, title], place) => h("th", { scope: "col", class: place ? "num" : "", text, title })))), h("tbody", {}, rows)));

function qualityTable(/** @type {PersonQuality[]} */ people, /** @type {boolean} */ sets) {
  if (!people.length) return h("p", { class: "cq-quiet", text: "Nobody has started yet." });
  return table([["Name"], ["Answers"], ["Wrong checks", "Wrong answers to the checks between pages, and to gold items"], ["Median", "Seconds each"],
    ["Longest run", "Identical answers in a row"], ["Contradictions", "Answers that contradict themselves"],
    ...(sets ? [["First side", "How often the set shown first is preferred, with a 95 % interval"], ["Agrees", "With others, on shared questions"],
      ["Flagged", "Results flagged as irrelevant"]] : []), ["Gold", "Mean score of gold items; the line shows it over time"]],
  people.map((it) => h("tr", { class: it.answers && !it.left ? "out" : "" }, h("th", { scope: "row" }, h("b", { text: it.name, dir: "auto" }),
    it.left < it.answers ? h("small", { text: it.left ? ` ${count(it.left)} left` : " excluded" }) : null),
  number(count(it.answers)), unrecorded(it.checks, (checks) => (checks ? `${count(it.failed_checks)} of ${count(checks)}` : "–")), number(lasting(it.median_seconds)),
  number(count(it.longest_run)), number(it.contradictable ? `${count(it.contradictions)} of ${count(it.contradictable)}` : "–"),
  it.first_side ? [h("td", { class: "num" }, share(it.first_side.value), " ", h("small", { text: range(it.first_side) })),
    number(it.shared ? `${share(it.agreement ?? null)} of ${count(it.shared)}` : "–"), unrecorded(it.flagged ?? null, count)] : null, goldCell(it))), "cq-stquality");
}

function sideTable(/** @type {Quality["sides"]} */ { first, first_when_equal: equal, stored, stored_when_equal: storedEqual }) {
  /** @type {(name: string, it: Share) => HTMLElement} */
  const row = (name, it) => h("tr", {}, h("th", { scope: "row", text: name }), number(it.n ? `${count(it.count)} of ${count(it.n)}` : "–"), number(share(it.value)),
    number(range(it)), number(it.p === null ? "" : it.p < 0.001 ? "< 0.001" : it.p.toFixed(3)));
  return table([["Preferred"], ["Answers"], ["Share"], ["95 %"], ["p", "Versus 50 %, exact binomial"]], [
    row("Shown first", first), row("Shown first, both rated the same", equal),
    row("Stored first: about half if methods differ little", stored), row("Stored first, both rated the same", storedEqual)]);
}

function methodTables(/** @type {Methods} */ { methods, pairs }) {
  if (!methods.length) return [h("p", { class: "cq-quiet", text: "No answers yet, or the methods are unknown." })];
  return [table([["Method"], ["Rated sets"], ["Mean rating"], ["Preferred"], ["95 %"], ["Ties"]],
    methods.map((it) => h("tr", {}, h("th", { scope: "row", text: it.method, dir: "auto" }), number(count(it.rated)), number(it.mean_rating.toFixed(2)),
      number(share(it.preferred.value)), number(range(it.preferred)), number(count(it.ties))))),
  h("p", { class: "cq-quiet", text: "Intervals treat answers as independent, although one person gives many: a first impression only." }),
  table([["Pair"], ["Answers"], ["First preferred"], ["95 %"], ["Ties"], ["Rating difference", "First minus second, within an answer"]],
    pairs.map((it) => h("tr", {}, h("th", { scope: "row", dir: "auto", text: `${it.first} – ${it.second}` }), number(count(it.answers)),
      number(share(it.first_preferred.value)), number(range(it.first_preferred)), number(count(it.ties)), number(`${it.mean_difference > 0 ? "+" : ""}${it.mean_difference.toFixed(2)}`)))),
  ...adjustedTable(pairs)];
}

// Which method stood first: balanced in the plan, but not in what came of it.
function adjustedTable(/** @type {PairResult[]} */ pairs) {
  const led = (/** @type {number} */ stood, /** @type {Share} */ { value, n }) => number(stood ? `${count(stood)} · ${n ? share(value) : "–"}` : "0");
  const why = [...new Set(pairs.filter(({ adjusted }) => adjusted === null).map((it) => `${it.first} – ${it.second}: ${it.unadjusted}`))];
  return [h("h3", { text: "Methods, adjusted for sides" }),
    table([["Pair"], ["First method led", "Answers with the first method shown first, and the share of these that prefer it"],
      ["Second method led", "Answers with the second method shown first, and the share of these that prefer the first method"],
      ["First preferred", "Of all answers that prefer one of the two"], ["Adjusted", "Mean of both shares, as if each had been shown first equally often"]],
    pairs.map((it) => h("tr", {}, h("th", { scope: "row", dir: "auto", text: `${it.first} – ${it.second}` }), led(it.first_led, it.first_leading),
      led(it.second_led, it.second_leading), number(share(it.first_preferred.value)),
      h("td", { class: "num", text: share(it.adjusted), title: it.unadjusted || null })))),
    ...(why.length ? [h("p", { class: "cq-quiet", text: `Not adjusted. ${why.join("; ")}.`, dir: "auto" })] : [])];
}

// Rules by which answers of a preference study are left out, as lines with a box and a limit.
// name, first limit, words before and behind the number, its bounds, and how many of it are one in the rule
/** @type {[string, number | null, string, string?, { min: number, max?: number, step: number | "any", unit?: number }?][]} */
const RULES = [
  ["irrelevant", null, "Answers that flag the results as irrelevant, to image or text"],
  ["failed-checks", 2, "People with more than", "wrong answers to checks and gold items", { min: 0, step: 1 }],
  ["median-seconds", 5, "People with a median below", "seconds each", { min: 0.5, step: "any" }],
  ["straight-lining", 12, "People with", "or more identical answers in a row", { min: 2, step: 1 }],
  ["contradictions", 20, "People who contradict themselves in", "% or more of the answers where this is possible", { min: 1, max: 100, step: "any", unit: 100 }],
  ["gold", 70, "People with a score of gold items below", "%", { min: 1, max: 100, step: "any", unit: 100 }],
  ["one-side", 90, "People who chose the same side in", "% or more of their answers", { min: 51, max: 100, step: "any", unit: 100 }],
];

// [{rule, on, element, takes, text, set}]: ``text`` as it is typed, "failed-checks=2"; ``set`` takes it so, or nothing.
// ``sets``: also those that only a preference study has.
export const ruleLines = (/** @type {() => unknown} */ changed, sets = true) => RULES.filter(([rule]) => sets || !["irrelevant", "one-side"].includes(rule)).map(([rule, usual, before, behind = "", props]) => {
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
