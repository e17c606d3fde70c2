// One study: how far its people are, what came of it so far, and what can be done with it.
import { api, at, confirm, h, toast, messageOf } from "../shared/common.js";
import { fileMenu } from "../shared/files.js";
import { participantsPart } from "./participants.js";
import { resultsPart } from "./results.js";
import { settingsPart } from "./settings.js";
import { surveyPart } from "./survey.js";
import { targetsPart } from "./targets.js";
import { bar, chip, count, day, percent, plural, ago, lasting } from "../shared/words.js";

/** @import { Screen, View } from "./main.js" */
/** @import { Secret } from "./results.js" */

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

  const quality = words.survey ? null : surveyPart(screen, query, known.study.name, secret, false);
  const recruits = screen.may("manage") ? participantsPart(known.study.name, query) : null;
  const nothing = h("p", { class: "cq-quiet", text: "Nothing judged yet." });
  const came = h("div", {}), cases = h("section", {}), files = h("section", {});
  const settings = screen.may("manage") ? settingsPart(screen, () => known, () => afresh()) : null;
  const link = (/** @type {string} */ page, /** @type {string} */ text) => h("p", {}, h("a", { class: "cq-btn", href: `${at(page)}?${query}`, text }));
  /** @type {Partial<Record<Tab, Child>>} */
  const panes = { progress: [tiles, people], [words.survey ? "quality" : "analysis"]: came, ...(quality ? { quality: quality.element } : {}), adjudicate: cases,
    files, settings: [settings?.element, plan], ...(recruits ? { invite: recruits.element } : {}) };
  panes.analysis = [panes.analysis, h("section", {}, h("h2", { text: "Report" }), h("p", { class: "cq-quiet", text: "Agreement, intervals, figures and tables." }), screen.may("results") ? link("analysis", "Open the analysis") : null)];
  const shownTabs = /** @type {Tab[]} */ (Object.keys(TABS)).filter((tab) => panes[tab]);
  const tabs = tabsOf(shownTabs, panes);

  const change = async (/** @type {"open" | "close"} */ path, /** @type {[string, string, string]} */ asks, /** @type {string} */ done) => {
    if (!(await confirm(...asks))) return;
    if (await screen.does("POST", `studies/${path}`, { study: known.study.name }, done)) await afresh();
  };
  const release = async (/** @type {SeatProgress} */ person) => {
    const { name: who, open, done: answered } = person;
    const block = known.study.plan.agreement_items ? " Items of the agreement block, which everyone judges, are no longer expected." : "";
    const sure = await confirm(`Reassign ${who}’s open work?`, answered
      ? `Open items go to the next person who joins or asks for more.${block} Answers of ${who} are kept, including late ones.`
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
          screen.may("manage") ? (study.accepting
            ? h("button", { class: "cq-btn small", type: "button", text: "Close", onclick: () => change("close",
              ["Close the study?", `It will no longer accept answers. Existing answers are kept, and adjudication continues. You can reopen it.`, "Close it"], "Closed") })
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
      ...(words.unsure ? [tile(count(unsure), unsure === 1 ? "unsure answer" : "unsure answers")] : []),
      ...(words.unsure || counts.decisions ? [tile(count(counts.decisions), "adjudicated")] : []));
  }
  function draw() {
    drawHead();
    drawTiles(known.study.counts);
    people.replaceChildren(...peopleTable(screen, known, release));
    plan.replaceChildren(...planPart(known.study, secret.kept));
    files.replaceChildren(h("h2", { text: "Files" }), ...(known.study.counts.done || known.study.counts.decisions ? [] : [h("p", { class: "cq-quiet", text: "Nothing has been judged yet: the files contain the items without answers." })]), menu);
    came.replaceChildren(known.study.counts.done ? results.element : nothing);
    const { open, decided } = known.queue;
    cases.replaceChildren(h("h2", { text: "Adjudicate" }), h("p", { text: open || decided ? `${plural(open, "case")} to decide, ${count(decided)} decided.` : known.needs.needs.length || known.needs.below !== null ? "No item needs a decision." : "Choose on the tab Settings which items need a decision." }),
      screen.may("adjudicate") && open ? link("adjudicate", "Adjudicate") : "");
    settings?.again();
  }
  const seen = () => Promise.all([known.study.counts.done ? results.again() : null, quality?.again()]);
  async function afresh() {
    known = await api("GET", `studies/one?${query}`, undefined, { ask: false });
    read = Date.now();
    shown = JSON.stringify(known.study.counts);
    const named = (/** @type {Element | null} */ it) => it?.getAttribute("aria-label") || it?.textContent, focus = named(document.activeElement);
    draw();
    if (document.activeElement === document.body) {
      [...head.querySelectorAll("a, button"), ...people.querySelectorAll("a, button")].find((it) => named(it) === focus)?.focus({ preventScroll: true });
    }
    await Promise.all([seen(), recruits?.again()]);
  }

  draw();
  await Promise.all([seen(), recruits?.again()]);
  return {
    element: h("div", {}, head, tabs),
    async beat() {
      const { counts, accepting } = await api("GET", `studies/counts?${query}`, undefined, { ask: false, news: true });
      drawTiles(counts);
      const moved = JSON.stringify(counts) !== shown;
      if (counts.done && !known.study.counts.done) return afresh();
      if (accepting !== known.study.accepting || (moved && Date.now() - read > AFRESH_MS)) await afresh();
    },
  };
}

