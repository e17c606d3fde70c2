// Three steps for a first visit, in a corner of the page. They follow the first search, and can be left at once.
import { h, kept, on } from "../shared/common.js";
import { onDraw } from "./actions.js";
import { presenting } from "./presentation.js";
import { $, queryField, shown } from "./page.js";

const KEY = "cirque.tour", OVER = "over";
const STEPS = [
  { title: "Start from an image", at: ".cq-frame", text: "This is your reference. Keep it, or choose another: upload or paste your own, or take one from the gallery." },
  { title: "Say what should be different", at: ".cq-form", text: "A few words are enough, such as a colour or a shape. What you do not mention stays as it is. Enter searches." },
  { title: "Refine it", at: ".cq-grid", text: "Choose the closest result and say what is still different: that is the next turn. “How” shows why a result was found, “Compare methods” how others answer." },
];

let step = -1; // none is shown
const title = h("h2", {}), text = h("p", {}), place = h("span", { class: "num" });
const next = h("button", { class: "cq-btn small primary", type: "button", onclick: () => show(step + 1) });
const leave = h("button", { class: "cq-btn small", type: "button", text: "Leave the tour", onclick: () => show(STEPS.length) });
const card = h("section", { class: "cq-panel cq-tour", "aria-label": "Tour", onkeydown: (event) => { if (event.key === "Escape") { event.stopPropagation(); show(STEPS.length); } } },
  h("div", { role: "status" }, title, text),
  h("div", { class: "cq-row" }, place, leave, next));

function show(/** @type {number} */ to) {
  const left = card.contains(document.activeElement);
  step = to < STEPS.length ? to : -1;
  kept.write(KEY, step < 0 ? OVER : step);
  draw();
  if (left && !card.isConnected) queryField()?.focus();
}

function draw() {
  for (const marked of document.querySelectorAll(".cq-toured")) marked.classList.remove("cq-toured");
  const now = STEPS[step];
  if (!now || presenting()) return card.remove();
  [title.textContent, text.textContent, place.textContent] = [now.title, now.text, `${step + 1} of ${STEPS.length}`];
  leave.hidden = step + 1 === STEPS.length;
  next.textContent = leave.hidden ? "Done" : "Next";
  $(now.at)?.classList.add("cq-toured");
  if (!card.isConnected) document.body.append(card);
}

onDraw(() => {
  const { turn, loaded } = shown(), begun = kept.read(KEY, /** @type {number | string} */ (-1));
  if (!loaded || typeof begun !== "number") return; // else it is over
  if (begun < 0 && (turn || !$(".cq-wall"))) return; // who comes by a link to a session knows what they want
  step = turn ? STEPS.length - 1 : Math.max(0, Math.min(begun, 1));
  if (begun < 0) kept.write(KEY, step);
  draw();
});
on("click", (event) => {
  if (event.target instanceof Element && event.target.closest("[data-tour]")) show(0);
});
