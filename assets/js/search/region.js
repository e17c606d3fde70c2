// A region cut out of a reference picture: drawn with the mouse, a finger or the arrow keys; the server cuts it.
import { closer, dialog, h, say, tellIn, until } from "../shared/common.js";
import { act, busy } from "./actions.js";
import { $, $$, shown } from "./page.js";
import { nextReference } from "./results/next.js";

/** @typedef {{ id: string, full: string, thumb: string, name: string }} Source */
/** @typedef {[left: number, top: number, width: number, height: number]} Region fractions of the picture */
const STEP = 0.02;
const LEAST = 16; // pixels on a side; the server says so, too
const HELP = "Drag a rectangle, or use the arrow keys to move it and Shift with the arrow keys to resize it.";

const picture = h("img", { alt: "", draggable: "false" });
picture.addEventListener("load", () => { // the stage has the picture's shape: fractions of one are those of the other
  stage.style.setProperty("--ratio", String(picture.naturalWidth / picture.naturalHeight || 1));
});
const box = h("div", { class: "cq-cutbox" }, ...["nw", "ne", "sw", "se"].map((corner) => h("i", { "data-corner": corner })));
const stage = h("div", { class: "cq-cutstage", tabindex: 0, role: "application", "aria-label": "Region to cut out", "aria-describedby": "cq-cut-help" }, picture, box);
const where = h("p", { class: "cq-quiet", role: "status" });
const wrong = h("p", { class: "cq-inline", role: "alert", hidden: true });
const choices = h("div", { class: "cq-row cq-cutchoices", role: "group", "aria-label": "Picture to cut from" });
const yes = h("button", { class: "cq-btn primary", type: "button", onclick: () => until(take()) }, "Use this region ", h("kbd", { text: "Enter", "aria-hidden": "true" }));
const light = dialog({ class: "cq-cut", "aria-label": "Cut out a region" }, h("header", {}, h("h2", { text: "Cut out a region" }), closer()),
  h("p", { class: "cq-quiet", id: "cq-cut-help", text: HELP }), choices, stage, where, wrong,
  h("div", { class: "cq-row" }, yes, h("button", { class: "cq-btn", type: "button", text: "Cancel", onclick: () => light.close() })));

let source = /** @type {Source | null} */ (null);
let region = /** @type {Region} */ ([0.2, 0.2, 0.6, 0.6]);
let sending = false;
let opener = /** @type {HTMLElement | null} */ (null);

// The pictures that the next search starts from: the selected result, or those that the server knows.
function sources() {
  const frame = $(".cq-frame[data-name]"), image = $(".cq-framebtn img");
  if (!frame || !image) return [];
  const tile = nextReference();
  const first = { id: tile || shown().reference || "", full: image.getAttribute("src") || "", thumb: $("img.cq-mini")?.getAttribute("src") || "",
    name: $(".cq-refname")?.textContent || "" };
  const others = $$(".cq-further .cq-one:not([hidden])").map((one) => ({ id: one.dataset.one ?? "", full: one.dataset.full ?? "",
    thumb: one.dataset.thumb ?? "", name: $("button", one)?.title ?? "" }));
  return /** @type {Source[]} */ ([first, ...others]);
}

export function cutOut(/** @type {HTMLElement} */ from) {
  const known = sources();
  if (!known.length) return;
  opener = from;
  choices.hidden = known.length < 2;
  choices.replaceChildren(...known.map((one, place) => h("button", { type: "button", "aria-label": `Reference picture ${place + 1}: ${one.name}`,
    title: one.name, onclick: () => choose(known, place) }, h("img", { src: one.thumb, alt: "", width: 48, height: 48 }))));
  choose(known, 0);
  light.showModal();
  stage.focus();
}
function choose(/** @type {Source[]} */ known, /** @type {number} */ place) {
  source = known[place];
  $$("button", choices).forEach((button, at) => button.setAttribute("aria-pressed", String(at === place)));
  picture.src = source.full;
  region = [0.2, 0.2, 0.6, 0.6];
  tellIn(wrong, "");
  draw();
}
light.addEventListener("close", () => opener?.focus({ preventScroll: true }));