/** @typedef {keyof typeof TABS} Tab */
const TABS = { progress: "Progress", quality: "Quality", adjudicate: "Adjudicate", analysis: "Analysis", files: "Files", settings: "Settings", invite: "Invite" };

// Which tab is shown stands in the address.
/** @param {Tab[]} names @param {Partial<Record<Tab, Child>>} panes */
function tabsOf(names, panes) {
  const url = () => new URL(window.location.href);
  const boxes = names.map((name) => h("div", { class: "cq-stpane", role: "tabpanel", id: `cq-pane-${name}`, "aria-labelledby": `cq-tab-${name}` }, panes[name]));
  const links = names.map((name) => {
    const to = url();
    to.searchParams.set("tab", name);
    return h("a", { role: "tab", id: `cq-tab-${name}`, "aria-controls": `cq-pane-${name}`, href: to.href, text: TABS[name], onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      window.history.replaceState(null, "", to);
      show(name);
    } });
  });
  const bar = h("div", { class: "cq-sttabs", role: "tablist", "aria-label": "Parts of the study", onkeydown: (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = links[(links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement)) + by + links.length) % links.length];
    next.focus();
    next.click();
  } }, links);
  function show(/** @type {string | null} */ wanted) {
    const chosen = Math.max(0, names.findIndex((name) => name === wanted));
    links.forEach((one, number) => { one.setAttribute("aria-selected", String(number === chosen)); one.tabIndex = number === chosen ? 0 : -1; });
    boxes.forEach((box, number) => { box.hidden = number !== chosen; });
    centre();
  }
  function centre() {   // of the bar alone: the page stays where it is
    const tab = links.find((one) => one.tabIndex === 0)?.getBoundingClientRect(), shown = bar.getBoundingClientRect();
    if (tab) bar.scrollLeft += tab.left + tab.width / 2 - shown.left - shown.width / 2;
  }
  new ResizeObserver(centre).observe(bar);   // also once it is on the page; a phone shows only some of the tabs
  show(url().searchParams.get("tab"));
  return h("div", {}, bar, boxes);
}

function planPart(/** @type {Study} */ study, /** @type {boolean} */ secret) {
  /** @type {(name: string, value: string | null | undefined) => HTMLElement | null} */
  const fact = (name, value) => (value === "" || value === null || value === undefined ? null
    : h("div", {}, h("dt", { text: name }), h("dd", { text: value, dir: "auto" })));
  const { plan, words: { asks, one, many } } = study;
  const of = [[asks, study.protocol], ["People planned for", count(plan.seats)],
    ...(study.survey ? ofSurvey(study.survey) : [[`People per ${one}`, count(plan.overlap)], [`Agreement ${many}`, count(plan.agreement_items)]])];
  return [h("h2", { text: "Plan" }), h("dl", { class: "cq-stfacts" },
    of.map(([name, value]) => fact(name, value)), plan.order === "random" ? null : fact("Order of items", plan.order === "table" ? "as in the table" : "most disputed first"), fact("Seed", String(plan.seed)), fact("Inactive after", plural(Math.round(plan.lease_hours), "hour")),
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

// Who judges in a study, and how far each one is.
/** @typedef {(person: SeatProgress) => void} Release */

export function peopleTable(/** @type {Screen} */ screen, /** @type {OneStudy} */ { study, people }, /** @type {Release} */ release) {
  const taken = people.filter((person) => person.name !== null);
  const free = people.length - taken.length;
  const title = h("div", { class: "cq-sttitle" }, h("h2", { text: "People" }),
    free && study.accepting ? h("p", { class: "cq-quiet" }, `${plural(free, "seat is", "seats are")} free. `,
      screen.may("people")
        ? ["Make an ", h("a", { href: at("people"), text: "invitation link" }), " for people with accounts, or a link for participants on the tab Invite; the next person to open the study gets one."]
        : "The next person to open the study gets one.") : null);
  if (!taken.length) {
    return [title, h("p", { class: "cq-quiet", text: "Nobody has started yet." })];
  }
  const head = h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "Name" }), h("th", { scope: "col", text: "Answered" }),
    study.words.unsure ? h("th", { scope: "col", class: "num", text: "Unsure" }) : null, h("th", { scope: "col", class: "num", text: "Median time" }),
    h("th", { scope: "col", class: "num", text: "Last seen" }), study.words.survey ? h("th", { scope: "col", text: "Finished, code" }) : null, screen.may("manage") ? h("th", {}, h("span", { class: "sr", text: "Open work" })) : null));
  return [title, h("div", { class: "cq-stscroll", tabindex: "0" }, h("table", { class: "cq-sttable cq-stpeople" }, head,
    h("tbody", {}, taken.map((person) => line(screen, study, person, release)))))];
}

