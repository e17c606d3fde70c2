// A person's own judgement of a result: "this is what I asked for", or not. Stored at once, drawn from what the server knows.
import { api, h, messageOf, on, say, toast } from "../../shared/common.js";
import { onDraw } from "../actions.js";
import { voter } from "../address.js";
import { $, $$, shown } from "../page.js";
import { createGiven } from "./given.js";
import { allTiles, selected, tileOf } from "./selection.js";

/** @typedef {"up" | "down"} Thumb */
/** @typedef {Record<string, [own: Thumb | "", othersUp: number, othersDown: number]>} Known by image */
const TEXTS = /** @type {Record<Thumb, [key: string, text: string]>} */ ({ up: ["y", "This is what I asked for"], down: ["n", "This is not what I asked for"] });
const SIDES = /** @type {Thumb[]} */ (["up", "down"]);
const ABOUT = "Your judgement, kept with the session for reports. It does not change the search; + and − do.";

const here = () => shown().session && shown().turn && shown().thumbs ? `${shown().turn}` : ""; // "": nobody is asked
/** @type {() => Known} */
const known = () => JSON.parse(shown().thumbs || "{}");
const given = createGiven((/** @type {{ session: string, turn: string, image: string }} */ data, /** @type {Thumb | ""} */ thumb) =>
  api("POST", "thumbs", { ...data, thumb, who: voter() }), (problem) => {
  draw();
  toast(`Not kept. ${messageOf(problem)}`);
});
const keyOf = (/** @type {string} */ image) => JSON.stringify([here(), image]);

/** @type {(image: string, stored?: Known) => Thumb | ""} */
const own = (image, stored = known()) => given.of(keyOf(image)) ?? stored[image]?.[0] ?? "";

/** @type {(tile: Tile, thumb: Thumb) => unknown} */
function toggle(tile, thumb) {
  const image = tile.dataset.image, { session = "", turn = "" } = shown();
  if (!here()) return toast("Results are not judged here.");
  const now = own(image) === thumb ? "" : thumb;
  given.give(keyOf(image), now, { session, turn, image });
  draw();
  say(now ? `${TEXTS[now][1]}: rank ${tile.dataset.rank}` : `Judgement removed: rank ${tile.dataset.rank}`);
}

// From the keyboard: the result that has the focus, which need not be the selected one.
/** @type {(thumb: Thumb, tile?: Tile) => unknown} */
export function judge(thumb, tile = tileOf(/** @type {HTMLElement} */ (document.activeElement ?? document.body)) ?? selected()) {
  return tile ? toggle(tile, thumb) : toast("Select a result first.");
}

// The two toggles in words, for the ledger and the enlarged picture.
export function thumbPair(/** @type {Tile} */ tile) {
  if (!here()) return "";
  const pair = h("span", { class: "cq-thumbpair", role: "group", "aria-label": "Is this what you asked for?", "data-for": tile.dataset.image },
    ...SIDES.map((side) => h("button", { class: "cq-btn small", type: "button", "data-judge": side, "aria-label": TEXTS[side][1],
      title: `${TEXTS[side][1]} (${TEXTS[side][0]}). ${ABOUT}`, onclick: () => toggle(tile, side) }, h("i", { "aria-hidden": "true" }))));
  press(pair, own(tile.dataset.image));
  return pair;
}

const press = (/** @type {HTMLElement} */ place, /** @type {Thumb | ""} */ thumb) => {
  for (const button of $$("[data-judge]", place)) button.setAttribute("aria-pressed", String(button.dataset.judge === thumb));
};

// On a tile the toggles are no stop of their own, as marks are none: a key does the same.
const onTile = () => h("span", { class: "cq-thumbs" }, ...SIDES.map((side) => h("i", {
  "data-judge": side, title: `${TEXTS[side][1]} (${TEXTS[side][0]}). ${ABOUT}` })));

function draw() {
  const stored = known(), asked = Boolean(here());
  for (const tile of allTiles()) {
    const meta = $(".meta", tile); // points of a map have none: keys and the ledger judge there
    let place = /** @type {HTMLElement | null} */ ($(".cq-thumbs", tile));
    if (!asked) {
      place?.remove();
      continue;
    }
    if (!place) meta?.append(place = onTile());
    const thumb = own(tile.dataset.image, stored), [, up = 0, down = 0] = stored[tile.dataset.image] ?? [];
    const others = up + down ? `Of the others, ${up} say${up === 1 ? "s" : ""} that it is what was asked for, and ${down} that it is not` : "";
    if (place) press(place, thumb);
    tile.dataset.thumbed = thumb;
    tile.dataset.others = !others ? "" : up > down ? "up" : down > up ? "down" : "both";
    if (place) place.title = others;
    let words = /** @type {HTMLElement | null} */ ($(".cq-thumbwords", tile));
    if (!words && (thumb || others)) tile.append(words = h("span", { class: "sr cq-thumbwords" }));
    if (words) words.textContent = [thumb && `, your judgement: ${TEXTS[thumb][1].toLowerCase()}`, others && `, ${others}`].filter(Boolean).join("");
  }
  for (const pair of $$(".cq-thumbpair")) press(pair, own(pair.dataset.for ?? "", stored));
}
onDraw(draw);

on("click", (event) => {
  const button = event.target.closest(".cq-thumbs [data-judge]"), tile = tileOf(event.target);
  if (button && tile) toggle(tile, button.dataset.judge === "up" ? "up" : "down");
});
on("mousedown", (event) => { if (event.target.closest(".cq-thumbs")) event.preventDefault(); }); // the keyboard stays where it was
