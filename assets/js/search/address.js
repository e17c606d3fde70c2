// The session in the address, those that began in this browser, and what this tab showed before it was loaded again.
import { kept, keptInTab } from "../shared/common.js";
import { $, shown } from "./page.js";

const MINE = "cirque.sessions", LEFT = "cirque.left";
export const METHOD = "cirque.method"; // what new sessions begin with
const MINE_KEPT = 200;

// Another session is another entry of the history, so that Back leads to the one before.
// What the page was opened with is corrected in place.
let addressed = false;
export function address(session = "") {
  const url = new URL(window.location.href);
  if ((url.searchParams.get("session") || "") !== session) {
    if (session) url.searchParams.set("session", session);
    else url.searchParams.delete("session");
    window.history[addressed ? "pushState" : "replaceState"](window.history.state, "", url);
  }
  addressed = true;
  if (session) remember(session);
}
window.addEventListener("popstate", () => window.location.reload());

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
// offered on the page stays.
const left = () => keptInTab.read(LEFT, /** @type {{ search?: Record<string, unknown> | null } | null} */ (null));
export const offered = () => ($("[data-act=again]") ? left()?.search ?? null : null);
export function keepPlace(/** @type {object | null} */ search) {
  const { session = "", turn, reference, further } = shown();
  keptInTab.write(LEFT, { session, shown_turn: turn, shown_reference: reference, shown_further: further, search });
}
export const opened = () => ({ sessions: mySessions(), left: left(), method: kept.read(METHOD, null) });
