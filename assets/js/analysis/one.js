// The report of one study: what is looked at, the numbers in their sections, and what can be taken away.
import { ApiProblem, api, at, createDelay, h, messageOf, say } from "../shared/common.js";
import { AS_USUAL, EVERYTHING, filtered, unusual, wanted, wantedReport, WIDTHS } from "./address.js";
import { showDisputed, spoken } from "./sections/disputed.js";
import { createFilters } from "./filters.js";
import { AGAIN, follow, passing } from "./follow.js";
import { createHead } from "./head.js";
import { scoresPart } from "./scores.js";
import { createSections } from "./sections/main.js";

/** @import { Screen, Shown } from "./main.js" */

const WAIT_MS = 250; // several filters are pressed in a row
const BEFORE = "This shows the previous report, without your latest choices.";

export async function oneView(/** @type {Screen} */ screen, /** @type {View & { ignored: string[] }} */ { ignored, ...first }) {
  const { studies } = await api("GET", "analysis/studies");
  const same = (/** @type {string} */ name) => name.trim().normalize("NFC").toLowerCase();
  const study = studies.find(({ id }) => id === first.study) ?? studies.find(({ name }) => same(name) === same(first.study));
  if (!study) throw new ApiProblem(404, `There is no study “${first.study}”. It may have been renamed or removed.`, "unknown");
  const { id, words } = study;
  const pressed = createDelay(WAIT_MS);
  let view = /** @type {View} */ ({ ...first, study: study.name });
  let latest = /** @type {Report | null} */ (null), panel = /** @type {HTMLDialogElement | null} */ (null);

  const query = () => wantedReport(view, study);
  const sections = createSections({ query, disputed });
  const head = createHead({ study, query, view: () => view, change, toggleLive: () => reports.poll() });
  const filters = createFilters({ words, view: () => view, change });
  const scores = words.scored ? scoresPart({ screen, study: id, words, changed: () => reports.load() }) : null;
  const plan = planPart({ view: () => view, change, shown: () => sections.goTo("precision") });
  const progress = h("p", { class: "cq-an-progress", role: "status" });
  const notes = h("ul", { class: "cq-an-notes", role: "list" }), trouble = h("p", { class: "cq-an-trouble", role: "status", hidden: true });
  const leftOut = h("p", { class: "cq-an-trouble cq-an-ignored", role: "status", text: ignored.join("\n"), dir: "auto", hidden: !ignored.length });
  const skeleton = h("div", { class: "cq-an-skeleton", "aria-hidden": "true" }, Array.from({ length: 6 }, () => h("i", { class: "cq-shimmer" })));
  const wrong = h("div", {});
  const main = h("div", { class: "cq-an-main" }, notes, wrong, skeleton, sections.element, words.plans ? plan.element : null);
  const body = h("div", { class: "cq-an-body" }, main, sections.nav);
  const report = [filters.element, ...(scores ? [scores.element] : []), leftOut, progress, trouble, body];
  const element = h("div", {}, head.element, study.you_judge ? covered() : report);

  const reports = follow({
    query: (draws) => wantedReport(view, study, draws), draws: () => view.draws, following: () => head.live,
    show(answer, { final }) {
      latest = answer;
      main.classList.remove("stale");
      wrong.replaceChildren();
      skeleton.hidden = true;
      const nothing = !answer.about.answered;
      if (answer.about.study !== view.study) renamed(answer.about.study);
      head.put(answer);
      filters.put(answer);
      scores?.put(answer.scores);
      notes.replaceChildren(...(answer.about.notes ?? []).map((text) => h("li", { text, dir: "auto" })));
      if (nothing) {
        sections.clear();
        wrong.replaceChildren(nobodyYet(answer.accepting));
      } else {
        sections.put(answer, { awaited: !final });
        if (final) say("The report is complete");
      }
      plan.put({ nothing, final });
    },
    busy(text) {
      progress.textContent = text;
      progress.classList.toggle("on", Boolean(text));
      main.setAttribute("aria-busy", String(Boolean(text)));
    },
    problem(error) {
      const again = passing(error);
      if (again && latest) return tell(`${messageOf(error)} ${AGAIN}${main.classList.contains("stale") ? ` ${BEFORE}` : ""}`);
      tell("");
      empty("No report available", again ? `${messageOf(error)} ${AGAIN}` : messageOf(error),
        h("button", { class: "cq-btn", type: "button", text: "Try again", onclick: () => reports.load() }),
        filtered(view) ? h("button", { class: "cq-btn", type: "button", text: "Clear filters", onclick: () => change(EVERYTHING) }) : null,
        unusual(view) ? h("button", { class: "cq-btn", type: "button", text: "Reset to defaults", onclick: () => change(AS_USUAL) }) : null);
    },
    trouble: tell,
    news: (number) => head.news(number),
    gone() {
      const text = `${view.study} was removed.`, list = h("a", { href: at("analysis"), text: "All studies" });
      if (!latest) return empty("This study was removed", text, list);
      tell(`${text} This is its last report. `);
      trouble.append(list);
    },
  });

  function tell(/** @type {string} */ text) {
    trouble.textContent = text;
    trouble.hidden = !text;
  }

  /** @type {(title: string, text: string, ...ways: (HTMLElement | null)[]) => void} */
  function empty(title, text, ...ways) {
    const content = JSON.stringify([title, text, ways.map((it) => it?.textContent)]);
    skeleton.hidden = true;
    latest = null;
    sections.clear();
    notes.replaceChildren();
    if (wrong.firstElementChild?.getAttribute("data-said") === content) return; // asked again and again: the focus stays where it is
    wrong.replaceChildren(h("div", { class: "cq-none", "data-said": content }, h("h2", { text: title }), h("p", { text, dir: "auto" }), h("div", { class: "cq-row" }, ways)));
  }

  // Somebody has given it another name meanwhile. It is asked for by its id.
  function renamed(/** @type {string} */ name) {
    say(`${view.study} is now called ${name}`);
    view = { ...view, study: name };
    screen.put(view);
  }

  function change(/** @type {Partial<View>} */ part) {
    const hides = part.names === true;
    view = { ...view, ...part };
    screen.put(view);
    leftOut.hidden = true;
    if (latest) filters.put(latest);
    head.mark();
    pressed.stop();
    main.classList.add("stale");
    if (!hides) return pressed.start(() => reports.load());
    // No name stays on the screen while the codes are on their way.
    latest = null;
    sections.clear();
    filters.forget();
    notes.replaceChildren();
    wrong.replaceChildren();
    skeleton.hidden = false;
    reports.load();
  }

  function disputed(/** @type {Pair} */ { a, b, key }, /** @type {HTMLElement} */ from) {
    const people = latest?.choices.people ?? [];
    const called = (/** @type {number} */ of) => people.find(({ seat }) => seat === of)?.name ?? "?";
    const question = key === "binary" ? "valid or not" : key === "signature" ? "identical flags" : spoken(key).toLowerCase();
    panel = showDisputed({ query: wanted(view, { id, words }), of: { a, b, key }, from, asked: question, both: [a, b].map(called) });
  }

  // Somebody who judges in the study sees nothing of it before they ask to.
  function covered() {
    const cover = h("div", { class: "cq-stcovered" }, h("p", { text: "You are a judge in this study. Its report shows what judges should not see." }),
      h("button", { class: "cq-btn small", type: "button", text: "Show it anyway", onclick: () => {
        cover.replaceWith(...report);
        reports.load();
      } }));
    return cover;
  }

  return {
    element,
    begin() {
      if (ignored.length) screen.put(view);
      if (!study.you_judge) reports.load();
    },
    leave() {
      pressed.stop();
      reports.leave();
      scores?.leave();
      sections.clear();
      panel?.close();
    },
  };
}

