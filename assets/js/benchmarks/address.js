// What is looked at: a benchmark, its filters, a search, an order. All of it is in the address, so that a link opens the same view.
import { LARGEST_THRESHOLD, SORTS, STAGES, TARGETS_SHOWN, TARGET_SORTS } from "./words.js";

export const USUAL = { epsilon: "30", tau: "0.8", threshold: "0.85", subset: "", show: "all", q: "", sort: "constructed", order: "up" };
const NAMES = /** @type {(keyof typeof USUAL)[]} */ (Object.keys(USUAL));
export const PAGE = 20, LARGEST_EPSILON = 1000000, LARGEST_TAU = 2;
export const SHOWN = ["all", "kept", ...Object.keys(STAGES)];

/** @type {Record<string, (text: string) => boolean>} */
const CHECKED = {
  epsilon: (text) => /^\d{1,7}$/.test(text) && Number(text) <= LARGEST_EPSILON,
  tau: (text) => text.trim() !== "" && Number(text) >= 0 && Number(text) <= LARGEST_TAU,
  threshold: (text) => text.trim() !== "" && Number(text) >= 0 && Number(text) <= LARGEST_THRESHOLD,
  show: (text) => SHOWN.includes(text) || text in TARGETS_SHOWN, sort: (text) => text in SORTS || text in TARGET_SORTS, order: (text) => ["up", "down"].includes(text),
};
// Whether the server takes this value.
export const usable = (/** @type {string} */ name, /** @type {string} */ text) => !CHECKED[name] || CHECKED[name](text);

/** Values that cannot be used are left out. @returns {BenchmarkView} */
export function readView(address = window.location.href) {
  const { searchParams } = new URL(address), view = { ...USUAL };
  for (const name of NAMES) {
    const text = searchParams.get(name);
    if (text !== null && usable(name, text)) view[name] = text;
  }
  const page = Number(searchParams.get("page") ?? "1");
  return { name: searchParams.get("name") || "", ...view, page: Number.isInteger(page) && page >= 1 && page <= 100000 ? page : 1 };
}

/** @param {BenchmarkView} view */
export function addressOf(view) {
  const url = new URL(window.location.href);
  for (const name of ["name", "page", ...NAMES]) url.searchParams.delete(name);
  if (view.name) url.searchParams.set("name", view.name);
  for (const name of NAMES) if (view[name] !== USUAL[name]) url.searchParams.set(name, view[name]);
  if (view.page > 1) url.searchParams.set("page", String(view.page));
  return url;
}

/** What the server is asked for. @param {BenchmarkView} view */
export function wanted(view) {
  const query = new URLSearchParams({ name: view.name, epsilon: view.epsilon, tau: view.tau });
  return withRest(query, view, SHOWN.includes(view.show), view.sort in SORTS);
}

/** The same of queries with targets. @param {BenchmarkView} view */
export function wantedTargets(view) {
  return withRest(new URLSearchParams({ name: view.name, threshold: view.threshold }), view, view.show in TARGETS_SHOWN, view.sort in TARGET_SORTS);
}

/** Without what is of the other kind of benchmark. @param {URLSearchParams} query @param {BenchmarkView} view @param {boolean} shows @param {boolean} sorts */
function withRest(query, view, shows, sorts) {
  query.set("offset", String((view.page - 1) * PAGE));
  query.set("limit", String(PAGE));
  for (const name of NAMES) {
    const fits = name === "show" ? shows : name === "sort" ? sorts : !["epsilon", "tau", "threshold"].includes(name);
    if (fits && view[name] !== USUAL[name]) query.set(name, view[name]);
  }
  return query;
}
