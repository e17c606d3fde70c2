// One study: how far its people are, what came of it so far, and what can be done with it.
import { api, at, confirm, h, toast } from "../shared/common.js";
/** @import { Screen, View } from "./main.js" */
import { fileMenu } from "../shared/files.js";
import { peopleTable } from "./people.js";
import { ratingsPart } from "./ratings.js";
import { resultsPart } from "./results.js";
import { surveyPart } from "./survey.js";
import { targetsPart } from "./targets.js";
import { bar, chip, count, day, percent, plural } from "./words.js";

const AFRESH_MS = 60000; // people and results are read again at most this often

/** What came of a study so far, by its kind. @type {Record<Kind, (of: ResultsOf) => { element: HTMLElement, again(): Promise<void> }>} */
const RESULTS = {
  validity: ({ screen, query, rule, secret }) => resultsPart(screen, query, rule, secret),
  preference: ({ screen, query, name, secret }) => surveyPart(screen, query, name, secret),
  sessions: ({ query, secret }) => ratingsPart(query, secret), targets: ({ query, secret }) => targetsPart(query, secret),
};
/** @typedef {{ screen: Screen, query: string, name: string, rule: { value: string }, secret: { kept: boolean, tell(): void } }} ResultsOf */

export async function oneView(/** @type {Screen} */ screen, /** @type {string} */ name) {
  const query = `study=${encodeURIComponent(name)}`;
  let known = await api("GET", `studies/one?${query}`), read = Date.now(), shown = JSON.stringify(known.study.counts);
  const rule = { value: "majority" };
  const head = h("div", {}), tiles = h("div", { class: "cq-sttiles" }), people = h("section", {}), plan = h("section", {});
  const { words } = known.study, { one, many } = words;
  const menu = fileMenu("Download", known.downloads.map(({ form, table, what, type }) => ({ what, kind: type,
    address: () => at(`studies/export?${query}&form=${form}${table ? `&table=${table}` : ""}&rule=${rule.value}`) })), toast);
  // What judges should not know of a study is kept from them until they ask for it all the same.
  const secret = { kept: known.you_judge, tell() { secret.kept = false; draw(); } };
  const results = RESULTS[known.study.kind]({ screen, query, name: known.study.name, rule, secret });

  const change = async (/** @type {"open" | "close"} */ path, /** @type {[string, string, string]} */ asks, /** @type {string} */ done) => {
    if (!(await confirm(...asks))) return;
    if (await screen.does("POST", `studies/${path}`, { study: known.study.name }, done)) await afresh();
  };
  const release = async (/** @type {SeatProgress} */ person) => {
    const { name: who, open, done: answered } = person;
    const block = known.study.plan.agreement_items ? " Items of the agreement block, which everyone judges, are no longer expected." : "";
    const sure = await confirm(`Reassign ${who}’s open work?`, answered
      ? `Open items go to whoever joins next or asks for more.${block} Answers of ${who} are kept, including late ones.`
      : `${who} has no answers: the seat becomes free, with ${plural(open, `open ${one}`, `open ${many}`)}.`, "Reassign");
    if (!sure) return;
    const done = await screen.does("POST", "studies/release", { study: known.study.name, annotator: person.name },
      ({ released, block: left, freed }) => (freed ? `The seat is free, with ${plural(released, one, many)}`
        : `${plural(released, one, many)} free for others${left ? `, ${plural(left, one, many)} of the agreement block no longer waited for` : ""}`));
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
              ["Close the study?", `It will no longer accept answers. Existing answers are kept${words.adjudicated ? ", and adjudication goes on" : ""}. You can reopen it.`, "Close it"], "Closed") })
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
      tile(count(counts.items), counts.items === 1 ? one : many),
      tile(count(counts.people), counts.people === 1 ? "person" : "people"),
      ...(words.adjudicated ? [tile(count(unsure), unsure === 1 ? "unsure answer" : "unsure answers"), tile(count(counts.decisions), "adjudicated")] : []));
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

function planPart(/** @type {Study} */ study, /** @type {boolean} */ secret) {
  /** @type {(name: string, value: string | null | undefined) => HTMLElement | null} */
  const fact = (name, value) => (value === "" || value === null || value === undefined ? null
    : h("div", {}, h("dt", { text: name }), h("dd", { text: value, dir: "auto" })));
  const { plan, words: { asks, one, many } } = study;
  const of = [[asks, study.protocol], ["People planned for", count(plan.seats)],
    ...(study.survey ? ofSurvey(study.survey) : [[`People per ${one}`, count(plan.overlap)], [`Agreement ${many}`, count(plan.agreement_items)]])];
  return [h("h2", { text: "Plan" }), h("dl", { class: "cq-stfacts" },
    of.map(([name, value]) => fact(name, value)), fact("Seed", String(plan.seed)), fact("Inactive after", plural(Math.round(plan.lease_hours), "hour")),
    fact("Made", `${day(study.created_at)}${study.created_by ? ` by ${study.created_by}` : ""}`),
    secret ? fact("Made from", "Shown with the results, as you are a judge in this study") : study.source.map(([name, value]) => fact(name, value)))];
}

function ofSurvey(/** @type {SurveySettings} */ survey) {
  const every = (/** @type {number} */ number, /** @type {string} */ none) => (number ? `once in ${plural(number, "question")}` : none);
  return [["Sets are called", survey.set_names.join(", ")],
    ["Questions each", survey.per_person ? `up to ${count(survey.per_person)}, ${count(survey.form_size)} a form` : ""],
    ["Given to several people", survey.shared_every ? `one in ${count(survey.shared_every)}, to ${count(survey.shared_by)}` : "none"],
    ["Checks", survey.check === "none" || !survey.check_every ? "none" : `${survey.check}, after every ${plural(survey.check_every, "answer")}`],
    ["Reasons asked", every(survey.reason_every, "never")], ["A tie", survey.allow_tie ? "can be chosen" : "cannot be chosen"],
    ["Consent", survey.consent ? "asked" : "not asked"]];
}
