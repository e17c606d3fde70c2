// What the pages of sessions and of queries with targets share: all but what each kind looks like.
import { PAGE } from "./address.js";
import { createKeys } from "./keys.js";
import { createProgress } from "./progress.js";
import { createTools } from "./tools.js";
import { THINGS, stateChip } from "./words.js";
import { api, at, createDelay, h, messageOf, say, toast } from "../shared/common.js";
import { fetchFile } from "../shared/files.js";
import { ago, count, plural } from "../shared/words.js";
/** @import { Screen, Shown } from "./main.js" */

const TYPED_MS = 40, OPENING_MS = 180000, FIRST_MS = 120000;

/** @typedef {(changes: Partial<BenchmarkView>) => void} Change */
/** @template One @typedef {((one: One, button: HTMLButtonElement | null) => void) | null} Open leads to the search screen */
/** @template One @typedef {{ element: HTMLElement, put(one: One, view: BenchmarkView): void }} Strip one session or query */
/**
 * What only one kind of benchmark has. ``rising``: orders whose lowest come first; ``above``, ``below`` the tools.
 * @template Page, One
 * @typedef {{ shown: Record<string, string>, sorts: Record<string, string>, rising: string[], none: Child, above: Child, below: Child, facts: (string | null)[],
 *   strip(one: One, open: Open<One>): Strip<One>, put(page: Page, view: BenchmarkView): void,
 *   download: { text: string, title: string, address(view: BenchmarkView): Record<string, string> } }} Parts
 */

/**
 * @template {OpenBenchmark | OpenTargets} About @template {{ total: number, all: number }} Page @template {{ key: string }} One
 * @param {Screen} screen @param {BenchmarkView} first
 * @param {{ ask(view: BenchmarkView, options?: object): Promise<{ about: About, page: Page }>, members(page: Page): One[], searching: string,
 *   parts(about: About, first: BenchmarkView, change: Change): Parts<Page, One> }} kind
 * @returns {Promise<Shown>}
 */
export async function benchmarkView(screen, first, kind) {
  const { about, page } = await kind.ask(first, { patience: FIRST_MS });
  if (!kind.members(page).length && page.total && first.page > 1) {   // an address of a page that is no longer there
    const last = { ...first, page: Math.ceil(page.total / PAGE) };
    screen.put(last);
    return benchmarkView(screen, last, kind);
  }
  /** @type {Map<string, { one: One, strip: Strip<One> }>} */
  let shown = new Map();
  const thing = THINGS[about.kind], list = h("ol", { class: "cq-be-strips" }), loading = createLoading(screen, first, kind.ask, put);
  const mark = () => { for (const { one, strip } of shown.values()) strip.put(one, loading.view()); };
  /** @type {Change} */
  const change = (changes) => {
    loading.change(changes);
    if (changes.threshold !== undefined) mark();    // the pictures on the page follow the slider without waiting for the server
  };
  const parts = kind.parts(about, first, change), none = h("div", { class: "cq-none", hidden: true }, parts.none);
  const tools = createTools({ subsets: about.subsets, shown: parts.shown, sorts: parts.sorts, rising: parts.rising, thing }, first, change);
  /** @type {Open<One>} */
  const open = about.can_open && screen.may("search") ? (one, button) => openInSearch(about.name, one.key, button, kind.searching) : null;
  const keys = createKeys(list, tools.search, () => open, (key) => shown.get(key)?.one);

  function put(/** @type {Page} */ now) {
    const before = shown, view = loading.view();
    shown = new Map(kind.members(now).map((one) => [one.key, { one, strip: before.get(one.key)?.strip ?? parts.strip(one, open) }]));
    mark();
    // What is the same stays where it is, so that nothing loads or loses the focus.
    const elements = [...shown.values()].map(({ strip }) => strip.element);
    if (elements.length !== list.children.length || elements.some((element, place) => list.children[place] !== element)) list.replaceChildren(...elements);
    list.start = (view.page - 1) * PAGE + 1;
    none.hidden = now.total > 0;
    parts.put(now, view);
    tools.put(view, now);
    keys.drawn();
  }

  tools.pages((to) => {
    change({ page: to });
    list.scrollIntoView({ block: "start" });
  });
  put(page);
  const state = h("span", {}, stateChip(about.state));
  const progress = about.run && createProgress(screen, about.name, about.run, { finished: () => screen.again(), changed: loading.load, state: (now) => state.replaceChildren(stateChip(now)), thing });
  const facts = [...parts.facts, about.failures ? `${count(about.failures)} failed` : "", about.dataset, about.gallery && `gallery ${about.gallery}`,
    about.encoder && `encoder ${about.encoder}`, about.model && `model ${about.model}`, about.changed && ago(about.changed)];
  const { text, title, address } = parts.download;
  return {
    element: h("div", {},
      h("nav", { class: "cq-stcrumb", "aria-label": "Where" }, h("a", { href: at("benchmarks"), text: "Benchmarks" })),
      h("header", { class: "cq-sthead cq-be-top" }, h("h1", { text: about.name, dir: "auto" }), state, h("span", { class: "cq-grow" }),
        downloadButton({ text, title, about, address: () => address(loading.view()) })),
      h("p", { class: "cq-quiet", text: facts.filter(Boolean).join(" · "), dir: "auto" }),
      [about.gallery_problem, ...about.notes].filter(Boolean).map((note) => h("p", { class: "cq-be-note", text: note, dir: "auto" })),
      progress && progress.element, parts.above, tools.element, parts.below, loading.problem, list, none, tools.pager),
    begin: () => { say(`${plural(page.total, ...thing)} shown`); },
    leave() {
      loading.leave();
      keys.leave();
      progress?.leave();
    },
  };
}

