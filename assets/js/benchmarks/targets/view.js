// Queries with all their targets: SoFT’s stage 1, at any threshold.
import { createQuery } from "./query.js";
import { USUAL, wantedTargets } from "../address.js";
import { createSlider } from "../filters.js";
import { benchmarkView } from "../view.js";
import { LARGEST_THRESHOLD, TARGETS_SHOWN, TARGET_SORTS, decimals } from "../words.js";
import { api, h } from "../../shared/common.js";
import { count, percent, plural } from "../../shared/words.js";
/** @import { Screen } from "../main.js" */

const HINT = "A candidate with this confidence or more counts as a target.";
const RESUME = "cirque construct multi-target DATASET --gallery GALLERY --out FOLDER --resume --retry-failed";

export const targetsView = (/** @type {Screen} */ screen, /** @type {BenchmarkView} */ view) => benchmarkView(screen, view, {
  ask: (now, options) => api("GET", `benchmarks/targets?${wantedTargets(now)}`, undefined, options),
  members: (/** @type {TargetPage} */ page) => page.queries, searching: "Searching…", parts,
});

/** @param {OpenTargets} about @param {BenchmarkView} first @param {import("../view.js").Change} change @returns {import("../view.js").Parts<TargetPage, TargetedQuery>} */
function parts(about, first, change) {
  const threshold = createThreshold(first, change);
  return {
    shown: TARGETS_SHOWN, sorts: TARGET_SORTS, rising: ["constructed", "lowest", "original"],    // what stands out comes first
    none: about.queries || about.run?.running
      ? [h("h2", { text: about.queries ? "No matching queries" : "No queries yet" }), h("p", { text: about.queries ? "Search for other words, move the threshold, or show all queries." : "They appear here as they finish." })]
      : [h("h2", { text: "No queries" }), h("p", { text: "Every query failed, or none was started. Continue on the command line, with the same options and:" }), h("p", {}, h("code", { text: RESUME }))],
    above: threshold.element,
    below: h("p", { class: "cq-quiet cq-be-legend", text: "Under each candidate: its confidence, the search that found it (first sentence, both sentences, image of the original target), and its rank there." }),
    facts: [plural(about.queries, "query", "queries")], strip: createQuery, put: threshold.put,
    download: { text: "Download targets", title: "The queries with their targets at this threshold, in SoFT’s multi-target format",
      address: ({ threshold: now }) => ({ name: about.name, threshold: now }) },
  };
}

// The slider for the threshold, what it makes of all queries, and the histogram of their targets.
/** @param {BenchmarkView} view @param {(changes: Partial<BenchmarkView>) => void} change */
function createThreshold(view, change) {
  const slider = createSlider({ name: "threshold", label: "Threshold of confidence", hint: HINT, value: view.threshold, step: 0.01, any: true,
    most: LARGEST_THRESHOLD, furthest: 1, change: (threshold) => change({ threshold }) });
  const reset = h("button", { class: "cq-btn small", type: "button", text: `SoFT’s: ${USUAL.threshold}`, onclick: () => {
    slider.put(USUAL.threshold);
    change({ threshold: USUAL.threshold });
  } });
  const facts = h("dl", { class: "cq-be-facts" }), bars = h("div", { class: "bars", "aria-hidden": "true" });
  const figure = h("div", { class: "cq-be-histogram", role: "img" }, bars, h("small", { text: "Targets of a query", "aria-hidden": "true" }));
  const fact = (/** @type {string} */ name, /** @type {string} */ value, small = "") => h("div", {}, h("dt", { text: name }), h("dd", { class: "num", text: value }, small ? h("small", { text: ` ${small}` }) : null));

  /** A bar stays the same element, so that it moves. @param {TargetBar[]} histogram */
  function draw(histogram) {
    const highest = Math.max(1, ...histogram.map(({ queries }) => queries));
    while (bars.childElementCount > histogram.length) bars.lastElementChild?.remove();
    while (bars.childElementCount < histogram.length) bars.append(h("div", {}, h("div", {}, h("b", {}), h("i", {})), h("span", {})));
    histogram.forEach(({ targets, and_more, queries }, place) => {
      const [number, bar, name] = /** @type {NodeListOf<HTMLElement>} */ (bars.children[place].querySelectorAll("b, i, span"));
      number.textContent = queries ? count(queries) : "";
      number.style.bottom = bar.style.height = `${(100 * queries) / highest}%`;
      name.textContent = `${targets}${and_more ? "+" : ""}`;
    });
    figure.setAttribute("aria-label", `Queries by number of targets: ${histogram.filter(({ queries }) => queries)
      .map(({ targets, and_more, queries }) => `${targets}${and_more ? " and more" : ""}: ${count(queries)}`).join(", ")}`);
  }
  return {
    element: h("div", { class: "cq-be-filters cq-be-threshold" },
      h("div", { class: "cq-be-sliders", role: "group", "aria-label": "Threshold" }, slider.element, h("div", {}, reset), facts), figure),
    /** @param {TargetPage} page */
    put({ all, summary, histogram }) {
      facts.replaceChildren(fact("Queries with targets", count(summary.kept), `of ${count(all)}, ${percent(summary.kept, all)} %`),
        fact("Targets of a query, mean", summary.mean === null ? "–" : decimals(summary.mean, 2), `${plural(summary.targets, "target")} in all`),
        fact("Three or more targets", count(summary.rewritable)), fact("Original target not among them", count(summary.without_original)));
      draw(histogram);
    },
  };
}
