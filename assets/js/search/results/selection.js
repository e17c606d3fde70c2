// Which result is selected, and moving between them.
import { toast } from "../../shared/common.js";
import { act, onDraw } from "../actions.js";
import { $, $$, shown } from "../page.js";
import { inNextRow } from "./directions.js";

export const allTiles = () => /** @type {Tile[]} */ ($$("#results .cq-grid [role=option]"));
export const tiles = () => allTiles().filter((tile) => !tile.hidden); // without those folded under another
export const folded = () => allTiles().length !== tiles().length; // then places are not ranks
export const selected = () => tiles().find((tile) => tile.getAttribute("aria-selected") === "true");
export const tileOf = (/** @type {HTMLElement} */ element) => /** @type {Tile | null} */ (element.closest?.("#results .cq-grid [role=option]"));

const followers = /** @type {((tile: Tile | undefined) => void)[]} */ ([]);
export const onSelect = (/** @type {typeof followers[number]} */ callback) => followers.push(callback); // with no tile where there are no results

const movers = /** @type {((key: string) => boolean)[]} */ ([]);
export const onMove = (/** @type {typeof movers[number]} */ callback) => movers.push(callback); // true: moved, in a way of its own

const EXPLICIT = ["reference", "surprise", "add_reference", "remove_reference", "cut"]; // a reference that somebody chose, perhaps none of the results
let chosen = ""; // survives a new drawing of the same turn
/** @type {(tile: Tile | undefined, how?: { focus?: boolean }) => void} */
export function select(tile, { focus = false } = {}) {
  if (!tile) return;
  chosen = tile.dataset.image;
  for (const other of allTiles()) {
    other.setAttribute("aria-selected", String(other === tile));
    other.tabIndex = other === tile ? 0 : -1;
  }
  for (const follow of followers) follow(tile); // a map brings it into sight first
  if (focus) {
    tile.focus({ preventScroll: true });
    tile.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }
}

// No result is the selected one: the next words start from the reference that was chosen.
export function deselect() {
  chosen = "";
  tiles().forEach((tile, place) => {
    tile.setAttribute("aria-selected", "false");
    tile.tabIndex = place ? -1 : 0;
  });
  for (const follow of followers) follow(undefined);
}

// Results in the first row of the list; 0 on the map, which has no rows.
export function perRow() {
  if ($("[data-map]")) return 0;
  const all = tiles();
  const top = all[0]?.getBoundingClientRect().top ?? 0;
  const second = all.findIndex((tile) => tile.getBoundingClientRect().top > top + 4);
  return second < 0 ? all.length : second;
}

/** @type {(all: Tile[], from: number, key: string) => number} */
const nextRow = (all, from, key) => ($("[data-map]") ? from // which has no rows
  : inNextRow(all.map((tile) => tile.getBoundingClientRect().top), from, key === "ArrowDown"));

/** @type {(key: string, alone?: boolean) => void} ``alone``: the focus moves, what is selected stays */
export function move(key, alone = false) {
  const all = tiles();
  if (!all.length || (!alone && movers.some((mover) => mover(key)))) return;
  const from = all.findIndex((tile) => tile === document.activeElement);
  const current = from >= 0 ? from : all.findIndex((tile) => tile === selected());
  const steps = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1, Home: -all.length, End: all.length });
  const wanted = from < 0 ? Math.max(0, current) : key in steps ? current + steps[key] : nextRow(all, current, key);
  const to = all[Math.min(all.length - 1, Math.max(0, wanted))];
  if (!alone) return select(to, { focus: true });
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "nearest", behavior: "smooth" });
}

export function refine(image = selected()?.dataset.image) {
  if (!image) return toast("Select a result first.");
  act("reference", { image, alone: Boolean(shown().turn) });
}
export function addReference(image = selected()?.dataset.image) {
  if (!image) return toast("Select a result first.");
  act("add_reference", { image });
}
export function found(image = selected()?.dataset.image) {
  if (!image) return toast("Select the result that is the target.");
  act("found", { image });
}

let turn = /** @type {string | undefined} */ ("");
onDraw(({ action, failed }) => {
  const grid = $("#results .cq-grid[role=listbox]");
  if (grid && grid.dataset.turn !== turn) {
    turn = grid.dataset.turn;
    for (const tile of tiles()) delete tile.dataset.touched;
    select(tiles()[0]);
  } else if (grid) {
    if (EXPLICIT.includes(action) && !failed) chosen = shown().reference ?? "";
    const again = (EXPLICIT.includes(action) && !failed ? tiles() : allTiles()).find((tile) => tile.dataset.image === chosen);
    if (again) select(again);
    else if (EXPLICIT.includes(action) || !chosen) deselect();
    else select(tiles()[0]);
  } else {
    turn = "";
    for (const follow of followers) follow(undefined);
  }
});
