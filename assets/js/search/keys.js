// Keys that work anywhere on the page, and the list of all of them.
import { dialogOpen, on, setKeys, typing } from "../shared/common.js";
import { act } from "./actions.js";
import { closeDrawers, drawerOpen } from "./drawers.js";
import { stop } from "./live.js";
import { $, queryField } from "./page.js";
import { pick } from "./picker.js";
import { toggleSimilar } from "./results/folds.js";
import { mark } from "./results/marks.js";
import { enlargeTile } from "./results/picture.js";
import { addReference, found, move, refine, select, selected, tileOf, tiles } from "./results/selection.js";

setKeys([
  ["/", "Go to the text"], ["Enter", "Search (in the text field), enlarge (on a result)"], ["Shift Enter", "New line in the text"],
  ["← ↑ → ↓", "Move between results, on the map to the nearest in that direction"], ["Space", "Select a result"], ["o", "Enlarge the selected result, or close it"],
  ["r", "Refine from the selected result"], ["a", "Add the selected result to the reference"], ["+  −", "More, less like the selected result"], ["z  u", "Back one turn"], ["s", "Show or hide similar results that are folded"],
  ["Ctrl Z", "Undo a change to this turn"], ["f", "Found it (with a target)"],
  ["g", "Pick a reference from the gallery"], ["Ctrl V", "Paste an image as reference"], ["Esc", "Stop a search, leave the text field, close a dialog"],
  ["Delete", "Remove the focused chip; Enter edits it"],
  ["?", "These keys"],
]);

const back = () => $(".cq-turns") && act("back");
/** @type {Record<string, () => unknown>} */
const DOES = {
  "/": () => queryField()?.focus(),
  r: () => refine(), a: () => addReference(), f: () => $("[data-found]") && found(), g: () => pick("reference"),
  z: back, u: back,
  "+": () => mark("more"), "=": () => mark("more"), "-": () => mark("less"),
  s: () => toggleSimilar(),
  o: () => { const tile = selected(); if (tile) enlargeTile(tile); },
};
const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

/** @type {(tile: Tile, key: string) => (() => void) | null} */
function onTile(tile, key) {
  if (ARROWS.includes(key) || key === "Home" || key === "End") return () => move(key);
  if (key === " ") return () => select(tile, { focus: true });
  if (key === "Enter") return () => { select(tile); enlargeTile(tile); };
  return null;
}
/** @type {(element: HTMLElement, key: string) => false | (() => void)} */
const sideways = (element, key) => (key === "ArrowLeft" || key === "ArrowRight")
  && !element.closest?.("button, a, summary, [role=button], [role=textbox]") && (() => move(key));

on("keydown", (event) => {
  if (event.defaultPrevented || dialogOpen()) return;
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) {
    const undo = key === "z" && !event.altKey && !event.shiftKey && !typing(target) && $(".cq-changes [data-act=undo]");
    if (undo) {
      event.preventDefault();
      act("undo");
    }
    return;
  }
  if (key === "Escape") {
    if (closeDrawers() || stop()) return;
    if (target === queryField()) (selected() || tiles()[0] || target).focus();
    return;
  }
  if (typing(target) || target.matches?.("input") || drawerOpen()) return;
  const tile = tileOf(target);
  const does = DOES[key] || (tile ? onTile(tile, key) : sideways(target, key));
  if (!does) return;
  event.preventDefault();
  does();
});
