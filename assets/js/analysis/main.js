// The analysis screen: all studies, or the report of one. What is looked at stands in the address.
import { addressOf, readView } from "./address.js";
import { oneView } from "./one.js";
import { ApiProblem, at, createViews, h, openScreen, setKeys, api } from "../shared/common.js";
import { sampleStudy } from "../annotate/sample.js";
import { bar, chip, count, percent, plural } from "../shared/words.js";

setKeys([["?", "These keys"], ["Esc", "Close what is open"]]);

/** What the parts of this screen ask of it. @typedef {{ may(what: string): boolean, go(study: string): void, put(view: View): void }} Screen */
/** @typedef {{ element: HTMLElement, begin?: () => void, leave(): void }} Shown */

const titleOf = (/** @type {string} */ study) => (study ? `${study}: analysis · cirque` : "Analysis · cirque");

/** @param {HTMLElement} element */
export const mount = (element) => openScreen(element, { page: "analysis", styles: ["study", "studies", "analysis"], css: "cq-st cq-an" }, (body, { me }) => {
  /** @type {Screen} */
  const screen = {
    may: (what) => me.may.includes(what),
    // Another study, or the list ("").
    go(study) {
      window.history.pushState(null, "", addressOf({ ...readView("about:blank"), study }));
      views.show();
      window.scrollTo(0, 0);
    },
    // The same study, looked at in another way: Back leads to the study before, not to every filter.
    put(view) {
      window.history.replaceState(null, "", addressOf(view));
      document.title = titleOf(view.study);
    },
  };
  const views = createViews(body, {
    open() {
      const view = readView();
      return view.study ? oneView(screen, view) : listView(screen);
    },
    named() {
      const { study } = readView();
      return { title: titleOf(study), announcement: study ? `Analysis of ${study}` : "Analysis" };
    },
    more: (error) => (error instanceof ApiProblem && error.kind === "unknown" ? h("a", { class: "cq-btn", href: at("analysis"), text: "All studies" }) : null),
  });
  return views.show();
});

// All studies, with how much there is to analyse in each.
const BEAT_MS = 15000;

export async function listView(/** @type {Screen} */ screen) {
  const list = h("ul", { class: "cq-stlist" });
  const put = (/** @type {Listed[]} */ studies) => list.replaceChildren(...studies.map((study) => row(screen, study)));
  const { studies } = await api("GET", "analysis/studies");
  put(studies);
  let known = JSON.stringify(studies);
  const beat = async () => {
    if (document.hidden || list.contains(document.activeElement)) return;
    const now = await api("GET", "analysis/studies", undefined, { ask: false, news: true }).catch(() => null); // the next beat asks again
    if (!now || JSON.stringify(now.studies) === known) return;
    known = JSON.stringify(now.studies);
    put(now.studies);
  };
  const timer = setInterval(beat, BEAT_MS);
  return {
    element: h("div", {},
      h("header", { class: "cq-sthead" }, h("h1", { text: "Analysis" }),
        h("p", { class: "cq-quiet", text: studies.length ? "Choose a study: agreement and validity, or preferences and metrics, with confidence intervals." : "" })),
      studies.length ? list : empty(screen)),
    leave: () => clearInterval(timer),
  };
}

const empty = (/** @type {Screen} */ screen) => h("div", { class: "cq-none" }, h("h2", { text: "Nothing to analyse yet" }),
  h("p", { text: "There is no study yet." }),
  screen.may("manage")
    ? [h("p", {}, "Create one on the page Studies, or with cirque study create; ",
      h("a", { href: at("studies"), text: "plan it first" }), ". Or start with a sample:"), sampleStudy(), sampleStudy({ judged: true })]
    : h("p", { text: "A researcher can create one; it will appear here." }));

function row(/** @type {Screen} */ screen, /** @type {Listed} */ { name, words, accepting, items, answered, planned, people }) {
  const open = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    screen.go(name);
  };
  const done = planned ? `${count(answered)} of ${plural(planned, "answer")}` : plural(answered, "answer");
  return h("li", { class: "cq-stcard" },
    h("div", { class: "cq-stname" },
      h("h2", {}, h("a", { href: at(`analysis?study=${encodeURIComponent(name)}`), onclick: open, text: name, dir: "auto" })),
      h("span", { class: "cq-row" }, chip(words.title), accepting ? chip("Open", "on") : chip("Closed"))),
    h("p", { class: "cq-quiet num", text: `${plural(items, words.one, words.many)} · ${plural(people, "person", "people")}` }),
    h("div", { class: "cq-stprogress" }, bar(answered, 0, planned, done), h("b", { class: "num", text: `${percent(answered, planned)} %` }),
      h("small", { text: done })));
}
