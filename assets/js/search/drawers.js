// Drawers: settings, sessions, methods to compare. The server draws them, this opens one at a time.
import { createDelay, on } from "../shared/common.js";
import { methodParts } from "./methods/settings.js";
import { $, $$ } from "./page.js";

let opener = /** @type {HTMLElement | null} */ (null);
const slidIn = createDelay(60);
export const drawerOpen = () => document.body.dataset.drawer;

const afterOpen = /** @type {((name: string) => unknown)[]} */ ([]);
export const onOpen = (/** @type {typeof afterOpen[number]} */ callback) => afterOpen.push(callback);

export function openDrawer(/** @type {string} */ name, /** @type {HTMLElement} */ from) {
  const drawer = document.getElementById(`drawer-${name}`);
  if (!drawer) return;
  opener = from;
  $("form", drawer)?.reset();
  methodParts();
  document.body.dataset.drawer = name;
  for (const callback of afterOpen) callback(name);
  slidIn.start(() => $("input:checked, button", drawer)?.focus({ preventScroll: true }));
}

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
