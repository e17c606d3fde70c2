// The query: what is typed, and where the page goes on when it has been answered.
import { keptInTab, on, createDelay, h, until } from "../shared/common.js";
import { act, onDraw } from "./actions.js";
import { offered, waitedFor } from "./address.js";
import { closeDrawers } from "./drawers.js";
import { $, narrow, queryField, shown } from "./page.js";
import { isAddress, takeAddress } from "./reference.js";
import { marks } from "./results/marks.js";
import { nextReference } from "./results/next.js";
import { folded, perRow, selected, tiles, onSelect } from "./results/selection.js";

let asked = /** @type {FormDataEntryValue | null} */ (null);
on("submit", (event) => {
  const form = event.target, name = form.dataset.form;
  if (!name) return;
  event.preventDefault();
  const data = Object.fromEntries(new FormData(form));
  if (name === "settings") closeDrawers();
  if (name !== "search") act(name, data);
  else if (isAddress(String(data.text).trim())) takeAddress(String(data.text).trim());
  else if (act(name, { ...data, ...marks(), reference: nextReference(), columns: folded() ? 0 : perRow(), seen: seen() })) asked = data.text;
});

// How many results have been in view: "something else" leaves out these, not the ones nobody has looked at.
let lowest = 0, looked = /** @type {string | undefined} */ ("");
function look() { lowest = Math.max(lowest, window.scrollY + window.innerHeight); }
const seen = () => folded() ? 0 : tiles().filter((tile) => tile.getBoundingClientRect().top + window.scrollY < lowest).length;
window.addEventListener("scroll", look, { passive: true });
onDraw(() => {
  if (looked !== shown().turn) lowest = 0;
  looked = shown().turn;
  look();
});

on("keydown", (event) => {
  if (event.target.id === "cq-text" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    event.target.closest("form")?.requestSubmit();
  }
});

export function ask(/** @type {string} */ text) {
  const field = queryField();
  if (!field) return;
  field.value = text;
  field.form?.requestSubmit();
}

// --- what is typed survives a connection that drops --------------------------------------

const TYPED = "cirque.typed";
const place = () => shown().session || "";
function keepTyped(/** @type {string} */ text) {
  keptInTab.write(TYPED, text ? { session: place(), text } : null);
}
on("input", (event) => { if (event.target.id === "cq-text") keepTyped(event.target.value); });
let restored = false;
function restoreTyped(/** @type {HTMLTextAreaElement} */ field) {
  restored = true;
  const typed = keptInTab.read(TYPED, { session: "", text: "" });
  // A search that is offered again may have begun its session after the words were typed.
  const text = String(offered()?.text ?? (typed.session === place() ? typed.text : ""));
  if (text && !field.value) field.value = text;
}

// --- after a new drawing -------------------------------------------------------------------

const FROM_RESULTS = ["go", "back", "turn", "branch", "keep", "reset", "undo", "delete_branch", "restore_branch"];
const SEARCHES = ["search", "again", "by_rules", "words", "follow"];
const IN_PLACE = ["adjust", "moves", "filter", "reword", "layout", "fold", "sessions", "rename_session", "remove_session", "restore_session", "prefer"]; // the page stays where the person works

onDraw(({ action, failed }) => {
  const field = queryField();
  if (shown().running) asked = String(waitedFor()?.text ?? "");
  if (SEARCHES.includes(action) && !failed && field && field.value === asked) { // else the next text is being typed
    field.value = "";
    field.blur(); // also where there are no results: on a phone its keyboard covers what has come
    tiles()[0]?.focus({ preventScroll: true });
    if (narrow(720).matches) $("#results")?.scrollIntoView({ block: "start", behavior: "smooth" });
    else if (window.scrollY > 240) window.scrollTo({ top: 0, behavior: "smooth" });
  }
  if (action === "search" && failed) field?.focus();
  if (action === "reference" && !failed) {
    if (field && isAddress(field.value.trim())) field.value = ""; // it has become the reference
    field?.focus({ preventScroll: true });
  }
  // What had the focus (a tile, a turn) was drawn anew: the keyboard goes on from the results.
  if (FROM_RESULTS.includes(action) && document.activeElement === document.body) selected()?.focus({ preventScroll: true });
  if (!IN_PLACE.includes(action)) {
    $(".cq-turns .current")?.scrollIntoView({ block: "nearest", inline: "center" });
    $("#strip .cq-turns")?.scrollTo({ left: 1e6 * Number(Boolean($(".cq-turns li:last-child.current"))) });
  }
  if (!field) return;
  if (SEARCHES.includes(action) && !failed) keepTyped(field.value);
  if (!restored) restoreTyped(field);
});

// Texts suggested for the picture that the next words start from. Asked for once per picture, after it is shown.
const known = /** @type {Map<string, Promise<string[]>>} */ (new Map());
const KEPT = 100;
const later = createDelay(150); // the arrow keys pass by results

function texts(/** @type {string} */ query) {
  const before = known.get(query);
  if (before) return before;
  const asked = fetch(`media/suggestions?${query}`).then(async (reply) => {
    if (!reply.ok) throw new Error(reply.statusText); // asked for again when the picture is shown again
    return /** @type {string[]} */ ((await reply.json()).texts ?? []);
  });
  known.set(query, asked);
  asked.catch(() => known.delete(query));
  for (const oldest of known.keys()) if (known.size > KEPT) known.delete(oldest);
  return asked;
}

let wanted = "";
async function fill() {
  const image = nextReference() || shown().reference;
  if (!image) return;
  wanted = new URLSearchParams({ gallery: shown().gallery ?? "", image }).toString();
  const query = wanted;
  const found = await texts(query).catch(() => []);
  const place = $("[data-suggestions]");
  if (query !== wanted || !place || place.dataset.of === query && place.childElementCount) return;
  place.dataset.of = query;
  place.replaceChildren(...found.map((text) => h("button", { type: "button", "data-chip": text, text })));
}
const fillLater = () => later.start(() => until(fill()));
onSelect(fillLater);
onDraw(fillLater);
