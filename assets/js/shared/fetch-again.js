// Pictures that could not be fetched are asked for again once the server answers, without a reload.
import { at } from "./elements.js";

const TRIES = 3, EVERY_MS = 2000;
const tries = /** @type {WeakMap<HTMLImageElement, number>} */ (new WeakMap());
const waiting = /** @type {Set<HTMLImageElement>} */ (new Set());
let timer = 0;

// False after three tries: the server answers, but has no such picture.
export function fetchAgain(/** @type {HTMLImageElement} */ image) {
  if (!image.getAttribute("src") || (tries.get(image) ?? 0) >= TRIES) return false;
  waiting.add(image);
  timer ||= window.setTimeout(look, EVERY_MS);
  return true;
}

async function look() {
  const answers = await fetch(at("healthz"), { method: "HEAD", cache: "no-store" }).then(({ ok }) => ok, () => false);
  timer = answers ? 0 : window.setTimeout(look, EVERY_MS);
  if (!answers) return;
  for (const image of waiting) {
    tries.set(image, (tries.get(image) ?? 0) + 1);
    if (image.isConnected) image.src = image.getAttribute("src") ?? "";
  }
  waiting.clear();
}
