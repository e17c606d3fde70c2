// Drawers: settings, sessions, methods to compare. The server draws them, this opens one at a time.
import { askText, createDelay, on } from "../shared/common.js";
import { act, onDraw } from "./actions.js";
import { forget, remember } from "./address.js";
import { methodParts } from "./methods/settings.js";
import { $, $$ } from "./page.js";

let opener = /** @type {HTMLElement | null} */ (null);
const slidIn = createDelay(60);
export const drawerOpen = () => document.body.dataset.drawer;

export function openDrawer(/** @type {string} */ name, /** @type {HTMLElement} */ from) {
  const drawer = document.getElementById(`drawer-${name}`);
  if (!drawer) return;
  opener = from;
  $("form", drawer)?.reset();
  methodParts();
  document.body.dataset.drawer = name;
  if (name === "sessions") {
    words = "";
    count = 0;
    list();
  }
  slidIn.start(() => $("input:checked, button", drawer)?.focus({ preventScroll: true }));
}

// The list of sessions is asked for when it is looked at, after what is under way.
let waits = false, count = 0; // shown; 0: as many as at first
let words = "", typing = false; // in its field, which is drawn anew with the list
let after = ""; // what has the focus then
const LISTS = ["sessions", "rename_session", "remove_session", "restore_session"];
const asked = () => ({ words, count });
function list() {
  waits = !act("sessions", asked());
}
const listSoon = createDelay(250);
on("input", ({ target }) => {
  if (target.id !== "cq-sessions-words") return;
  words = target.value;
  count = 0;
  listSoon.start(list);
});
on("focusin", ({ target }) => { typing = target.id === "cq-sessions-words"; });

/** @type {Record<string, (session: string, button: HTMLElement) => unknown>} */
const SESSION = {
  rename: rename,
  remove: (session) => { if (send("remove_session", { session })) { after = "[data-session-do=restore]"; forget(session); } },
  restore: (session) => { if (send("restore_session", { session })) { after = `.open[data-session="${session}"]`; remember(session); } },
  more: (_, button) => {
    after = `.cq-sessions li:nth-child(${1 + $$(".cq-sessions li").length}) .open`;
    count = Number(button.dataset.count);
    list();
  },
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
onDraw(({ action }) => {
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

// Says whether one was open.
export function closeDrawers() {
  if (!drawerOpen()) return false;
  delete document.body.dataset.drawer;
  opener?.focus?.({ preventScroll: true });
  return true;
}

// Tab stays inside.
on("keydown", (event) => {
  const drawer = event.key === "Tab" && document.getElementById(`drawer-${drawerOpen()}`);
  if (!drawer) return;
  const stops = $$("button, input, select, a[href]", drawer).filter((element) => element.offsetParent !== null);
  const [first, last] = event.shiftKey ? [stops.at(-1), stops[0]] : [stops[0], stops.at(-1)];
  if (document.activeElement === last) {
    event.preventDefault();
    first?.focus();
  }
});

// The number beside a slider.
on("input", ({ target }) => {
  const output = target.closest(".cq-slide")?.querySelector("output");
  if (output) output.textContent = Number(target.step) >= 1 ? target.value : Number(target.value).toFixed(2);
});
on("reset", (event) => setTimeout(() => {
  for (const slide of $$("input[type=range]", event.target)) slide.dispatchEvent(new Event("input", { bubbles: true }));
}));
