// Texts suggested for the picture that the next words start from. Asked for once per picture, after it is shown.
import { createDelay, h, until } from "../shared/common.js";
import { onDraw } from "./actions.js";
import { $, shown } from "./page.js";
import { nextReference } from "./results/next.js";
import { onSelect } from "./results/selection.js";

const known = /** @type {Map<string, Promise<string[]>>} */ (new Map());
const KEPT = 100;
const later = createDelay(150); // the arrow keys pass by results

function texts(/** @type {string} */ query) {
  const before = known.get(query);
  if (before) return before;
  const asked = fetch(`media/suggestions?${query}`).then(async (reply) => {
    if (!reply.ok) throw new Error(reply.statusText); // asked for again when the picture is shown again
    return /** @type {string[]} */ ((await reply.json()).texts ?? []);
  });
  known.set(query, asked);
  asked.catch(() => known.delete(query));
  for (const oldest of known.keys()) if (known.size > KEPT) known.delete(oldest);
  return asked;
}

let wanted = "";
async function fill() {
  const image = nextReference() || shown().reference;
  if (!image) return;
  wanted = new URLSearchParams({ gallery: shown().gallery ?? "", image }).toString();
  const query = wanted;
  const found = await texts(query).catch(() => []);
  const place = $("[data-suggestions]");
  if (query !== wanted || !place || place.dataset.of === query && place.childElementCount) return;
  place.dataset.of = query;
  place.replaceChildren(...found.map((text) => h("button", { type: "button", "data-chip": text, text })));
}
const fillLater = () => later.start(() => until(fill()));
onSelect(fillLater);
onDraw(fillLater);
