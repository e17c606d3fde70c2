// Which result is selected, and moving between them.
import { toast } from "../../shared/common.js";
import { act, onDraw } from "../actions.js";
import { $, $$ } from "../page.js";

export const tiles = () => /** @type {Tile[]} */ ($$("#results .cq-grid [role=option]"));
export const selected = () => tiles().find((tile) => tile.getAttribute("aria-selected") === "true");
export const tileOf = (/** @type {HTMLElement} */ element) => /** @type {Tile | null} */ (element.closest?.("#results .cq-grid [role=option]"));

const followers = /** @type {((tile: Tile | undefined) => void)[]} */ ([]);
export const onSelect = (/** @type {typeof followers[number]} */ callback) => followers.push(callback); // with no tile where there are no results

let chosen = ""; // survives a new drawing of the same turn
/** @type {(tile: Tile | undefined, how?: { focus?: boolean }) => void} */
export function select(tile, { focus = false } = {}) {
  if (!tile) return;
  chosen = tile.dataset.image;
  for (const other of tiles()) {
    other.setAttribute("aria-selected", String(other === tile));
    other.tabIndex = other === tile ? 0 : -1;
  }
  if (focus) {
    tile.focus({ preventScroll: true });
    tile.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }
  for (const follow of followers) follow(tile);
}

export function move(/** @type {string} */ key) {
  const all = tiles();
  if (!all.length) return;
  const from = all.findIndex((tile) => tile === document.activeElement);
  const current = from >= 0 ? from : all.findIndex((tile) => tile === selected());
  const top = all[0].getBoundingClientRect().top;
  const second = all.findIndex((tile) => tile.getBoundingClientRect().top > top + 4);
  const perRow = second < 0 ? all.length : second;
  const steps = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -perRow, ArrowDown: perRow,
    Home: -all.length, End: all.length });
  const wanted = from < 0 ? Math.max(0, current) : current + steps[key];
  select(all[Math.min(all.length - 1, Math.max(0, wanted))], { focus: true });
}

export function refine(image = selected()?.dataset.image) {
  if (!image) return toast("Select a result first.");
  act("reference", { image });
}
export function found(image = selected()?.dataset.image) {
  if (!image) return toast("Select the result that is the target.");
  act("found", { image });
}

let turn = /** @type {string | undefined} */ ("");
onDraw(() => {
  const grid = $("#results .cq-grid[role=listbox]");
  if (grid && grid.dataset.turn !== turn) {
    turn = grid.dataset.turn;
    for (const tile of tiles()) delete tile.dataset.touched;
    select(tiles()[0]);
  } else if (grid) {
    select(tiles().find((tile) => tile.dataset.image === chosen) || tiles()[0]);
  } else {
    turn = "";
    for (const follow of followers) follow(undefined);
  }
});
