// My sessions: the list, which the server draws; what is typed, renamed, removed and imported there.
import { askText, createDelay, h, on, tellIn, toast, until } from "../shared/common.js";
import { act, onDraw } from "./actions.js";
import { forget, mySessions, remember } from "./address.js";
import { closeDrawers, drawerOpen, onOpen } from "./drawers.js";
import { $, $$ } from "./page.js";

// Asked for when it is looked at, after what is under way.
let waits = false, count = 0; // shown; 0: as many as at first
let words = "", typing = false; // in its field, which is drawn anew with the list
let after = ""; // what has the focus then
const LISTS = ["sessions", "rename_session", "remove_session", "restore_session"];
// With those that this browser knows: an import, or another tab, may have added some since the page was loaded.
const asked = () => ({ words, count, sessions: mySessions() });
function list() {
  waits = !act("sessions", asked());
}
onOpen((name) => {
  if (name !== "sessions") return;
  words = "";
  count = 0;
  list();
});
const listSoon = createDelay(250);
on("input", ({ target }) => {
  if (target.id !== "cq-sessions-words") return;
  words = target.value;
  count = 0;
  listSoon.start(list);
});
on("focusin", ({ target }) => { typing = target.id === "cq-sessions-words"; });

let moved = ""; // the session that is being removed or put back
/** @type {Record<string, (session: string, button: HTMLElement) => unknown>} */
const SESSION = {
  rename: rename,
  remove: (session) => { if (send("remove_session", { session })) { after = "[data-session-do=restore]"; moved = session; } },
  restore: (session) => { if (send("restore_session", { session })) { after = `.open[data-session="${session}"]`; moved = session; } },
  more: (_, button) => {
    after = `.cq-sessions li:nth-child(${1 + $$(".cq-sessions li").length}) .open`;
    count = Number(button.dataset.count);
    list();
  },
  import: () => chooser.click(),
  all: () => { words = ""; after = "#cq-sessions-words"; list(); },
};
on("click", ({ target }) => {
  const button = target.closest("button[data-session-do]");
  if (button) SESSION[button.dataset.sessionDo ?? ""]?.(button.dataset.session ?? "", button);
});
const send = (/** @type {string} */ name, /** @type {object} */ data) => act(name, { ...data, ...asked() });
async function rename(/** @type {string} */ session, /** @type {HTMLElement} */ button) {
  const name = await askText("Name this session", button.dataset.name, "for example: dress for the wedding");
  if (name !== null && send("rename_session", { session, name })) after = `[data-session-do=rename][data-session="${session}"]`;
}
onDraw(({ action, failed }) => {
  // Not before the server has done it: of sessions that belong to no account this is the only list.
  if (!failed && action === "remove_session") forget(moved);
  if (!failed && action === "restore_session") remember(moved);
  if (drawerOpen() !== "sessions") return;
  if (waits) list();
  if (!LISTS.includes(action)) return;
  const field = $("input#cq-sessions-words");
  if (field && field.value !== words) field.value = words;
  if (document.activeElement !== document.body) return;
  const next = after ? $(`#drawer-sessions ${after}`) : typing ? field : null;
  (next ?? field)?.focus({ preventScroll: true });
  after = "";
});

// --- importing a file ------------------------------------------------------------------------

const chooser = h("input", { type: "file", accept: ".json,application/json", hidden: true, "aria-label": "File of an exported session" });
chooser.addEventListener("change", () => {
  const file = chooser.files?.[0];
  chooser.value = "";
  if (file) until(take(file));
});
async function take(/** @type {File} */ file) {
  complain("");
  try {
    const reply = await fetch("import/sessions", { method: "POST", body: file, headers: { "Content-Type": "application/json" } });
    const { problem, sessions } = await reply.json();
    if (!reply.ok) return complain(problem || "The file was not accepted.");
    const [{ id, notes }] = /** @type {{ id: string, notes: string[] }[]} */ (sessions);
    for (const session of sessions) remember(session.id);
    if (act("open_session", { session: id })) closeDrawers();
    if (notes.length) toast(notes.join(" "));
  } catch {
    complain("The server does not answer. Check that it is running and try again.");
  }
}
function complain(/** @type {string} */ text) {
  const line = $("[data-import-problem]");
  if (line) tellIn(line, text);
}
