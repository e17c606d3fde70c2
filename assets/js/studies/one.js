// One study: how far its people are, what came of it so far, and what can be done with it.
import { api, at, confirm, h, toast } from "../shared/common.js";
/** @import { Screen, View } from "./main.js" */
import { fileMenu } from "../shared/files.js";
import { peopleTable } from "./people.js";
import { ratingsPart } from "./ratings.js";
import { resultsPart } from "./results.js";
import { surveyPart } from "./survey.js";
import { targetsPart } from "./targets.js";
import { ITEMS, bar, chip, count, day, percent, plural, several } from "./words.js";

const AFRESH_MS = 60000; // people and results are read again at most this often

/** @type {Record<string, string[][]>} */
const EXPORTS = { validity: [
  ["circus", "", "CIRCUS, one JSON per annotator", "zip"], ["mbeir", "", "M-BEIR, the validated queries with trace", "zip"],
  ["csv", "items", "Items with their final labels", "CSV"], ["csv", "judgements", "Judgements", "CSV"],
  ["parquet", "items", "Items with their final labels", "Parquet"], ["parquet", "judgements", "Judgements", "Parquet"],
  ["results", "", "Counts, and the label of every item", "JSON"],
], preference: [
  ["hp-fashioniq", "", "HP-FashionIQ’s form", "JSON"], ["csv", "", "Judgements, and rated sets", "CSV"],
  ["parquet", "", "Judgements, and rated sets", "Parquet"], ["preferences", "", "Pairs for training reward models", "JSONL"],
], sessions: [
  ["csv", "judgements", "Ratings", "CSV"], ["csv", "items", "Sessions with their mean ratings", "CSV"],
  ["parquet", "judgements", "Ratings", "Parquet"], ["parquet", "items", "Sessions with their mean ratings", "Parquet"],
  ["results", "", "Means by source, and of every session", "JSON"],
], targets: [
  ["soft", "", "Corrected targets, SoFT’s form", "zip"], ["csv", "judgements", "Marks", "CSV"], ["csv", "images", "Images with what people say", "CSV"],
  ["parquet", "judgements", "Marks", "Parquet"], ["parquet", "images", "Images with what people say", "Parquet"],
  ["results", "", "Counts, and the marks of every image", "JSON"],
] };

export async function oneView(/** @type {Screen} */ screen, /** @type {string} */ name) {
  const query = `study=${encodeURIComponent(name)}`;
  let known = await api("GET", `studies/one?${query}`), read = Date.now(), shown = JSON.stringify(known.study.counts);
  const rule = { value: "majority" };
  const head = h("div", {}), tiles = h("div", { class: "cq-sttiles" }), people = h("section", {}), plan = h("section", {});
  const asks = ITEMS[known.study.kind];
  const menu = downloads(query, rule, EXPORTS[known.study.kind]);
  // What judges should not know of a study is kept from them until they ask for it all the same.
  const secret = { kept: known.you_judge, tell() { secret.kept = false; draw(); } };
  const results = { preference: () => surveyPart(screen, query, known.study.name, secret), sessions: () => ratingsPart(query, secret),
    targets: () => targetsPart(query, secret), validity: () => resultsPart(screen, query, rule, secret) }[known.study.kind]();

  const change = async (/** @type {"open" | "close"} */ path, /** @type {[string, string, string]} */ asks, /** @type {string} */ done) => {
    if (!(await confirm(...asks))) return;
    if (await screen.does("POST", `studies/${path}`, { study: known.study.name }, done)) await afresh();
  };
  const release = async (/** @type {SeatProgress} */ person) => {
    const { name: who, open, done: answered } = person;
    const block = known.study.plan.agreement_items ? " Items of the agreement block, which everyone judges, are no longer expected." : "";
    const sure = await confirm(`Reassign ${who}’s open work?`, answered
      ? `Open items go to whoever joins next or asks for more.${block} Answers of ${who} are kept, including late ones.`
      : `${who} has no answers: the seat becomes free, with ${plural(open, `open ${asks}`)}.`, "Reassign");
    if (!sure) return;
    const done = await screen.does("POST", "studies/release", { study: known.study.name, annotator: person.name },
      ({ released, block: left, freed }) => (freed ? `The seat is free, with ${plural(released, asks)}`
        : `${plural(released, asks)} free for others${left ? `, ${plural(left, asks)} of the agreement block no longer waited for` : ""}`));
    if (done) await afresh();
  };

  function drawHead() {
    const { study } = known;
    const pressing = known.queue.open;
    head.replaceChildren(
      h("nav", { class: "cq-stcrumb", "aria-label": "Where" }, h("a", { href: at("studies"), text: "Studies",
        onclick: (event) => { if (!event.ctrlKey && !event.metaKey) { event.preventDefault(); screen.go(""); } } })),
      h("header", { class: "cq-sthead" },
        h("h1", { text: study.name, dir: "auto" }),
        h("span", { class: "cq-row" }, study.accepting ? chip("Open", "on") : chip("Closed")),
        h("span", { class: "cq-grow" }),
        h("div", { class: "cq-row" },
          screen.may("adjudicate") && pressing
            ? h("a", { class: "cq-btn small", href: `${at("adjudicate")}?${query}`, text: `Adjudicate ${plural(pressing, "case")}` }) : null,
          menu,
          screen.may("manage") ? (study.accepting
            ? h("button", { class: "cq-btn small", type: "button", text: "Close", onclick: () => change("close",
              ["Close the study?", `It will no longer accept answers. Existing answers are kept${asks === "item" ? ", and adjudication goes on" : ""}. You can reopen it.`, "Close it"], "Closed") })
            : h("button", { class: "cq-btn small", type: "button", text: "Open", onclick: () => change("open",
              ["Open the study?", "People can answer again.", "Open it"], "Open") })) : null)));
  }
  function drawTiles(/** @type {Counts} */ counts) {
    const { done, unsure, assignments } = counts;
    /** @type {(value: string, what: string) => HTMLElement} */
    const tile = (value, what) => h("div", {}, h("b", { class: "num", text: value }), h("span", { text: what }));
    tiles.replaceChildren(
      h("div", { class: "wide" }, h("b", { class: "num", text: `${percent(done, assignments)} %` }),
        h("span", { text: `${count(done)} of ${plural(assignments, "answer")}` }), bar(done, unsure, assignments, `${percent(done, assignments)} % answered`)),
      tile(count(counts.items), counts.items === 1 ? asks : several(asks)),
      tile(count(counts.people), counts.people === 1 ? "person" : "people"),
      ...(asks === "item" ? [tile(count(unsure), unsure === 1 ? "unsure answer" : "unsure answers"), tile(count(counts.decisions), "adjudicated")] : []));
  }
  function draw() {
    drawHead();
    drawTiles(known.study.counts);
    people.replaceChildren(...peopleTable(screen, known, release));
    plan.replaceChildren(...planPart(known.study, secret.kept));
  }
  async function afresh() {
    known = await api("GET", `studies/one?${query}`, undefined, { ask: false });
    read = Date.now();
    shown = JSON.stringify(known.study.counts);
    const named = (/** @type {Element | null} */ it) => it?.getAttribute("aria-label") || it?.textContent, focus = named(document.activeElement);
    draw();
    if (document.activeElement === document.body) {
      [...head.querySelectorAll("a, button"), ...people.querySelectorAll("a, button")].find((it) => named(it) === focus)?.focus({ preventScroll: true });
    }
    await results.again();
  }

  draw();
  await results.again();
  return {
    element: h("div", {}, head, tiles, people, results.element, plan),
    async beat() {
      const { counts, accepting } = await api("GET", `studies/counts?${query}`, undefined, { ask: false, news: true });
      drawTiles(counts);
      const moved = JSON.stringify(counts) !== shown;
      if (accepting !== known.study.accepting || (moved && Date.now() - read > AFRESH_MS)) await afresh();
    },
  };
}

