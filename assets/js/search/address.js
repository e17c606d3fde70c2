// What is shown in the address, so that a link shows it elsewhere and Back leads to the turn before; the sessions that
// began in this browser, who votes in it, and what this tab showed before it was loaded again.
import { kept, keptInTab, token } from "../shared/elements.js";
import { $, shown } from "./page.js";

const MINE = "cirque.sessions", LEFT = "cirque.left", WHO = "cirque.annotator";
export const METHOD = "cirque.method"; // what new sessions begin with
const MINE_KEPT = 200;

// The server writes most of it (``UiState.address``); whether this is a presentation only the page knows.
const PLACE = ["session", "turn", "comparison", "branches"], LOOK = ["branch", "layout", "fold", "presentation"];
const presenting = () => document.body.classList.contains("cq-presents");

/** ``href`` with the view that ``address`` names. @type {(href: string, address: string, presents: boolean) => string} */
export function viewAt(href, address, presents) {
  const url = new URL(href);
  for (const name of [...PLACE, ...LOOK]) url.searchParams.delete(name);
  new URLSearchParams(address).forEach((value, name) => url.searchParams.set(name, value));
  if (presents) url.searchParams.set("presentation", "on");
  return url.href;
}
/** Whether two addresses differ in nothing but how it looks. @type {(one: string, other: string) => boolean} */
export function samePlace(one, other) {
  const [here, there] = [new URL(one).searchParams, new URL(other).searchParams];
  return PLACE.every((name) => here.get(name) === there.get(name));
}
/** Without what is this browser's alone. @type {(href: string) => string} */
export function linkTo(href) {
  const url = new URL(href);
  url.searchParams.delete("__theme");
  return url.href;
}

// Another turn is another entry of the history, and so is a comparison: Back leads to the one before. What the page was
// opened with is corrected in place, and so is the place of a search under way, once it has its turn.
let addressed = false, underWay = false;
/** @type {(how?: { inPlace?: boolean, live?: boolean }) => void} */
export function address({ inPlace = false, live = false } = {}) {
  const { address = "", session, reference, further, gallery } = shown();
  const here = window.location.href, href = viewAt(here, address, presenting());
  // Before the first search an entry of the history is told apart by its reference.
  const state = { ...window.history.state, cirque: { shown_reference: reference, shown_further: further, shown_gallery: gallery } };
  const push = addressed && !underWay && !inPlace && !samePlace(here, href);
  if (push) window.history.pushState(state, "", href);
  else if (href !== here || JSON.stringify(state) !== JSON.stringify(window.history.state)) window.history.replaceState(state, "", href);
  underWay = live && !shown().turn && (push || underWay || !addressed);
  addressed = true;
  if (session) remember(session);
}
export const there = () => Object.fromEntries(new URL(window.location.href).searchParams);
export const elsewhere = () => !samePlace(window.location.href, viewAt(window.location.href, shown().address ?? "", false));

// Votes and thumbs belong to somebody; without sign-in that is this browser.
let unstored = "";
export function voter() {
  try {
    const known = localStorage.getItem(WHO);
    if (known) return known;
    localStorage.setItem(WHO, unstored ||= token());
  } catch { /* private windows may not store anything */ }
  return unstored ||= token();
}

export function mySessions() {
  const known = kept.read(MINE, /** @type {string[]} */ ([]));
  return Array.isArray(known) ? known : [];
}
// Read and written in one go: two tabs must not forget each other's sessions.
export function remember(/** @type {string} */ session) {
  kept.write(MINE, [session, ...others(session)].slice(0, MINE_KEPT));
}
export function forget(/** @type {string} */ session) {
  kept.write(MINE, others(session));
}
const others = (/** @type {string} */ session) => mySessions().filter((one) => one !== session);

// What the server gets when the tab is loaded again (web/search/events.py). ``search``: the one under way; one that is
// offered on the page stays. ``run``: the id of the action under way, by which it is found again.
/** @typedef {{ search?: Record<string, unknown> | null, run?: string }} Left */
const left = () => keptInTab.read(LEFT, /** @type {Left | null} */ (null));
export const offered = () => ($("[data-act=again]") ? left()?.search ?? null : null);
export const waitedFor = () => left()?.search ?? null;
export function keepPlace(/** @type {object | null} */ search, run = "") {
  const { session = "", turn, reference, further } = shown();
  keptInTab.write(LEFT, { session, shown_turn: turn, shown_reference: reference, shown_further: further, search, run });
}
/** What the tab shows when it is loaded again, at the entry of the history that it has just come to. */
export const keepEntry = (/** @type {object} */ state) => keptInTab.write(LEFT, { session: there().session ?? "", shown_turn: there().turn, ...state });
export const opened = () => ({ sessions: mySessions(), left: left(), who: voter(), method: kept.read(METHOD, null) });
