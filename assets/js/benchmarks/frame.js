// What the pages of sessions and of queries with targets share: asking again after a change, the head, the download.
import { createProgress } from "./progress.js";
import { stateChip } from "./words.js";
import { api, at, createDelay, h, messageOf, toast } from "../shared/common.js";
import { fetchFile } from "../shared/files.js";
/** @import { Screen } from "./main.js" */

const TYPED_MS = 40, OPENING_MS = 180000;

/**
 * What is looked at, and the page of it: asked for a moment after each change, and only the last answer is shown.
 * @template Page
 * @param {Screen} screen @param {BenchmarkView} first
 * @param {(view: BenchmarkView, options: { signal: AbortSignal }) => Promise<{ page: Page }>} ask @param {(page: Page) => void} put
 */
export function createLoading(screen, first, ask, put) {
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

/**
 * @param {Screen} screen @param {Benchmark & { gallery_problem: string, notes: string[] }} about
 * @param {{ thing: [string, string], facts: (string | null)[], download: HTMLElement, load(): void }} of @param {Child[]} body
 */
export function frame(screen, about, { thing, facts, download, load }, body) {
  const state = h("span", {}, stateChip(about.state));
  const progress = about.run && createProgress(screen, about.name, about.run, { finished: () => screen.again(), changed: load, state: (now) => state.replaceChildren(stateChip(now)), thing });
  return {
    element: h("div", {},
      h("nav", { class: "cq-stcrumb", "aria-label": "Where" }, h("a", { href: at("benchmarks"), text: "Benchmarks" })),
      h("header", { class: "cq-sthead cq-be-top" }, h("h1", { text: about.name, dir: "auto" }), state, h("span", { class: "cq-grow" }), download),
      h("p", { class: "cq-quiet", text: facts.filter(Boolean).join(" · "), dir: "auto" }),
      [about.gallery_problem, ...about.notes].filter(Boolean).map((note) => h("p", { class: "cq-be-note", text: note, dir: "auto" })),
      progress && progress.element, body),
    leave: () => progress?.leave(),
  };
}

/** @param {{ text: string, title: string, about: Benchmark & { download_problem: string }, address: () => Record<string, string> }} of */
export function downloadButton({ text, title, about, address }) {
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
export async function openInSearch(name, key, button, said) {
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
