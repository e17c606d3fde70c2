// Text and image each alone: asked for once the results stand, kept for each turn, and shown for
// the selected result too.
import { h, on, until } from "../../shared/common.js";
import { onDraw } from "../actions.js";
import { $, fillIn } from "../page.js";
import "./ledger.js"; // which is drawn before
import { onSelect, selected } from "./selection.js";

/** @typedef {{ html: string, ranks?: Record<string, (number | null)[]>, problem?: string, again?: boolean }} Answer */
const known = /** @type {Map<string, Promise<Answer>>} */ (new Map()); // by address and whether the target is shown
const KEPT = 50;
let alone = /** @type {Record<string, (number | null)[]>} */ ({}); // the ranks of each image

function answer(/** @type {string} */ key, /** @type {string} */ address) {
  const before = known.get(key);
  if (before) return before;
  const asked = fetch(address).then((reply) => reply.json())
    .catch(() => ({ problem: "The server cannot be reached.", again: true }));
  known.set(key, asked);
  asked.then((found) => { if (found.again) known.delete(key); });
  for (const oldest of known.keys()) if (known.size > KEPT) known.delete(oldest);
  return asked;
}

async function fill() {
  const section = $("#how [data-audit]");
  if (!section?.closest("details[open]")) return; // it costs two rankings of the gallery
  const { audit = "", shown } = section.dataset;
  const found = await answer(`${audit} ${shown}`, audit);
  const place = $("[data-audit-place]", section);
  if (!place || !section.isConnected) return; // another turn was drawn meanwhile
  if (found.problem) place.replaceChildren(h("p", { class: "cq-quiet", text: found.problem }));
  else fillIn(place, found.html);
  alone = found.ranks || {};
  showAlone();
}

// The line under the ledger of the selected result.
function showAlone() {
  const place = $("[data-ledger]");
  const tile = selected();
  const ranks = tile && alone[tile.dataset.image];
  $(".cq-alonerank", place || document)?.remove();
  if (!place || !ranks) return;
  const [text, image] = ranks.map((rank) => rank && rank.toLocaleString("en"));
  place.append(h("p", { class: "cq-quiet cq-alonerank" },
    text ? `Rank ${text} with the text only, ` : "", `${text ? "rank" : "Rank"} ${image} with the image only.`));
}
onSelect(showAlone);

onDraw(() => {
  alone = {};
  until(fill());
});
on("toggle", ({ target }) => { if (target.id === "how-fold" && target.hasAttribute("open")) until(fill()); }, true);
