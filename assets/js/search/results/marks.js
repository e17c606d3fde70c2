// "More like this" and "less like this": kept by turn in this tab, sent along with the next search.
import { h, keptInTab, on, say, toast } from "../../shared/common.js";
import { onDraw } from "../actions.js";
import { $, $$, further, shown } from "../page.js";
import { allTiles, selected, tileOf } from "./selection.js";

const KEPT = "cirque.marks";
const MOST = 50;
/** @typedef {"more" | "less"} Side */
/** @typedef {Record<Side, Map<string, string>>} Marks the small picture of each image */
const SIGNS = /** @type {Record<Side, [sign: string, name: string]>} */ ({ more: ["+", "More like this"], less: ["−", "Less like this"] });
const OTHER = /** @type {const} */ ({ more: "less", less: "more" });

const byTurn = /** @type {Map<string, Marks>} */ (new Map());
for (const [turn, sides] of keptInTab.read(KEPT, /** @type {[string, Record<Side, [string, string][]>][]} */ ([]))) {
  byTurn.set(turn, { more: new Map(sides.more), less: new Map(sides.less) });
}
const store = () => keptInTab.write(KEPT, [...byTurn].slice(-40).map(([turn, { more, less }]) => [turn, { more: [...more], less: [...less] }]));

const turn = () => shown().turn || "";
const reference = () => shown().reference || "";
const given = (/** @type {string} */ image) => image === reference() || further().includes(image);
const counts = () => $("#results .cq-grid[role=listbox]")?.dataset.marks === "yes";
const own = () => byTurn.get(turn()) || { more: new Map(), less: new Map() };
export const sign = (/** @type {string} */ image) => (own().more.has(image) ? "more" : own().less.has(image) ? "less" : "");

// What was marked, step by step, so that it can be taken back: the sides as they were before, and how many changes of the
// turn itself could be undone then.
const steps = /** @type {{ turn: string, before: Marks, depth: number }[]} */ ([]);
const STEPS = 50;
const depth = () => Number($(".cq-changes [data-act=undo]")?.dataset.depth ?? 0);
function remember() {
  const { more, less } = own();
  steps.push({ turn: turn(), before: { more: new Map(more), less: new Map(less) }, depth: depth() });
  steps.splice(0, steps.length - STEPS);
}
const latest = () => steps.findLast((step) => step.turn === turn());
export const canTakeBack = () => Boolean(latest());

// Takes the last mark of this turn back; false if the turn was changed after it.
export function takeBack() {
  const step = latest();
  if (!step || step.depth < depth()) return false;
  steps.splice(steps.lastIndexOf(step), 1);
  byTurn.set(turn(), step.before);
  store();
  draw();
  say("Last mark undone.");
  return true;
}

export const marks = () => (counts() ? { more: [...own().more.keys()], less: [...own().less.keys()] } : {});

// What a turn is asked for is one thing: an image is marked once, and never the reference.
function toggle(/** @type {Tile} */ tile, /** @type {Side} */ side) {
  const image = tile.dataset.image;
  if (!counts()) return toast("This method ignores marks.");
  if (given(image)) return toast("This is already the reference.");
  const sides = own(), already = sides[side].has(image);
  if (!already && sides[side].size >= MOST) return toast(`At most ${MOST} marks are allowed.`);
  remember();
  if (already) sides[side].delete(image);
  else {
    sides[side].set(image, tile.dataset.thumb);
    sides[OTHER[side]].delete(image);
  }
  byTurn.set(turn(), sides);
  store();
  draw();
  say(sides[side].has(image) ? `${SIGNS[side][1]}: rank ${tile.dataset.rank}` : `Mark removed from rank ${tile.dataset.rank}`);
}
export function mark(/** @type {Side} */ side) {
  // The result that has the focus, which need not be the selected one.
  const tile = tileOf(/** @type {HTMLElement} */ (document.activeElement ?? document.body)) ?? selected();
  if (!tile) return toast("Select a result first.");
  toggle(tile, side);
}

// The two toggles, for the ledger and the bar on a phone.
export function signs(/** @type {Tile} */ tile) {
  if (!counts()) return "";
  return h("span", { class: "cq-signpair", "data-for": tile.dataset.image },
    .../** @type {[Side, string[]][]} */ (Object.entries(SIGNS)).map(([side, [text, title]]) => h("button", {
      class: "cq-btn small", "data-sign": side, "aria-pressed": String(sign(tile.dataset.image) === side), "aria-label": title,
      title: `${title} (${text})`, disabled: given(tile.dataset.image), text, onclick: () => toggle(tile, side),
    })));
}

on("click", (event) => {
  const button = event.target.closest("[data-mark]"), tile = tileOf(event.target);
  if (button && tile) return toggle(tile, button.dataset.mark === "more" ? "more" : "less");
  const off = event.target.closest("[data-unmark]")?.dataset.unmark;
  if (off) {
    remember();
    for (const side of Object.values(own())) side.delete(off);
    store();
    draw();
  }
  if (event.target.closest("[data-unmark-all]")) {
    remember();
    byTurn.delete(turn());
    store();
    draw();
    say("Marks cleared.");
  }
});

// The keyboard stays where it was: a toggle is no stop of its own.
on("mousedown", (event) => { if (event.target.closest("[data-mark]")) event.preventDefault(); });

function draw() {
  for (const tile of allTiles()) {
    const set = sign(tile.dataset.image);
    const itself = given(tile.dataset.image);
    for (const button of $$("[data-mark]", tile)) {
      button.setAttribute("aria-pressed", String(button.dataset.mark === set));
      button.hidden = itself;
    }
    tile.dataset.signed = itself ? "" : set;
    if (set) tile.setAttribute("aria-description", `marked ${SIGNS[set][1].toLowerCase()}`);
    else tile.removeAttribute("aria-description");
  }
  for (const pair of $$(".cq-signpair")) {
    for (const button of $$("button", pair)) button.setAttribute("aria-pressed", String(sign(pair.dataset.for ?? "") === button.dataset.sign));
  }
  summary();
  for (const follow of followers) follow();
}

function summary() {
  const place = $("[data-marked]");
  if (!place) return;
  const sides = own();
  place.hidden = !counts() || !(sides.more.size || sides.less.size);
  if (place.hidden) return place.replaceChildren();
  const row = (/** @type {Side} */ side) => (sides[side].size ? h("div", { role: "group", "aria-label": `${SIGNS[side][1]}: ${sides[side].size}` },
    h("span", { text: `${SIGNS[side][0]} ${side}`, "data-sign": side }),
    ...[...sides[side]].map(([image, thumb]) => h("button", { "data-unmark": image, title: "Remove this mark", "aria-label": `Remove the mark from ${image}` },
      h("img", { src: thumb, alt: "", width: 34, height: 34 })))) : null);
  place.replaceChildren(h("div", { class: "head" }, h("span", { class: "cq-label", text: "Marked, for the next search" }),
    h("button", { class: "cq-link", "data-unmark-all": true, text: "Clear" })), row("more") ?? "", row("less") ?? "");
}

const followers = /** @type {(() => void)[]} */ ([]);
export const onMarks = (/** @type {() => void} */ callback) => followers.push(callback);

let before = "";
onDraw(({ action, failed }) => {
  // The same results under another id: what was marked of them stays marked.
  const marked = byTurn.get(before);
  if (action === "keep" && !failed && before !== turn() && marked && !byTurn.has(turn())) byTurn.set(turn(), marked);
  before = turn();
  for (const image of [reference(), ...further()].filter(sign)) {
    for (const side of Object.values(own())) side.delete(image);
    store();
  }
  draw();
});
