// Queries with all their targets: SoFT’s stage 1, at any threshold.
import { createQuery } from "./query.js";
import { createThreshold } from "./threshold.js";
import { PAGE, wantedTargets } from "../address.js";
import { createKeys } from "../keys.js";
import { createLoading, downloadButton, frame, openInSearch } from "../frame.js";
import { createTools } from "../tools.js";
import { TARGETS_SHOWN, TARGET_SORTS } from "../words.js";
import { api, h, say } from "../../shared/common.js";
import { ago, count, plural } from "../../studies/words.js";
/** @import { Screen, Shown } from "../main.js" */

const FIRST_MS = 120000;
const LOWEST_FIRST = ["constructed", "lowest", "original"];    // what stands out comes first

/** @returns {Promise<Shown>} */
export async function targetsView(/** @type {Screen} */ screen, /** @type {BenchmarkView} */ first) {
  const { about, page } = await api("GET", `benchmarks/targets?${wantedTargets(first)}`, undefined, { patience: FIRST_MS });
  if (!page.queries.length && page.total && first.page > 1) {   // an address of a page that is no longer there
    const last = { ...first, page: Math.ceil(page.total / PAGE) };
    screen.put(last);
    return targetsView(screen, last);
  }
  /** @type {Map<string, import("./query.js").QueryStrip>} */
  let strips = new Map();
  /** @type {Map<string, TargetedQuery>} */
  let queries = new Map();
  const list = h("ol", { class: "cq-be-strips" });
  const none = h("div", { class: "cq-none", hidden: true }, about.queries || about.run?.running
    ? [h("h2", { text: about.queries ? "No matching queries" : "No queries yet" }), h("p", { text: about.queries ? "Search for other words, move the threshold, or show all queries." : "They appear here as they finish." })]
    : [h("h2", { text: "No queries" }), h("p", { text: "Every query failed, or none was begun. Go on with it from the command line, with the options that it was begun with and:" }),
      h("p", {}, h("code", { text: "cirque construct multi-target DATASET --gallery GALLERY --out FOLDER --resume --retry-failed" }))]);
  const loading = createLoading(screen, first, (view, options) => api("GET", `benchmarks/targets?${wantedTargets(view)}`, undefined, options), put);
  // The pictures on the page follow the slider without waiting for the server.
  const change = (/** @type {Partial<BenchmarkView>} */ changes) => {
    loading.change(changes);
    if (changes.threshold !== undefined) mark();
  };
  const threshold = createThreshold(first, change);
  const tools = createTools({ subsets: about.subsets, shown: TARGETS_SHOWN, sorts: TARGET_SORTS, rising: LOWEST_FIRST, thing: ["query", "queries"] }, first, change);
  const open = about.can_open && screen.may("search") ? (/** @type {TargetedQuery} */ query, /** @type {HTMLButtonElement | null} */ button) => openInSearch(about.name, query.key, button, "Searching…") : null;
  const keys = createKeys(list, tools.search, () => open, (key) => queries.get(key));

  const mark = () => { for (const strip of strips.values()) strip.put(Number(loading.view().threshold)); };

  function put(/** @type {TargetPage} */ page) {
    const before = strips;
    strips = new Map(page.queries.map((query) => [query.key, before.get(query.key) ?? createQuery(query, open)]));
    queries = new Map(page.queries.map((query) => [query.key, query]));
    mark();
    const elements = [...strips.values()].map(({ element }) => element);
    if (elements.length !== list.children.length || elements.some((element, place) => list.children[place] !== element)) list.replaceChildren(...elements);
    list.start = (loading.view().page - 1) * PAGE + 1;
    none.hidden = page.total > 0;
    threshold.put(page);
    tools.put(loading.view(), page);
    keys.drawn();
  }

  const download = downloadButton({ text: "Download targets", about, title: "The queries with their targets at this threshold, in SoFT’s multi-target form",
    address: () => ({ name: about.name, threshold: loading.view().threshold }) });
  tools.pages((to) => {
    change({ page: to });
    list.scrollIntoView({ block: "start" });
  });
  put(page);
  const framed = frame(screen, about, { thing: ["query", "queries"], download, load: loading.load, facts: [plural(about.queries, "query", "queries"),
    about.failures ? `${count(about.failures)} failed` : "", about.dataset, about.gallery && `gallery ${about.gallery}`,
    about.encoder && `encoder ${about.encoder}`, about.model && `model ${about.model}`, about.changed && ago(about.changed)] },
  [threshold.element, tools.element, h("p", { class: "cq-quiet cq-be-legend", text: "Under each candidate: its confidence, what found it (the first sentence, both sentences, the image of the original target), and its rank there." }),
    loading.problem, list, none, tools.pager]);
  return {
    element: framed.element,
    begin: () => { say(`${plural(page.total, "query", "queries")} shown`); },
    leave() {
      loading.leave();
      keys.leave();
      framed.leave();
    },
  };
}
