// One benchmark of sessions: its filters, and its sessions as strips.
import { PAGE, SHOWN, wanted } from "./address.js";
import { createFilters } from "./filters.js";
import { createLoading, downloadButton, frame, openInSearch } from "./frame.js";
import { createKeys } from "./keys.js";
import { createStrip } from "./strip.js";
import { createTools } from "./tools.js";
import { createWaterfall } from "./waterfall.js";
import { SORTS, STAGES, decimals } from "./words.js";
import { api, h, say } from "../shared/common.js";
import { ago, count, plural } from "../studies/words.js";
/** @import { Screen, Shown } from "./main.js" */

const FIRST_MS = 120000;
const LOWEST_FIRST = ["constructed", "rank"];    // the session that stands out comes first
const NAMES = Object.fromEntries(SHOWN.map((what) => [what, what === "all" ? "All" : what === "kept" ? "Kept" : `Dropped: ${(STAGES[what] ?? what).toLowerCase()}`]));

/** @returns {Promise<Shown>} */
export async function oneView(/** @type {Screen} */ screen, /** @type {BenchmarkView} */ first) {
  const { about, page } = await api("GET", `benchmarks/sessions?${wanted(first)}`, undefined, { patience: FIRST_MS });
  if (!page.sessions.length && page.total && first.page > 1) {   // an address of a page that is no longer there
    const last = { ...first, page: Math.ceil(page.total / PAGE) };
    screen.put(last);
    return oneView(screen, last);
  }
  /** @type {Map<string, import("./strip.js").Strip>} */
  let strips = new Map();
  const list = h("ol", { class: "cq-be-strips" }), none = h("div", { class: "cq-none", hidden: true }, h("h2", { text: "No matching sessions" }),
    h("p", { text: "Search for other words, or show all sessions." }));
  const means = h("dl", { class: "cq-be-means", hidden: !about.judged });
  const loading = createLoading(screen, first, (view, options) => api("GET", `benchmarks/sessions?${wanted(view)}`, undefined, options), put), { change } = loading;
  const fall = createWaterfall({ stages: Object.keys(STAGES), show: (show) => change({ show }) });
  const sorts = Object.fromEntries(Object.entries(SORTS).filter(([name]) => about.judged || !about.dimensions.includes(name)));
  const tools = createTools({ subsets: about.subsets, shown: NAMES, sorts, rising: LOWEST_FIRST, thing: ["session", "sessions"] }, first, change);
  const open = about.can_open && screen.may("search") ? (/** @type {BenchmarkSession} */ session, /** @type {HTMLButtonElement | null} */ button) => openInSearch(about.name, session.key, button, "Searching its turns again…") : null;
  const keys = createKeys(list, tools.search, () => open, (key) => sessions.get(key));
  /** @type {Map<string, BenchmarkSession>} */
  let sessions = new Map();

  function put(/** @type {BenchmarkPage} */ page) {
    const before = strips, view = loading.view();
    strips = new Map(page.sessions.map((session) => {
      const known = before.get(session.key);
      known?.put(session);
      return [session.key, known ?? createStrip(session, { open, dimensions: about.dimensions, k: about.k })];
    }));
    sessions = new Map(page.sessions.map((session) => [session.key, session]));
    // What is the same stays where it is, so that nothing loads or loses the focus.
    const elements = [...strips.values()].map(({ element }) => element);
    if (elements.length !== list.children.length || elements.some((element, place) => list.children[place] !== element)) list.replaceChildren(...elements);
    list.start = (view.page - 1) * PAGE + 1;
    none.hidden = page.total > 0;
    fall.put(page, view.show);
    tools.put(view, page);
    keys.drawn();
    means.replaceChildren(h("div", { class: "of" }, h("dt", { text: "Judge" }), h("dd", { text: plural(page.judged, "session") })),
      ...about.dimensions.map((name) => h("div", {}, h("dt", { text: SORTS[name] ?? name }), h("dd", { class: "num", text: page.judged ? decimals(page.means[name], 2) : "–" }))));
  }

  const download = downloadButton({ text: "Filtered download", about, title: "The kept sessions in CIRCLED’s public and raw form, with the counts and the dropped sessions",
    address: () => ({ name: about.name, epsilon: loading.view().epsilon, tau: loading.view().tau }) });
  tools.pages((to) => {
    change({ page: to });
    list.scrollIntoView({ block: "start" });
  });
  put(page);
  const framed = frame(screen, about, { thing: ["session", "sessions"], download, load: loading.load, facts: [plural(about.sessions, "session"), about.queries === null ? "" : `${count(about.queries)} queries`,
    about.failures ? `${count(about.failures)} failed` : "", about.gallery && `gallery ${about.gallery}`, about.encoder && `encoder ${about.encoder}`, about.model && `model ${about.model}`, about.changed && ago(about.changed)] },
  [h("div", { class: "cq-be-filters" }, createFilters(first, change), fall.element), means, tools.element, loading.problem, list, none, tools.pager]);
  return {
    element: framed.element,
    begin: () => { say(`${plural(page.total, "session")} shown`); },
    leave() {
      loading.leave();
      keys.leave();
      framed.leave();
    },
  };
}