function downloads(/** @type {string} */ query, /** @type {{ value: string }} */ rule, /** @type {string[][]} */ exports) {
  return fileMenu("Download", exports.map(([form, table, what, kind]) => ({ what, kind,
    address: () => at(`studies/export?${query}&form=${form}${table ? `&table=${table}` : ""}&rule=${rule.value}`) })), toast);
}

function planPart(/** @type {Study} */ study, /** @type {boolean} */ secret) {
  /** @type {(name: string, value: string | null | undefined) => HTMLElement | null} */
  const fact = (name, value) => (value === "" || value === null || value === undefined ? null
    : h("div", {}, h("dt", { text: name }), h("dd", { text: value, dir: "auto" })));
  const { plan } = study;
  const of = study.kind === "preference" ? ofSurvey(study) : [[{ sessions: "Questions", targets: "Marks" }[/** @type {string} */ (study.kind)] ?? "Rubric", study.protocol], ["People planned for", count(plan.seats)],
    [`People per ${ITEMS[study.kind]}`, count(plan.overlap)], [`Agreement ${several(ITEMS[study.kind])}`, count(plan.agreement_items)]];
  return [h("h2", { text: "Plan" }), h("dl", { class: "cq-stfacts" },
    of.map(([name, value]) => fact(name, value)), fact("Seed", String(plan.seed)), fact("Inactive after", plural(Math.round(plan.lease_hours), "hour")),
    fact("Made", `${day(study.created_at)}${study.created_by ? ` by ${study.created_by}` : ""}`),
    secret ? fact("Made from", "Shown with the results, as you are a judge in this study") : study.source.map(([name, value]) => fact(name, value)))];
}

function ofSurvey(/** @type {Study} */ { protocol, plan, survey }) {
  if (!survey) return [];
  const every = (/** @type {number} */ number, /** @type {string} */ none) => (number ? `once in ${plural(number, "question")}` : none);
  return [["Survey", protocol], ["People planned for", count(plan.seats)], ["Sets are called", survey.set_names.join(", ")],
    ["Questions each", survey.per_person ? `up to ${count(survey.per_person)}, ${count(survey.form_size)} a form` : ""],
    ["Given to several people", survey.shared_every ? `one in ${count(survey.shared_every)}, to ${count(survey.shared_by)}` : "none"],
    ["Checks", survey.check === "none" || !survey.check_every ? "none" : `${survey.check}, after every ${plural(survey.check_every, "answer")}`],
    ["Reasons asked", every(survey.reason_every, "never")], ["A tie", survey.allow_tie ? "can be chosen" : "cannot be chosen"],
    ["Consent", survey.consent ? "asked" : "not asked"]];
}