/**
 * What is looked at, and the page of it: asked for a moment after each change, and only the last answer is shown.
 * @template Page
 * @param {Screen} screen @param {BenchmarkView} first
 * @param {(view: BenchmarkView, options: { signal: AbortSignal }) => Promise<{ page: Page }>} ask @param {(page: Page) => void} put
 */
function createLoading(screen, first, ask, put) {
  const typed = createDelay(TYPED_MS);
  let view = first, under = new AbortController();
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  async function load() {
    under.abort();
    under = new AbortController();
    const { signal } = under;
    try {
      const answer = await ask(view, { signal });
      if (signal.aborted) return;
      problem.hidden = true;
      put(answer.page);
    } catch (error) {
      if (signal.aborted) return;
      problem.textContent = messageOf(error);
      problem.hidden = false;
    }
  }
  return {
    problem, load,
    view: () => view,
    change(/** @type {Partial<BenchmarkView>} */ changes) {
      view = { ...view, page: 1, ...changes };
      screen.put(view);
      typed.start(load);
    },
    leave() {
      typed.stop();
      under.abort();
    },
  };
}

/** @param {{ text: string, title: string, about: Benchmark & { download_problem: string }, address(): Record<string, string> }} of */
function downloadButton({ text, title, about, address }) {
  const button = h("button", { class: "cq-btn small", type: "button", text, hidden: about.state !== "finished", disabled: Boolean(about.download_problem),
    title: about.download_problem || title, onclick: async () => {
      button.disabled = true;
      toast("Preparing the files…");
      const failure = await fetchFile(at(`benchmarks/download?${new URLSearchParams(address())}`));
      button.disabled = false;
      if (failure) toast(failure);
    } });
  return button;
}

/** @param {string} name @param {string} key @param {HTMLButtonElement | null} button @param {string} said */
async function openInSearch(name, key, button, said) {
  if (button) button.disabled = true;
  toast(said);
  try {
    const opened = await api("POST", "benchmarks/open", { name, key }, { patience: OPENING_MS });
    window.location.assign(at(`?session=${encodeURIComponent(opened.session)}`));
  } catch (error) {
    toast(messageOf(error));
    if (button) button.disabled = false;
  }
}
