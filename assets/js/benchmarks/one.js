// One benchmark: its filters, and its sessions as strips.
import { PAGE, wanted } from "./address.js";
import { createFilters } from "./filters.js";
import { createKeys } from "./keys.js";
import { createProgress } from "./progress.js";
import { createStrip } from "./strip.js";
import { createTools } from "./tools.js";
import { createWaterfall } from "./waterfall.js";
import { SORTS, STAGES, decimals, stateChip } from "./words.js";
import { api, at, h, messageOf, say, toast } from "../shared/common.js";
import { fetchFile } from "../shared/files.js";
import { ago, count, plural } from "../studies/words.js";
/** @import { Screen, Shown } from "./main.js" */

const TYPED_MS = 40;
const OPENING_MS = 180000, FIRST_MS = 120000;

/** @returns {Promise<Shown>} */
export async function oneView(/** @type {Screen} */ screen, /** @type {BenchmarkView} */ first) {
  let view = first, timer = 0, under = new AbortController();
  const { about, page } = await api("GET", `benchmarks/sessions?${wanted(view)}`, undefined, { patience: FIRST_MS });
  if (!page.sessions.length && page.total && view.page > 1) {   // an address of a page that is no longer there
    view = { ...view, page: Math.ceil(page.total / PAGE) };
    screen.put(view);
    return oneView(screen, view);
  }
  /** @type {Map<string, import("./strip.js").Strip>} */
  let strips = new Map();
  const list = h("ol", { class: "cq-be-strips" }), none = h("div", { class: "cq-none", hidden: true }, h("h2", { text: "No matching sessions" }),
    h("p", { text: "Search for other words, or show all sessions." }));
  const means = h("dl", { class: "cq-be-means", hidden: !about.judged });
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const fall = createWaterfall({ stages: Object.keys(STAGES), show: (show) => change({ show }) });
  const tools = createTools(about, view, change);
  const state = h("span", {}, stateChip(about.state));
  const progress = about.run && createProgress(screen, about.name, about.run, { finished: () => screen.again(), changed: load, state: (now) => state.replaceChildren(stateChip(now)) });
  const keys = createKeys(list, tools.search, () => (about.can_open && screen.may("search") ? openInSearch : null), (key) => sessions.get(key));
  /** @type {Map<string, BenchmarkSession>} */
  let sessions = new Map();

  function change(/** @type {Partial<BenchmarkView>} */ changes) {
    view = { ...view, page: 1, ...changes };
    screen.put(view);
    clearTimeout(timer);
    timer = setTimeout(load, TYPED_MS);
  }

  async function load() {
    under.abort();
    under = new AbortController();
    const { signal } = under;
    try {
      const answer = await api("GET", `benchmarks/sessions?${wanted(view)}`, undefined, { signal });
      if (signal.aborted) return;
      problem.hidden = true;
      put(answer.page);
    } catch (error) {
      if (signal.aborted) return;
      problem.textContent = messageOf(error);
      problem.hidden = false;
    }
  }

  function put(/** @type {BenchmarkPage} */ page) {
    const before = strips;
    strips = new Map(page.sessions.map((session) => {
      const known = before.get(session.key);
      known?.put(session);
      return [session.key, known ?? createStrip(session, { open: about.can_open && screen.may("search") ? openInSearch : null, dimensions: about.dimensions, k: about.k })];
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

  async function openInSearch(/** @type {BenchmarkSession} */ session, /** @type {HTMLButtonElement | null} */ button) {
    if (button) button.disabled = true;
    toast("Searching its turns again…");
    try {
      const opened = await api("POST", "benchmarks/open", { name: about.name, key: session.key }, { patience: OPENING_MS });
      window.location.assign(at(`?session=${encodeURIComponent(opened.session)}`));
    } catch (error) {
      toast(messageOf(error));
      if (button) button.disabled = false;
    }
  }

  const download = h("button", { class: "cq-btn small", type: "button", text: "Filtered download", hidden: about.state !== "finished",
    disabled: Boolean(about.download_problem),
    title: about.download_problem || "The kept sessions in CIRCLED’s public and raw form, with the counts and the dropped sessions", onclick: async () => {
      download.disabled = true;
      toast("Preparing the files…");
      const said = await fetchFile(at(`benchmarks/download?${new URLSearchParams({ name: about.name, epsilon: view.epsilon, tau: view.tau })}`));
      download.disabled = false;
      if (said) toast(said);
    } });
  tools.pages((to) => {
    change({ page: to });
    list.scrollIntoView({ block: "start" });
  });
  put(page);
  const facts = [plural(about.sessions, "session"), about.queries === null ? "" : `${count(about.queries)} queries`, about.failures ? `${count(about.failures)} failed` : "",
    about.gallery && `gallery ${about.gallery}`, about.encoder && `encoder ${about.encoder}`, about.model && `model ${about.model}`, about.changed && ago(about.changed)];
  return {
    element: h("div", {},
      h("nav", { class: "cq-stcrumb", "aria-label": "Where" }, h("a", { href: at("benchmarks"), text: "Benchmarks" })),
      h("header", { class: "cq-sthead cq-be-top" }, h("h1", { text: about.name, dir: "auto" }), state, h("span", { class: "cq-grow" }), download),
      h("p", { class: "cq-quiet", text: facts.filter(Boolean).join(" · "), dir: "auto" }),
      [about.gallery_problem, ...about.notes].filter(Boolean).map((note) => h("p", { class: "cq-be-note", text: note, dir: "auto" })),
      progress && progress.element,
      h("div", { class: "cq-be-filters" }, createFilters(view, change), fall.element), means,
      tools.element, problem, list, none, tools.pager),
    begin: () => { say(`${plural(page.total, "session")} shown`); },
    leave() {
      clearTimeout(timer);
      under.abort();
      keys.leave();
      progress?.leave();
    },
  };
}

