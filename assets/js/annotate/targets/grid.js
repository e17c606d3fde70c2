// The candidates as a grid: each with its image and three marks. What is chosen lives outside: ``act`` asks for a change
// and ``draw`` shows the answer.
import { h } from "../../shared/common.js";
import { createChoice } from "../parts.js";
import { nameOf } from "./answer.js";
import { enlarge, imageOf } from "../../shared/pictures.js";
import { t } from "../../shared/language.js";

/** @typedef {{ element: HTMLElement, frame: HTMLButtonElement, choice: Choice, image: Picture, name: string }} Tile */

/** A button with an image, which it enlarges. @param {Picture} image @param {string} name @param {"small" | "large"} size @param {() => void} large */
export function frameOf(image, name, size, large) {
  const missing = h("span", { class: "st-missing", text: t("Image unavailable.") });
  const frame = h("button", { class: "st-frame", type: "button", disabled: Boolean(image.missing), onclick: large,
    "aria-label": image.missing ? t("{name}: image unavailable", { name }) : t("{name}: enlarge", { name }) });
  if (image.missing) frame.append(missing);
  else {
    const shown = imageOf(image[size], { alt: t("{name}, image", { name }) });
    shown.addEventListener("error", () => { shown.replaceWith(missing); frame.disabled = true; }, { once: true });
    frame.append(shown);
  }
  return frame;
}

/** @param {TargetPage} page @param {{ mark(token: string, mark: string): void, active(place: number): void }} act */
export function createGrid({ choices: marks, question }, act) {
  const element = h("ol", { class: "tg-grid", "aria-label": t("Images") });
  let tiles = /** @type {Tile[]} */ ([]);

  // Every image there is, from this one on; the arrows lead through them.
  function large(/** @type {number} */ place) {
    const there = tiles.flatMap(({ image, name }, number) => (image.missing ? [] : [{ number, name, large: image.large }]));
    if (!there.length) return;
    const back = document.activeElement;
    enlarge(there, Math.max(0, there.findIndex(({ number }) => number === place))).then(() => { if (back instanceof HTMLElement) back.focus({ preventScroll: true }); });
  }

  /** @type {(image: Picture, place: number) => Tile} */
  function tileOf(image, place) {
    const name = t("Image {number}", { number: place + 1 }), frame = frameOf(image, name, "small", () => { act.active(place); large(place); });
    const choice = createChoice({ class: "tg-marks", label: `${name}: ${question || t("does it answer the query?")}`, pick: (mark) => act.mark(image.token, mark),
      options: marks.map(({ mark }) => ({ value: mark, content: nameOf(marks, mark) })) });
    choice.element.addEventListener("focusin", () => act.active(place));
    return { element: h("li", { class: "tg-tile" }, frame, choice.element), frame, choice, image, name };
  }

  return {
    element,
    large,
    open(/** @type {Picture[]} */ images) {
      tiles = images.map(tileOf);
      element.replaceChildren(...tiles.map((tile) => tile.element));
      element.scrollTop = 0;
    },
    name: (/** @type {number} */ place) => tiles[place]?.name ?? "",
    // As the window lays them out.
    get columns() {
      const top = tiles[0]?.element.offsetTop;
      const next = tiles.findIndex((tile) => tile.element.offsetTop !== top);
      return next < 0 ? Math.max(1, tiles.length) : next;
    },
    lead: (/** @type {number} */ place) => tiles[place]?.element.scrollIntoView({ block: "nearest" }),
    draw(/** @type {TargetMarks} */ { marks: given }, /** @type {number} */ active) {
      tiles.forEach(({ element: tile, choice, image }, place) => {
        choice.draw(given[image.token]);
        tile.classList.toggle("active", place === active);
        tile.dataset.mark = given[image.token] ?? "";
      });
    },
    /** The images without a mark are shown as such. */
    complain(/** @type {boolean} */ on) { element.classList.toggle("complains", on); },
  };
}
