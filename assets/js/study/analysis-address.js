// What is looked at: a study, a part of it, and how its numbers are made. All of it stands in the address, people by
// their seats, so that a link opens the same view and tells no name.

const LISTS = { dataset: "datasets", category: "categories", person: "people" };
export const USUAL = { draws: "1000", seed: "", undefined: "null", resample: "items", k: "5", plan: "" };
const SWITCHES = { block: ["1", true], names: ["hidden", true] };

export function readView(address = window.location.href) {
  const { searchParams } = new URL(address);
  const view = { study: searchParams.get("study") || "", rules: searchParams.get("rules") };
  for (const [name, list] of Object.entries(LISTS)) view[list] = searchParams.getAll(name);
  view.people = view.people.map(Number).filter(Number.isInteger);
  for (const [name, [on]] of Object.entries(SWITCHES)) view[name] = searchParams.get(name) === on;
  for (const [name, usual] of Object.entries(USUAL)) view[name] = searchParams.get(name) ?? usual;
  return view;
}

// The address of ``view``, with nothing in it that goes without saying.
export function addressOf(view) {
  const url = new URL(window.location.href);
  for (const name of ["study", "rules", ...Object.keys({ ...LISTS, ...SWITCHES, ...USUAL })]) url.searchParams.delete(name);
  if (view.study) url.searchParams.set("study", view.study);
  for (const [name, list] of Object.entries(LISTS)) for (const one of view[list]) url.searchParams.append(name, one);
  for (const [name, [on]] of Object.entries(SWITCHES)) if (view[name]) url.searchParams.set(name, on);
  for (const [name, usual] of Object.entries(USUAL)) if (view[name] !== usual) url.searchParams.set(name, view[name]);
  if (view.rules !== null) url.searchParams.set("rules", view.rules);
  return url;
}

export const filtered = (view) => view.datasets.length + view.categories.length + view.people.length > 0 || view.block;

// What the server is asked, whatever it is asked for.
export function wanted(view, kind) {
  const { datasets, categories, people, block } = view;
  const query = new URLSearchParams({ study: view.study, names: view.names ? "hidden" : "shown",
    select: JSON.stringify({ datasets, categories, people, block_only: block }) });
  if (view.seed) query.set("seed", view.seed);
  if (view.resample !== USUAL.resample) query.set("resample", view.resample);
  if (kind === "validity" && view.undefined !== USUAL.undefined) query.set("undefined", view.undefined);
  if (kind === "preference") {
    query.set("k", view.k);
    if (view.rules !== null) query.set("rules", view.rules);
  }
  return query;
}

// ``wanted`` with the draws that intervals come from; 0 for none. Planning rests on draws.
export function wantedReport(view, kind, draws = view.draws) {
  const query = wanted(view, kind);
  query.set("draws", draws);
  if (view.plan && Number(draws)) query.set("plan", view.plan);
  return query;
}
