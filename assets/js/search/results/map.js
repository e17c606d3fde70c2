// The results as a map: panning, zooming, and which of them are shown as pictures.
import { h, on } from "../../shared/common.js";
import { onDraw } from "../actions.js";
import { $, $$, narrow, shown } from "../page.js";
import { nearest, uncrowded } from "./directions.js";
import { onMove, onSelect, select, selected, tiles } from "./selection.js";

const MOST = 12, STEP = 1.5, MARGIN = 36, STILL = 5;
let view = { zoom: 1, x: 0, y: 0 }; // the map is ``zoom`` times the frame, and moved by so many pixels
let turn = /** @type {string | undefined} */ ("");
const frame = () => $("[data-map]");
const edge = () => (narrow(720).matches ? 44 : 58);

const room = () => {
  const { clientWidth, clientHeight } = /** @type {HTMLElement} */ (frame());
  return { width: clientWidth - 2 * MARGIN, height: clientHeight - 2 * MARGIN };
};
/** @type {(tile: Tile) => { x: number, y: number, tile: Tile }} */
function placeOf(tile) {
  const { width, height } = room();
  return { x: (Number(tile.dataset.x) / 100) * width * view.zoom, y: (Number(tile.dataset.y) / 100) * height * view.zoom, tile };
}

function show() {
  const box = frame(), map = box && $(".cq-map", box);
  if (!box || !map) return;
  const { width, height } = room();
  const most = { x: width * (view.zoom - 1), y: height * (view.zoom - 1) };
  view.x = Math.min(0, Math.max(-most.x, view.x));
  view.y = Math.min(0, Math.max(-most.y, view.y));
  map.style.width = `${width * view.zoom}px`;
  map.style.height = `${height * view.zoom}px`;
  map.style.translate = `${MARGIN + view.x}px ${MARGIN + view.y}px`;
  map.style.setProperty("--edge", `${edge()}px`);
  box.dataset.zoomed = view.zoom > 1 ? "yes" : "";
  const all = tiles();
  const pictured = uncrowded(all.map(placeOf), edge() + 4);
  all.forEach((tile, at) => picture(tile, pictured[at]));
  for (const button of $$("button[data-zoom]", box)) button.disabled = button.dataset.zoom === "in" ? view.zoom >= MOST : view.zoom <= 1;
}

/** @type {(tile: Tile, on: boolean) => void} */
function picture(tile, pictured) {
  tile.classList.toggle("pictured", pictured);
  if ((pictured || tile.getAttribute("aria-selected") === "true") && !$("img", tile)) {
    tile.append(h("img", { src: tile.dataset.thumb, alt: "", draggable: "false", decoding: "async", width: 58, height: 58 }));
  }
}

// ``x`` and ``y``: the point of the frame that stays where it is.
function zoom(/** @type {number} */ by, /** @type {{ x: number, y: number } | undefined} */ at = undefined) {
  const { width, height } = room();
  const { x, y } = at ?? { x: width / 2, y: height / 2 };
  const zoomed = Math.min(MOST, Math.max(1, view.zoom * by));
  const ratio = zoomed / view.zoom;
  view = { zoom: zoomed, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio };
  show();
}
/** @type {(event: { clientX: number, clientY: number }) => { x: number, y: number }} */
function inFrame({ clientX, clientY }) {
  const { left, top } = /** @type {HTMLElement} */ (frame()).getBoundingClientRect();
  return { x: clientX - left - MARGIN, y: clientY - top - MARGIN };
}

// --- hands -----------------------------------------------------------------------------

on("click", (event) => {
  const how = event.target.closest("[data-zoom]")?.dataset.zoom;
  if (how === "all") { view = { zoom: 1, x: 0, y: 0 }; show(); } else if (how) zoom(how === "in" ? STEP : 1 / STEP);
});
document.addEventListener("wheel", (event) => {
  const box = event.target instanceof Element && event.target.closest("[data-map]");
  if (!box || !(event.ctrlKey || event.metaKey || box === document.activeElement?.closest("[data-map]"))) return; // else the page scrolls
  event.preventDefault();
  zoom(Math.exp(-event.deltaY / 400), inFrame(event));
}, { passive: false });

const held = /** @type {Map<number, { x: number, y: number }>} */ (new Map()); // fingers, or the mouse
let moved = 0;
const apart = () => { const [a, b] = [...held.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
on("pointerdown", (event) => {
  if (event.button || !event.target.closest(".cq-mapframe") || event.target.closest("[data-zoom]")) return;
  if (!held.size) moved = 0;
  held.set(event.pointerId, inFrame(event));
});
on("pointermove", (event) => {
  const before = held.get(event.pointerId);
  if (!before || !frame()) return;
  const now = inFrame(event);
  if (held.size === 2) {
    const was = apart();
    held.set(event.pointerId, now);
    zoom(apart() / Math.max(1, was), now);
    moved = STILL + 1;
    return;
  }
  moved += Math.hypot(now.x - before.x, now.y - before.y);
  held.set(event.pointerId, now);
  if (moved <= STILL || view.zoom === 1) return;
  view = { ...view, x: view.x + now.x - before.x, y: view.y + now.y - before.y };
  show();
});
for (const over of /** @type {const} */ (["pointerup", "pointercancel"])) on(over, (event) => held.delete(event.pointerId));
// A drag is no click on what is under it.
document.addEventListener("click", (event) => {
  if (moved > STILL && event.target instanceof Element && event.target.closest(".cq-mapframe")) event.stopPropagation();
  moved = 0;
}, true);

// --- selection ----------------------------------------------------------------------------

onMove((key) => {
  const from = selected();
  if (!frame() || !from) return false;
  const others = tiles().filter((tile) => tile !== from).map(placeOf);
  const ends = /** @type {Record<string, Tile | undefined>} */ ({ Home: tiles()[0], End: tiles().at(-1) });
  select(ends[key] ?? nearest(placeOf(from), others, key)?.tile, { focus: true });
  return true;
});
onSelect((tile) => {
  if (!tile || !frame()) return;
  picture(tile, tile.classList.contains("pictured"));
  const { x, y } = placeOf(tile), { width, height } = room();
  if (x + view.x < 0 || x + view.x > width || y + view.y < 0 || y + view.y > height) {
    view = { ...view, x: width / 2 - x, y: height / 2 - y };
    show();
  }
});

onDraw(() => {
  if (!frame()) return;
  if (shown().turn !== turn) view = { zoom: 1, x: 0, y: 0 };
  turn = shown().turn;
  show();
});
window.addEventListener("resize", show);
