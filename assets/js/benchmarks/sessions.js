// One benchmark of sessions: its filters, and its sessions as strips.
import { SHOWN, wanted } from "./address.js";
import { createFilters } from "./filters.js";
import { createStrip } from "./strip.js";
import { benchmarkView } from "./view.js";
import { DROPS, SORTS, STAGES, decimals } from "./words.js";
import { api, h, toggle } from "../shared/common.js";
import { count, plural } from "../shared/words.js";
/** @import { Screen } from "./main.js" */

const NAMES = Object.fromEntries(SHOWN.map((what) => [what, what === "all" ? "All" : what === "kept" ? "Kept" : `Dropped: ${(STAGES[what] ?? what).toLowerCase()}`]));

export const sessionsView = (/** @type {Screen} */ screen, /** @type {BenchmarkView} */ view) => benchmarkView(screen, view, {
  ask: (now, options) => api("GET", `benchmarks/sessions?${wanted(now)}`, undefined, options),
  members: (/** @type {BenchmarkPage} */ page) => page.sessions, searching: "Searching its turns again…", parts,
});

/** @param {OpenBenchmark} about @param {BenchmarkView} first @param {import("./view.js").Change} change @returns {import("./view.js").Parts<BenchmarkPage, BenchmarkSession>} */
function parts(about, first, change) {
  const means = h("dl", { class: "cq-be-means", hidden: !about.judged }), fall = createWaterfall({ stages: Object.keys(STAGES), show: (show) => change({ show }) });
  return {
    shown: NAMES, sorts: Object.fromEntries(Object.entries(SORTS).filter(([name]) => about.judged || !about.dimensions.includes(name))),
    rising: ["constructed", "rank"],    // the session that stands out comes first
    none: [h("h2", { text: "No matching sessions" }), h("p", { text: "Search for other words, or show all sessions." })],
    above: [h("div", { class: "cq-be-filters" }, createFilters(first, change), fall.element), means], below: null,
    facts: [plural(about.sessions, "session"), about.queries === null ? "" : `${count(about.queries)} queries`],
    strip: (session, open) => createStrip(session, { open, dimensions: about.dimensions, k: about.k }),
    put(page, view) {
      fall.put(page, view.show);
      means.replaceChildren(h("div", { class: "of" }, h("dt", { text: "Judge" }), h("dd", { text: plural(page.judged, "session") })),
        ...about.dimensions.map((name) => h("div", {}, h("dt", { text: SORTS[name] ?? name }), h("dd", { class: "num", text: page.judged ? decimals(page.means[name], 2) : "–" }))));
    },
    download: { text: "Filtered download", title: "The kept sessions in CIRCLED’s public and raw format, with the counts and the dropped sessions",
      address: ({ epsilon, tau }) => ({ name: about.name, epsilon, tau }) },
  };
}

// The filters of the paper's Table 3: a bar for what each stage leaves, and how many it drops. A row shows its sessions.
/** @param {{ stages: string[], show(what: string): void }} of ``show`` hears which sessions are wanted */
function createWaterfall({ stages, show }) {
  /** @type {(what: string, name: string, title: string) => { button: HTMLButtonElement, left: HTMLElement, gone: HTMLElement, number: HTMLElement, minus: HTMLElement }} */
  const row = (what, name, title) => {
    const left = h("i", { class: "left" }), gone = h("i", { class: "gone" }), number = h("b", { class: "num" }), minus = h("span", { class: "minus num" });
    const button = h("button", { type: "button", title, onclick: () => { show(button.getAttribute("aria-pressed") === "true" ? "all" : what); } },
      h("span", { class: "name", text: name }), h("span", { class: "bar", "aria-hidden": "true" }, left, gone),
      h("span", { class: "cell" }, number, h("span", { class: "sr", text: " left, " })), h("span", { class: "cell" }, minus, h("span", { class: "sr", text: what === "kept" ? " of all" : " dropped" })));
    return { button, left, gone, number, minus };
  };
  const all = row("all", "Sessions", "All sessions");
  const rows = new Map(stages.map((stage) => [stage, row(stage, STAGES[stage] ?? stage, `Sessions dropped because ${DROPS[stage] ?? stage}`)]));
  const kept = row("kept", "Kept", "Sessions that every filter keeps");
  return {
    element: h("div", { class: "cq-be-fall", role: "group", "aria-label": "Sessions after each filter" }, all.button, [...rows.values()].map(({ button }) => button), kept.button),
    /** @param {BenchmarkPage} page @param {string} shown */
    put({ all: total, waterfall }, shown) {
      const wide = (/** @type {number} */ part) => `${total ? (100 * part) / total : 0}%`;
      all.left.style.width = wide(total);
      all.number.textContent = count(total);
      toggle(all.button, shown === "all");
      for (const { stage, removed, left } of waterfall) {
        const one = rows.get(stage);
        if (!one) continue;
        one.left.style.width = wide(left);
        one.gone.style.width = wide(removed);
        one.number.textContent = count(left);
        one.minus.textContent = removed ? `−${count(removed)}` : "0";
        one.minus.classList.toggle("none", !removed);
        toggle(one.button, shown === stage);
      }
      const left = waterfall.at(-1)?.left ?? total;
      kept.left.style.width = wide(left);
      kept.number.textContent = count(left);
      kept.minus.textContent = total ? `${((100 * left) / total).toFixed(0)} %` : "";
      toggle(kept.button, shown === "kept");
    },
  };
}
