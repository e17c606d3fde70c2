// Over a report: which study, how far it is, live or not, names or codes, and the whole report as files.
import { at, h, kept, say, toast, toggle } from "../shared/common.js";
import { fileMenu } from "../shared/files.js";
import { answersWord } from "./sections/main.js";
import { ago, chip, count, plural } from "../shared/words.js";

const FORMS = [["html", "HTML report", "HTML"], ["md", "Text and tables", "Markdown"], ["json", "JSON", "JSON"],
  ["zip", "Everything, with tables and figures", "ZIP"]];
const KEPT = "cirque.analysis.live";
const PULSE_MS = 4000;

/**
 * @param {import("./filters.js").ViewControls & { study: Listed, query(): URLSearchParams, toggleLive(): void }} of ``toggleLive`` hears that somebody wants
 * to follow from now on
 */
export function createHead({ study, query, view, change, toggleLive }) {
  let live = kept.read(KEPT, true), pulsing = 0;
  const title = h("h1", { text: study.name, dir: "auto" }), kind = chip(study.words.title);
  const state = h("span", { class: "cq-row" }), facts = h("p", { class: "cq-quiet num" });
  const news = h("span", { class: "cq-an-news", hidden: true });
  const follow = h("button", { class: "cq-btn small cq-an-live", type: "button", hidden: true, title: "Updates while people answer", onclick: () => {
    live = !live;
    kept.write(KEPT, live);
    mark();
    say(live ? "Live updates on" : "Live updates off");
    if (live) toggleLive();
  } }, h("i", { "aria-hidden": "true" }), "Live");
  const names = h("button", { class: "cq-btn small", type: "button", text: "Hide names", title: "Codes such as P03 instead of names, also in downloads",
    onclick: () => change({ names: !view().names }) });
  const menu = fileMenu("Report", FORMS.map(([form, what, of]) => ({ what, kind: of, address: () => `${at("analysis/file")}?${query()}&form=${form}` })), toast,
    { busy: "Preparing the report…" });
  const mark = () => {
    toggle(follow, live);
    toggle(names, view().names);
  };
  mark();

  return {
    element: h("div", {},
      h("nav", { class: "cq-stcrumb", "aria-label": "Where" }, h("a", { href: at("analysis"), text: "Analysis" })),
      h("header", { class: "cq-sthead cq-an-top" }, title,
        h("span", { class: "cq-row" }, kind, state), news, h("span", { class: "cq-grow" }),
        h("div", { class: "cq-row" }, follow, names, menu)), facts),
    mark,
    get live() { return live; },
    put(/** @type {Report} */ { accepting, about, choices }) {
      title.textContent = about.study;
      kind.textContent = [study.words.title, about.protocol].filter(Boolean).join(" · ");
      state.replaceChildren(accepting ? chip("Open", "on") : chip("Closed"));
      follow.hidden = !accepting;
      const people = choices.people.length;
      facts.textContent = [about.planned ? `${count(about.answered)} of ${plural(about.planned, "answer")}` : plural(about.answered, "answer"),
        plural(people, "person", "people"), about.latest ? `latest ${ago(about.latest)}` : ""].filter(Boolean).join(" · ");
    },
    /** @param {number} number so many more answers than a moment ago */
    news(number) {
      news.textContent = answersWord(number);
      news.hidden = false;
      say(answersWord(number));
      clearTimeout(pulsing);
      pulsing = setTimeout(() => { news.hidden = true; }, PULSE_MS);
    },
  };
}
