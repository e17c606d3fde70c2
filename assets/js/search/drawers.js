// Drawers: settings, sessions, methods to compare. The server draws them, this opens one at a time.
import { methodParts } from "./methods/settings.js";
import { $, $$ } from "./page.js";

let opener = null;
export const drawerOpen = () => document.body.dataset.drawer;

export function openDrawer(name, from) {
  const drawer = document.getElementById(`drawer-${name}`);
  if (!drawer) return;
  opener = from;
  $("form", drawer)?.reset();
  methodParts();
  document.body.dataset.drawer = name;
  setTimeout(() => $("input:checked, button", drawer)?.focus({ preventScroll: true }), 60);
}

// Says whether one was open.
export function closeDrawers() {
  if (!drawerOpen()) return false;
  delete document.body.dataset.drawer;
  opener?.focus?.({ preventScroll: true });
  return true;
}

// Tab stays inside.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Tab" || !drawerOpen()) return;
  const stops = $$("button, input, select, a[href]", document.getElementById(`drawer-${drawerOpen()}`))
    .filter((element) => element.offsetParent !== null);
  const [first, last] = event.shiftKey ? [stops.at(-1), stops[0]] : [stops[0], stops.at(-1)];
  if (document.activeElement === last) {
    event.preventDefault();
    first.focus();
  }
});

// The number beside a slider.
document.addEventListener("input", (event) => {
  const output = event.target.closest(".cq-slide")?.querySelector("output");
  if (output) output.textContent = Number(event.target.step) >= 1 ? event.target.value : Number(event.target.value).toFixed(2);
});
document.addEventListener("reset", (event) => setTimeout(() => {
  for (const slide of $$("input[type=range]", event.target)) slide.dispatchEvent(new Event("input", { bubbles: true }));
}));