const nobodyYet = (/** @type {boolean} */ accepting) => h("div", { class: "cq-none" }, h("h2", { text: "No answer yet" }),
  h("p", { text: accepting ? "Agreement and rates appear here as people answer."
    : "The study is closed without answers. Reopen it, or choose another one." }),
  h("a", { class: "cq-btn", href: at("studies"), text: "All studies" }));

// How many more items or people until an interval is narrow enough. Its answer is a section of the report.
/** @param {import("./filters.js").ViewControls & { shown(): void }} of ``shown`` hears that the answer to what somebody asked here stands in the report */
export function planPart({ view, change, shown }) {
  let awaited = false;
  const width = h("input", { type: "number", ...WIDTHS, step: "any", required: true, value: view().plan || 0.1, inputmode: "decimal" });
  const ask = h("button", { class: "cq-btn" });
  const drop = h("button", { class: "cq-btn", type: "button", text: "No planning", onclick: () => change({ plan: "" }) });
  const form = h("form", { class: "cq-an-plan", onsubmit: (event) => {
    event.preventDefault();
    if (!width.reportValidity()) return;
    awaited = true;
    change({ plan: width.value });
  } }, h("label", { class: "cq-an-filter" }, h("span", { class: "cq-label", text: "Maximum width of the 95 % interval" }), width), ask,
  drop);
  const element = h("section", { class: "cq-an-section cq-an-planning", hidden: true, "aria-label": "Planning" }, h("h2", { text: "How many more are needed?" }),
    h("p", { class: "cq-an-intro", text: "Simulated from the answers so far: how many items, sessions or people are needed for this precision of κ, the preference rate or the mean rating." }), form);
  return {
    element,
    put(/** @type {{ nothing: boolean, final: boolean }} */ { nothing, final }) {
      element.hidden = nothing || !Number(view().draws);
      ask.textContent = view().plan ? "Plan again" : "Compute";
      drop.hidden = !view().plan;
      if (view().plan && document.activeElement !== width) width.value = view().plan;
      if (awaited && final) {
        awaited = false;
        shown();
      }
    },
  };
}
