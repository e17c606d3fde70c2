// Near-duplicates under one tile: shown and hidden here, which survives a new drawing of the same turn.
import { h, on, say, toast } from "../../shared/common.js";
import { onDraw, soon } from "../actions.js";
import { $, $$, shown } from "../page.js";
import { allTiles, select, selected, tileOf } from "./selection.js";

const opened = /** @type {Set<string>} */ (new Set());
let turn = /** @type {string | undefined} */ ("");
const under = (/** @type {Tile} */ tile) => allTiles().filter((one) => one.dataset.under === tile.dataset.rank);
const head = (/** @type {Tile} */ tile) => (tile.dataset.under ? allTiles().find((one) => one.dataset.rank === tile.dataset.under) : tile);

function draw() {
  for (const tile of allTiles().filter((one) => one.dataset.similar)) {
    const open = opened.has(tile.dataset.image);
    tile.dataset.opened = open ? "yes" : "";
    for (const one of under(tile)) one.hidden = !open;
    const label = $("[data-similar-of]", tile);
    if (label) label.textContent = open ? "− similar" : `+${tile.dataset.similar} similar`;
  }
  for (const button of $$("[data-similar-button]")) button.textContent = buttonText(button.dataset.similarButton ?? "");
}
const buttonText = (/** @type {string} */ image) => (opened.has(image) ? "Hide similar" : "Show similar");

/** @type {(tile?: Tile) => unknown} */
export function toggleSimilar(tile = selected()) {
  const first = tile && head(tile);
  if (!first?.dataset.similar) return toast(tile ? "Nothing is folded under this result." : "Select a result first.");
  const image = first.dataset.image;
  if (!opened.delete(image)) opened.add(image);
  draw();
  select(first, { focus: true });
  say(opened.has(image) ? `${first.dataset.similar} similar shown` : "Similar results hidden");
}

// For the ledger and the bar on a phone.
export function similarButton(/** @type {Tile} */ tile) {
  const first = head(tile);
  if (!first?.dataset.similar) return "";
  return h("button", { class: "cq-btn small", "data-similar-button": first.dataset.image, text: buttonText(first.dataset.image),
    onclick: () => toggleSimilar(tile) });
}

on("click", (event) => {
  const tile = tileOf(event.target);
  if (tile && event.target.closest("[data-similar-of]")) toggleSimilar(tile);
});
on("mousedown", (event) => { if (event.target.closest("[data-similar-of]")) event.preventDefault(); });
on("change", ({ target }) => { if (target.matches("[data-fold-at]")) soon("fold", { at: Number(target.value) }); });

onDraw(() => {
  if (shown().turn !== turn) opened.clear();
  turn = shown().turn;
  draw();
  const hidden = allTiles().find((tile) => tile.hidden && tile.getAttribute("aria-selected") === "true");
  if (hidden) select(head(hidden));
});
