// The selected result: its parts of the score, and what can be done with it.
import { h } from "../../shared/common.js";
import { $, targetOpen } from "../page.js";
import { signs } from "./marks.js";
import { similarButton } from "./folds.js";
import { enlargeTile } from "./picture.js";
import { found, onSelect, refine } from "./selection.js";
import { thumbPair } from "./thumbs.js";

/** @type {Record<string, string>} */
const NAMES = { text: "Text", "edited text": "Text, edited", history: "History", picked: "Picked image", "not picked": "Not picked",
  image: "Image", "image and text": "Image and text", reward: "Must show", penalty: "Must not show", kept: "What stays",
  relevance: "Relevance (CIRQRS)", "behind the first": "Below the results ranked again" };
const MARKED = /** @type {Record<string, string[]>} */ ({ picked: ["more", "Picked and marked"], "not picked": ["less", "Marked less"] });
/** @param {string} part */
const named = (part) => ($("#results .cq-grid")?.dataset[MARKED[part]?.[0]] ? MARKED[part][1] : NAMES[part]) || part.replace(/^reflection (\d+)$/, "Reflection, round $1").replace(/^asked: /, "Asked: ").replace(/^marked: /, "From marks: ");
const number = (/** @type {number} */ value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3);

function ledger(/** @type {Tile} */ tile) {
  const place = $("[data-ledger]");
  if (!place) return;
  const parts = /** @type {[string, number][]} */ (JSON.parse(tile.dataset.parts || "[]"));
  const total = parts.reduce((sum, [, value]) => sum + value, 0);
  const reach = Math.max(
    parts.reduce((sum, [, v]) => sum + Math.max(v, 0), 0), -parts.reduce((sum, [, v]) => sum + Math.min(v, 0), 0), 1e-6,
  );
  const negative = -parts.reduce((sum, [, v]) => sum + Math.min(v, 0), 0);
  const span = reach + negative;
  const bar = h("div", { class: "cq-bar", "aria-hidden": "true" });
  let right = negative, left = negative;
  for (const [name, value] of parts) {
    const width = Math.abs(value);
    const from = value < 0 ? (left -= width) : right;
    if (value >= 0) right += width;
    bar.append(h("i", { "data-part": name, style: `left:${(100 * from) / span}%;width:${(100 * width) / span}%` }));
  }
  bar.append(h("b", { style: `left:${(100 * negative) / span}%` }));
  const rows = parts.map(([name, value]) => h("tr", {},
    h("th", { scope: "row" }, h("i", { "data-part": name }), named(name)),
    h("td", { class: "num", text: number(value) })));
  const sum = h("tr", { class: "total" }, h("th", { scope: "row", text: "Score" }),
    h("td", { class: "num", text: (parts.length ? total : Number(tile.dataset.value)).toFixed(3).replace("-", "−") }));
  const picture = h("button", { class: "thumb", "aria-label": "Enlarge", onclick: () => enlargeTile(tile) },
    h("img", { src: tile.dataset.thumb, alt: "", width: 96, height: 96 }));
  place.replaceChildren(
    h("div", { class: "cq-picked" }, picture, h("div", {},
      h("p", {}, h("b", { text: `Rank ${tile.dataset.rank}` })),
      h("p", { class: "cq-quiet id", title: tile.dataset.image, text: tile.dataset.image }),
      h("div", { class: "cq-row" },
        h("button", { class: "cq-btn small primary", onclick: () => refine(tile.dataset.image) },
          "Refine from this ", h("kbd", { text: "r", "aria-hidden": "true" })),
        signs(tile),
        thumbPair(tile),
        similarButton(tile),
        targetOpen() ? h("button", { class: "cq-btn small", onclick: () => found(tile.dataset.image) }, "Found it") : null))),
    parts.length > 1 ? bar : h("span"),
    h("table", { class: "cq-parts" }, h("tbody", {}, ...rows, sum)),
  );
}

// On a phone the ledger is far away: a bar above the query says what is selected.
const holder = h("div", { class: "cq-pickbar", hidden: true });
document.body.append(holder);
function bar(/** @type {Tile | undefined} */ tile) {
  holder.hidden = !tile;
  document.body.classList.toggle("cq-picking", Boolean(tile));
  if (!tile) return;
  holder.replaceChildren(
    h("img", { src: tile.dataset.thumb, alt: "", width: 36, height: 36 }),
    h("span", { text: `Rank ${tile.dataset.rank}` }),
    signs(tile),
    targetOpen() ? h("button", { class: "cq-btn small", onclick: () => found(tile.dataset.image), text: "Found it" }) : "",
    h("button", { class: "cq-btn small primary", onclick: () => refine(tile.dataset.image), text: "Refine from this" }));
}

onSelect((tile) => {
  if (tile) ledger(tile);
  else $("[data-ledger]")?.replaceChildren();
  bar(tile);
});
