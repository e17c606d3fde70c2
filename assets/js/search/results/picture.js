// The selected result, large.
import { closer, dialog, h, on } from "../../shared/common.js";
import { $, further, shown, targetOpen } from "../page.js";
import { judge, thumbPair } from "./thumbs.js";
import { addReference, found, refine, select, tileOf, tiles } from "./selection.js";

/** @type {Tile} */
let tile;
const picture = h("img", { alt: "" });
const caption = h("p", { "aria-live": "polite" });
/** @type {(text: string, label: string, by: number) => HTMLElement} */
const arrow = (text, label, by) => h("button", { class: "cq-step", type: "button", "aria-label": label, text, onclick: () => step(by) });
const again = h("button", { class: "cq-btn primary", type: "button", onclick: () => { light.close(); refine(tile.dataset.image); } },
  "Refine from this ", h("kbd", { text: "r", "aria-hidden": "true" }));
const add = h("button", { class: "cq-btn", type: "button", title: "The reference is then what the pictures have in common",
  onclick: () => { light.close(); addReference(tile.dataset.image); } }, "Add to the reference ", h("kbd", { text: "a", "aria-hidden": "true" }));
const hit = h("button", { class: "cq-btn", type: "button", text: "Found it", onclick: () => { light.close(); found(tile.dataset.image); } });
const thumbs = h("span");
const light = dialog({ class: "cq-light", "aria-label": "Picture" }, closer(), arrow("‹", "Previous result", -1),
  h("figure", {}, picture, h("figcaption", {}, caption, h("div", { class: "cq-row" }, again, add, hit, thumbs))), arrow("›", "Next result", 1));
// A small picture is not blown up beyond twice its size: blur shows nothing more.
picture.addEventListener("load", () => { picture.style.maxWidth = `${Math.max(320, 2 * picture.naturalWidth)}px`; });

export function enlargeTile(/** @type {Tile} */ which) {
  tile = which;
  picture.src = tile.dataset.full;
  picture.alt = $(".sr", tile)?.textContent ?? "";
  caption.textContent = `Rank ${tile.dataset.rank} of ${tiles().length} · score ${tile.dataset.score}`;
  hit.hidden = !targetOpen();
  add.hidden = [shown().reference, ...further()].includes(tile.dataset.image);
  thumbs.replaceChildren(thumbPair(tile));
  if (!light.open) light.showModal();
  again.focus({ preventScroll: true });
}
function step(/** @type {number} */ by) {
  const all = tiles();
  const to = all[all.indexOf(tile) + by];
  if (!to) return;
  select(to);
  enlargeTile(to);
}
light.addEventListener("close", () => tile.focus({ preventScroll: true }));
light.addEventListener("keydown", (event) => {
  const does = { ArrowLeft: () => step(-1), ArrowUp: () => step(-1), ArrowRight: () => step(1), ArrowDown: () => step(1),
    r: () => again.click(), a: () => add.hidden || add.click(), f: () => hit.hidden || hit.click(), o: () => light.close(),
    y: () => judge("up", tile), n: () => judge("down", tile) }[event.key];
  if (!does) return;
  event.preventDefault();
  does();
});

// A click selects; another one on the same result shows it large.
on("click", (event) => {
  const which = tileOf(event.target);
  if (!which || event.target.closest("[data-mark], [data-similar-of], .cq-thumbs")) return;
  const twice = which.getAttribute("aria-selected") === "true" && which.dataset.touched;
  for (const other of tiles()) delete other.dataset.touched;
  which.dataset.touched = "yes";
  select(which, { focus: true });
  if (twice) enlargeTile(which);
});