// --- drawing it ----------------------------------------------------------------------------

const clamp = (/** @type {number} */ value, least = 0, most = 1) => Math.min(most, Math.max(least, value));
/** @type {() => [across: number, down: number]} */
const least = () => [Math.min(1, LEAST / (picture.naturalWidth || LEAST)), Math.min(1, LEAST / (picture.naturalHeight || LEAST))];

function draw() {
  const [left, top, width, height] = region.map((value) => `${100 * value}%`);
  Object.assign(box.style, { left, top, width, height });
  const [x, y, across, down] = region.map((value) => Math.round(100 * value));
  where.textContent = `${across} × ${down} % of the picture, ${x} % from the left, ${y} % from the top`;
}
function move(/** @type {number} */ by, /** @type {number} */ down) {
  const [left, top, width, height] = region;
  region = [clamp(left + by, 0, 1 - width), clamp(top + down, 0, 1 - height), width, height];
}
function resize(/** @type {number} */ by, /** @type {number} */ down) {
  const [left, top, width, height] = region, [across, high] = least();
  region = [left, top, clamp(width + by, Math.min(across, 1 - left), 1 - left), clamp(height + down, Math.min(high, 1 - top), 1 - top)];
}
/** @type {(one: [number, number], other: [number, number]) => void} */
function between([x, y], [toX, toY]) {
  region = [Math.min(x, toX), Math.min(y, toY), Math.abs(toX - x), Math.abs(toY - y)];
}
/** @type {(event: PointerEvent) => [number, number]} */
function place(event) {
  const edge = stage.getBoundingClientRect();
  return [clamp((event.clientX - edge.left) / edge.width), clamp((event.clientY - edge.top) / edge.height)];
}

let drag = /** @type {((to: [number, number]) => void) | null} */ (null);
stage.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  event.preventDefault();
  stage.focus({ preventScroll: true });
  stage.setPointerCapture(event.pointerId);
  const from = place(event), [left, top, width, height] = region, before = region;
  const on = /** @type {HTMLElement} */ (event.target), corner = on.dataset.corner;
  if (corner) {
    const fixed = /** @type {[number, number]} */ ([corner.includes("w") ? left + width : left, corner.includes("n") ? top + height : top]);
    drag = (to) => between(fixed, to);
  } else if (on === box) {
    drag = ([x, y]) => { region = before; move(x - from[0], y - from[1]); };
  } else drag = (to) => between(from, to);
});
stage.addEventListener("pointermove", (event) => {
  if (!drag) return;
  drag(place(event));
  draw();
});
function dropped() {
  if (!drag) return;
  drag = null;
  const [left, top] = region, [across, high] = least();
  if (region[2] < across || region[3] < high) { // a click, or nearly one: the smallest region there
    region = [clamp(left, 0, 1 - across), clamp(top, 0, 1 - high), Math.max(region[2], across), Math.max(region[3], high)];
  }
  draw();
}
stage.addEventListener("pointerup", dropped);
stage.addEventListener("pointercancel", dropped);

const ARROWS = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] });
stage.addEventListener("keydown", (event) => {
  const by = ARROWS[event.key];
  if (event.key === "Enter") until(take());
  else if (by) (event.shiftKey ? resize : move)(...by);
  else return;
  event.preventDefault();
  draw();
});

// --- taking it ---------------------------------------------------------------------------------

async function take() {
  if (sending || !source) return;
  if (busy()) return tellIn(wrong, "A search is still running. Try again when it is done.");
  const of = source.id, cut = region;
  sending = true;
  tellIn(wrong, "");
  try {
    const response = await fetch("media/region", { method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ gallery: shown().gallery, image: of, region: cut }) });
    const answer = await response.json();
    if (!response.ok) return tellIn(wrong, answer.problem || "The region was not accepted.");
    if (!act("cut", { image: answer.reference_id, of, region: cut, reference: nextReference() })) {
      return tellIn(wrong, "A search is still running. Try again when it is done.");
    }
    light.close();
    say("The region is now a reference picture.");
  } catch {
    tellIn(wrong, "The server does not answer. Check that it is running and try again.");
  } finally {
    sending = false;
  }
}
