// Keys that work anywhere on the page, and the list of all of them.
import { dialogOpen, on, setKeys, typing } from "../shared/common.js";
import { listed, meant, rowOf } from "../shared/key-table.js";
import { act } from "./actions.js";
import { closeDrawers, drawerOpen } from "./drawers.js";
import { stop } from "./live.js";
import { $, queryField } from "./page.js";
import { pick } from "./picker.js";
import { present, presenting } from "./presentation.js";
import { toggleFold } from "./restore.js";
import { toggleSimilar } from "./results/folds.js";
import { canTakeBack, mark, takeBack } from "./results/marks.js";
import { enlargeTile } from "./results/picture.js";
import { addReference, found, move, refine, select, selected, tileOf, tiles } from "./results/selection.js";
import { judge } from "./results/thumbs.js";

const here = /** @type {{ target: HTMLElement, tile: Tile | null }} */ ({ target: document.body, tile: null }); // of the key pressed now
const branchAt = () => here.target.closest?.(".cq-branch")?.querySelector("button[data-act=delete_branch]");
const onTile = () => Boolean(here.tile);
// On a result, or where arrows do nothing of their own.
const moves = () => onTile() || !here.target.closest?.("button, a, summary, [role=button], [role=textbox]");
/** @type {import("../shared/key-table.js").KeyRow[]} */
const KEYS = [
  { keys: ["/"], text: "Go to the text", does: () => queryField()?.focus() },
  { keys: ["Enter", "Shift Enter"], shown: "Enter", text: "Search (in the text field), enlarge (on a result)", when: onTile,
    does: () => { if (here.tile) { select(here.tile); enlargeTile(here.tile); } } },
  { keys: ["Shift Enter"], text: "New line in the text" },
  { keys: ["ArrowLeft", "ArrowRight", "Shift ArrowLeft", "Shift ArrowRight"], shown: "← ↑ → ↓", text: "Move between results",
    when: moves, does: (key) => move(key) },
  { keys: ["ArrowUp", "ArrowDown", "Home", "End", "Shift ArrowUp", "Shift ArrowDown", "Shift Home", "Shift End"], when: onTile, does: (key) => move(key) },
  { keys: ["Ctrl ArrowLeft", "Ctrl ArrowRight", "Ctrl ArrowUp", "Ctrl ArrowDown"], shown: "Ctrl ← ↑ → ↓", text: "Move between results, keeping the selection", when: onTile,
    does: (key) => move(key, true) },
  { keys: [" "], shown: "Space", text: "Select a result", when: onTile, does: () => { if (here.tile) select(here.tile, { focus: true }); } },
  { keys: ["o"], text: "Enlarge the selected result, or close it", does: () => { const tile = selected(); if (tile) enlargeTile(tile); } },
  { keys: ["r"], text: "Refine from the selected result", does: () => refine() },
  { keys: ["a"], text: "Add the selected result to the reference", does: () => addReference() },
  { keys: ["+", "="], shown: "+", text: "More like this result", does: () => mark("more") },
  { keys: ["-"], shown: "−", text: "Less like this result", does: () => mark("less") },
  { keys: ["y", "n"], text: "Judge the result: this is what I asked for, or not", does: (key) => judge(key === "y" ? "up" : "down") },
  { keys: ["z", "u"], text: "Back one turn", does: () => $(".cq-turns") && act("back") },
  { keys: ["s"], text: "Show or hide folded results", does: () => toggleSimilar() },
  { keys: ["Ctrl z"], when: () => Boolean($("[data-act=restore_branch]")), does: () => $("button[data-act=restore_branch]")?.click() },
  { keys: ["Ctrl z"], shown: "Ctrl Z", text: "Undo a mark, a change to this turn, or a deleted branch", when: () => canTakeBack() || Boolean($(".cq-changes [data-act=undo]")),
    does: () => takeBack() || act("undo") },
  { keys: ["f"], text: "Found it (with a target)", does: () => $("[data-found]") && found() },
  { keys: ["g"], text: "Pick a reference from the gallery", does: () => pick("reference") },
  { keys: ["h"], text: "How the selected result was found", does: () => toggleFold("how") },
  { keys: ["p"], text: "Presentation: reference, words and results only", does: () => present() },
  { keys: ["Ctrl V"], text: "Paste an image, or its address, as reference" },
  { keys: ["Esc"], text: "Stop a search, leave the text field, close a dialog" },
  { keys: ["Delete"], text: "Remove the focused chip (Enter edits it), delete the focused branch", when: () => Boolean(branchAt()),
    does: () => act("delete_branch", { branch: branchAt()?.dataset.branch }) },
  { keys: ["?"], text: "These keys" },
];
setKeys(listed(KEYS));

on("keydown", (event) => {
  if (event.defaultPrevented || dialogOpen()) return;
  const { key, target } = event;
  const control = event.ctrlKey || event.metaKey;
  if (event.altKey) return;
  if (key === "Escape" && !control) {
    if (closeDrawers() || stop()) return;
    if (presenting() && target !== queryField()) return present(false);
    if (target === queryField()) (selected() || tiles()[0] || target).focus();
    return;
  }
  if (typing(target) || (!control && (target.matches?.("input") || drawerOpen()))) return;
  Object.assign(here, { target, tile: tileOf(target) });
  const row = rowOf(KEYS, event);
  if (!row) return;
  event.preventDefault();
  row.does?.(meant(key));
});
