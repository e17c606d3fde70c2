// Weights that are dragged, and what the page shows of them at once.
import { act, onDraw, soon, waits } from "../actions.js";
import { $, $$ } from "../page.js";

let gesture = 0, sent = -1, dragging = false;
const settle = () => { dragging = false; gesture += 1; };
document.addEventListener("pointerdown", (event) => { dragging ||= event.target.matches?.("[data-weight]"); });
document.addEventListener("pointerup", settle);
document.addEventListener("pointercancel", settle);
document.addEventListener("keyup", (event) => { if (event.target.matches?.("[data-weight]")) gesture += 1; });
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-weight]")) return;
  const mine = gesture; // one gesture is one step to undo, however many values it passes
  soon("adjust", { weight: Number(event.target.value), shape: (data) => {
    const going_on = sent === mine;
    sent = mine;
    return { ...data, going_on };
  } });
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-moves]")) act("moves", { on: event.target.checked });
});

onDraw(() => {
  for (const slider of $$("[data-weight]")) {
    const output = $("output", slider.parentElement);
    if (!dragging && !waits()) slider.value = slider.dataset.value;
    output.textContent = Number(slider.value).toFixed(2);
  }
  for (const box of $$("[data-moves]")) box.checked = box.dataset.on === "yes";
});
