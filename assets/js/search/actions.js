// Actions go to the server, which draws the panels anew. What happens on the page in between, and after.
import { say, stirs, toast, token } from "../shared/common.js";
import { address, elsewhere, keepEntry, keepPlace, offered, there, voter, waitedFor } from "./address.js";
import { $, $$, shown } from "./page.js";
import { restore } from "./restore.js";

const SLOW = new Set(["go", "search", "again", "by_rules", "words", "compare_methods", "settings", "open_session", "new", "deal", "target", "layout"]);
const GIVEN_UP_MS = 20000;

let trigger = /** @type {((name: "act", data: object) => void) | null} */ (null); // Gradio's, of the hidden panel
const waiting = /** @type {(() => void)[]} */ ([]);
let pending = /** @type {{ name: string, turn?: string, since: number, run: string } | null} */ (null);
let queued = /** @type {{ name: string, turn?: string, data: Change } | null} */ (null);
let request = /** @type {object | null} */ (null); // the search under way, to be offered again where the connection drops
let scheduled = false, loaded = false;
const tellRest = () => stirs("act", !loaded || scheduled || Boolean(pending || queued));
tellRest(); // before the first drawing there is nothing on the page

const afterDraw = /** @type {((drawn: Drawn) => unknown)[]} */ ([]);
export const onDraw = (/** @type {typeof afterDraw[number]} */ callback) => afterDraw.push(callback);
const afterLive = /** @type {(() => unknown)[]} */ ([]);
export const onLive = (/** @type {() => unknown} */ callback) => afterLive.push(callback); // after each drawing of what is still going on

// --- to the server ---------------------------------------------------------------------

export const busy = () => pending && performance.now() - pending.since < GIVEN_UP_MS;

// Says whether the action was sent: one at a time.
/** @type {(name: string, data?: object, run?: string) => boolean} ``run``: one under way that is waited for again */
export function act(name, data = {}, run = token()) {
  if (busy()) {
    if ($(".cq-live")) toast("Still searching. Esc stops and keeps the results so far.");
    return false;
  }
  const { turn, turns, reference, further, beat: drawnLast } = shown(); // lets a restarted server pick up where we are
  const shownBeat = $(".cq-live") ? "" : drawnLast; // with progress left over from a lost connection, all is drawn anew
  pending = { name, turn, since: performance.now(), run };
  request = name === "follow" ? waitedFor() : name === "search" ? { ...data, turns: Number(turns) } : name === "again" ? { ...offered(), turns: Number(turns) } : offered();
  keepPlace(request, run);
  tellRest();
  document.body.classList.add("cq-busy");
  if (SLOW.has(name)) document.body.classList.add("cq-loading");
  $(".cq-grid")?.setAttribute("aria-busy", "true");
  const send = () => trigger?.("act", { do: name, run, shown_turn: turn, shown_reference: reference, shown_further: further, shown_beat: shownBeat, who: voter(), ...data });
  if (trigger) send();
  else waiting.push(send);
  return true;
}

// An action of which only the newest counts, such as a slider being dragged: it waits for the
// one under way and is never lost. Values that were not sent yet are joined.
export function soon(/** @type {string} */ name, /** @type {Change} */ data) {
  const { turn } = shown();
  queued = { name, turn, data: queued?.name === name && queued.turn === turn ? { ...queued.data, ...data } : data };
  tellRest();
  flush();
}
export const waits = () => Boolean(queued);
function flush() {
  if (!queued || busy()) return;
  const { name, turn, data: { shape, ...values } } = queued;
  queued = null;
  if (turn === shown().turn) act(name, shape ? shape(values) : values);
  tellRest();
}

// The action is over; Gradio calls it too, where one failed and nothing is drawn (web/search/events.py).
export function done() {
  pending = null;
  document.body.classList.remove("cq-busy", "cq-loading");
  $(".cq-grid")?.removeAttribute("aria-busy");
  tellRest();
  setTimeout(flush, 0); // after what is drawn now has been seen to
}

// Back and Forward. What is under way goes on at the server, and nobody waits for it here any more: what still comes of
// it until the page is loaded again would be kept as the place to come back to.
let reloads = false;
window.addEventListener("popstate", ({ state }) => {
  if (!elsewhere()) return;
  if (act("go", { address: there(), ...state?.cirque })) return;
  keepEntry(state?.cirque ?? {});
  reloads = true;
  window.location.reload();
});

// --- what it draws ---------------------------------------------------------------------

let beat = "";

// Each panel hands itself over (web/search/tab.py), perhaps when the server has drawn it already.
/** @type {(element: HTMLElement, send: typeof trigger, watch: (value: "value", hears: () => void) => void, name: string) => void} */
export function mount(element, send, watch, name) {
  if (name === "state") {
    trigger = send;
    waiting.splice(0).forEach((call) => call());
  }
  watch("value", schedule);
  if (shown().loaded) schedule();
}

function schedule() {
  if (scheduled) return;
  scheduled = true;
  tellRest();
  setTimeout(drawn, 0); // after every panel of this answer has been drawn
}

function drawn() {
  scheduled = false;
  if (reloads) return;
  loaded ||= Boolean(shown().loaded);
  tellRest();
  const { beat: now, turn, problem, notice, running } = shown();
  if (now === undefined || now === beat) {
    if (pending && $(".cq-live")) { // still at it
      pending.since = performance.now();
      document.body.classList.remove("cq-loading");
      address({ live: true });
      keepPlace(request, pending.run);
      for (const callback of afterLive) callback();
    }
    return restore();
  }
  beat = now;
  const action = pending?.name || "";
  // A search that was stopped at once is no mistake, but leads nowhere either.
  const failed = Boolean(problem) || (["search", "follow"].includes(action) && turn === pending?.turn);
  done();
  restore();
  address({ inPlace: action === "go", live: Boolean(running) });
  request = running ? waitedFor() : null;
  keepPlace(request ?? offered(), running);
  const text = problem || notice || heard(action);
  if (text) say(text);
  for (const callback of afterDraw) callback({ action, failed });
  if (running) act("follow", {}, running); // begun before the page was loaded again
}

function heard(/** @type {string} */ action) {
  const title = $("#results .cq-title")?.textContent || "";
  const count = $$("#results .cq-grid [role=option]:not([hidden])").length;
  const results = ["search", "again", "by_rules", "words", "follow"].includes(action) && count ? `${count} results for ${title}` : "";
  return [$(".cq-taken")?.dataset.said, results].filter(Boolean).join(". ");
}
