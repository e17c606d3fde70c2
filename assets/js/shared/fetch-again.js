// Pictures that could not be fetched are asked for again once the server answers, without a reload. Where an original is
// away, the small picture that the server keeps takes its place, with the reason.
import { at, toast } from "./elements.js";
import { until } from "./rest.js";

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

const ORIGINAL = /((?:media|benchmarks)\/)full\?/;

// False for what is no original.
export function smallInstead(/** @type {HTMLImageElement} */ image) {
  const address = image.getAttribute("src") ?? "";
  if (!ORIGINAL.test(address)) return false;
  until(fetch(address, { cache: "no-store" }).then(async (answer) => {
    const { error } = answer.ok ? { error: "" } : await answer.json();
    if (image.getAttribute("src") !== address) return;
    if (!error) return void fetchAgain(image);
    image.src = address.replace(ORIGINAL, "$1thumb?");
    const caption = image.closest("figure")?.querySelector("figcaption p");
    if (caption) caption.textContent += ` · a small copy: ${error}`;
    else toast(`A small copy is shown: ${error}`);
  }).catch(() => fetchAgain(image)));
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