/** @type {(screen: Screen, study: Study, person: SeatProgress, release: Release) => HTMLElement} */
function line(screen, study, person, release) {
  const { name, done, unsure, total, open } = person;
  const left = person.median_seconds && open ? ` · ${lasting(person.median_seconds * open)} left` : "";
  return h("tr", {}, h("th", { scope: "row" }, h("b", { text: name, dir: "auto" }), person.away ? chip("away", "warn") : null),
    h("td", {}, bar(done, unsure, total, `${percent(done, total)} % answered`),
      h("small", { text: `${count(done)} of ${count(total)}${left}` })),
    study.words.unsure ? h("td", { class: "num", text: count(unsure) }) : null, h("td", { class: "num", text: lasting(person.median_seconds) }),
    h("td", { class: "num", text: ago(person.seen_at) }),
    study.words.survey ? h("td", {}, person.finished_at ? h("code", { text: person.code ?? "yes, no code" }) : null) : null,
    screen.may("manage") ? h("td", { class: "num" }, open && study.accepting ? h("button", { class: "cq-btn small", type: "button",
      text: "Reassign open work", "aria-label": `Reassign open work of ${name}`, onclick: () => release(person) }) : null) : null);
}

// A session study in the studies screen: the means of its five questions by source and subset.
// Somebody who rates in the study sees nothing of it before they ask to: see ``secret`` in oneView.
/** @type {(query: string, secret: Secret) => { element: HTMLElement, again(): Promise<void> }} */
export function ratingsPart(query, secret) {
  const body = h("div", {});
  const element = h("section", { "aria-label": "Ratings" }, h("div", { class: "cq-sttitle" }, h("h2", { text: "Ratings" })), body);
  async function again() {
    if (secret.kept) {
      return body.replaceChildren(h("div", { class: "cq-stcovered" },
        h("p", { text: "You rate sessions in this study. Its results show where they come from, which raters should not see." }),
        h("button", { class: "cq-btn small", type: "button", text: "Show them anyway", onclick: () => { secret.tell(); again(); } })));
    }
    try {
      body.replaceChildren(...shown(await api("GET", `studies/ratings?${query}`)));
    } catch (error) {
      body.replaceChildren(h("p", { class: "cq-inline", role: "alert", text: messageOf(error) }));
    }
  }
  return { element, again };
}

function shown(/** @type {SessionMeans} */ { questions, rows }) {
  const cell = (/** @type {string} */ text) => h("td", { class: "num", text });
  return [h("div", { class: "cq-stscroll", tabindex: "0" }, h("table", { class: "cq-sttable" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "Source" }), h("th", { scope: "col", class: "num", text: "Rated sessions" }), h("th", { scope: "col", class: "num", text: "Answers" }),
      questions.map(({ name, text }) => h("th", { scope: "col", class: "num", text: name, title: text })))),
    h("tbody", {}, rows.map(({ source, subset, sessions, rated, ratings, means }) => h("tr", { class: subset ? "cq-stpart" : "" },
      h("th", { scope: "row", text: subset ?? source, dir: "auto" }), cell(`${count(rated)} of ${count(sessions)}`), cell(count(ratings)),
      questions.map(({ key }) => { const mean = means[key]; return cell(mean === null ? "–" : mean.toFixed(2)); })))))),
  h("p", { class: "cq-quiet", text: "Mean ratings from 1 to 5; every session has the same weight." })];
}
