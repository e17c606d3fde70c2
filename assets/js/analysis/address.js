// What is looked at: a study, a part of it, and how its numbers are made. All of it stands in the address, people by
// their seats, so that a link opens the same view and tells no name.
/** @typedef {keyof typeof USUAL} Option */

/** @type {[string, "datasets" | "categories" | "people"][]} by their names in the address */
const LISTS = [["dataset", "datasets"], ["category", "categories"], ["person", "people"]];
export const USUAL = { draws: "1000", seed: "", undefined: "null", resample: "items", k: "5", plan: "" };
const LATEST_SEED = 1e15, MOST_DRAWS = 10000, NARROWEST = 0.005;
export const WIDTHS = { min: NARROWEST, max: 1 };
export const SEEDS = { min: 0, max: LATEST_SEED, step: 1 };
export const CUTOFFS = "\\s*[1-5]\\s*(,\\s*[1-5]\\s*)*";

const whole = (/** @type {string} */ text, /** @type {number} */ most) => /^\d{1,16}$/.test(text.trim()) && Number(text) <= most;
// Whether a value of the address can be used, and what it is not otherwise.
/** @type {Record<string, [(text: string) => boolean, string]>} */
const CHECKED = {
  draws: [(text) => whole(text, MOST_DRAWS), "is not a whole number from 0 to 10,000"],
  seed: [(text) => text === "" || whole(text, LATEST_SEED), "is not a whole number from 0 to 10¹⁵"],
  undefined: [(text) => ["null", "one"].includes(text), "is neither null nor one"],
  resample: [(text) => ["items", "people"].includes(text), "is neither items nor people"],
  k: [(text) => new RegExp(`^${CUTOFFS}$`).test(text), "is not a list of numbers from 1 to 5"],
  plan: [(text) => text === "" || (Number(text) >= WIDTHS.min && Number(text) <= WIDTHS.max), "is not a width from 0.005 to 1"],
  person: [(text) => whole(text, MOST_DRAWS), "is not a seat number"],
  block: [(text) => ["", "0", "1"].includes(text), "is neither 0 nor 1"],
};
const SHOWN = 40; // characters of a value that is left out

// ``ignored``: a sentence for each value that was left out.
/** @returns {View & { ignored: string[] }} */
export function readView(address = window.location.href) {
  const { searchParams } = new URL(address), ignored = /** @type {string[]} */ ([]);
  const leftOut = (/** @type {string} */ name, /** @type {string} */ text, end = "was left out") => void ignored.push(
    `${name}=${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text} ${CHECKED[name]?.[1] ?? "is neither shown nor hidden"} and ${end}.`);
  const good = (/** @type {string} */ name, /** @type {string} */ text) => {
    if (!CHECKED[name] || CHECKED[name][0](text)) return true;
    leftOut(name, text);
    return false;
  };
  const all = (/** @type {string} */ name) => searchParams.getAll(name).filter((text) => good(name, text));
  const lists = { datasets: all("dataset"), categories: all("category"), people: all("person").map(Number) };
  const options = { ...USUAL };
  for (const name of /** @type {Option[]} */ (Object.keys(USUAL))) {
    const text = searchParams.get(name);
    if (text !== null && good(name, text)) options[name] = text;
  }
  const block = searchParams.get("block") ?? "", names = searchParams.get("names") ?? "shown";
  const shown = good("block", block) && block === "1";
  const hides = names !== "shown"; // in doubt nobody is named
  if (hides && names !== "hidden") leftOut("names", names, "names are hidden");
  return { study: searchParams.get("study") || "", rules: searchParams.get("rules"), ignored, ...lists, ...options, block: shown, names: hides };
}

// The address of ``view``, with nothing in it that goes without saying.
export function addressOf(/** @type {View} */ view) {
  const url = new URL(window.location.href);
  for (const name of ["study", "rules", "block", "names", ...LISTS.map(([name]) => name), ...Object.keys(USUAL)]) url.searchParams.delete(name);
  if (view.study) url.searchParams.set("study", view.study);
  for (const [name, list] of LISTS) for (const one of view[list]) url.searchParams.append(name, String(one));
  if (view.block) url.searchParams.set("block", "1");
  if (view.names) url.searchParams.set("names", "hidden");
  for (const name of /** @type {Option[]} */ (Object.keys(USUAL))) if (view[name] !== USUAL[name]) url.searchParams.set(name, view[name]);
  if (view.rules !== null) url.searchParams.set("rules", view.rules);
  return url;
}

export const EVERYTHING = { datasets: [], categories: [], people: [], block: false };
export const AS_USUAL = { ...USUAL, rules: null };
export const filtered = (/** @type {View} */ view) => view.datasets.length + view.categories.length + view.people.length > 0 || view.block;
/** @param {View} view */
export const unusual = (view) => /** @type {(keyof typeof AS_USUAL)[]} */ (Object.keys(AS_USUAL)).some((name) => view[name] !== AS_USUAL[name]);

// What the server is asked, whatever it is asked for. ``id`` of the study stays when it is renamed.
/** @typedef {{ id: string, words: Pick<KindWords, "options" | "undefined"> }} Asked */
export function wanted(/** @type {View} */ view, /** @type {Asked} */ { id, words }) {
  const { datasets, categories, people, block } = view;
  const query = new URLSearchParams({ study: id, names: view.names ? "hidden" : "shown",
    select: JSON.stringify({ datasets, categories, people, block_only: block }) });
  if (view.seed) query.set("seed", view.seed);
  const has = (/** @type {string} */ option) => words.options.includes(option);
  if (has("resample") && view.resample !== USUAL.resample) query.set("resample", view.resample);
  if (words.undefined && view.undefined !== USUAL.undefined) query.set("undefined", view.undefined);
  if (has("k")) query.set("k", view.k);
  if (has("rule") && view.rules !== null) query.set("rules", view.rules);
  return query;
}

// ``wanted`` with the draws that intervals come from; 0 for none. Planning rests on draws.
/** @type {(view: View, study: Asked, draws?: string | number) => URLSearchParams} */
export function wantedReport(view, study, draws = view.draws) {
  const query = wanted(view, study);
  query.set("draws", String(draws));
  if (view.plan && Number(draws)) query.set("plan", view.plan);
  return query;
}
