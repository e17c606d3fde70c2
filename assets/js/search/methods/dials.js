// Weights that are dragged, and what the page shows of them at once.
import { on } from "../../shared/common.js";
import { act, onDraw, soon, waits } from "../actions.js";
import { $$ } from "../page.js";

let gesture = 0, sent = -1, dragging = false;
const settle = () => { dragging = false; gesture += 1; };
on("pointerdown", (event) => { dragging ||= event.target.matches?.("[data-weight]"); });
on("pointerup", settle);
on("pointercancel", settle);
on("keyup", (event) => { if (event.target.matches?.("[data-weight]")) gesture += 1; });
on("input", (event) => {
  if (!event.target.matches("[data-weight]")) return;
  const mine = gesture; // one gesture is one step to undo, however many values it passes
  soon("adjust", { weight: Number(event.target.value), shape: (data) => {
    const going_on = sent === mine;
    sent = mine;
    return { ...data, going_on };
  } });
});
on("change", (event) => {
  if (event.target.matches("[data-moves]")) act("moves", { on: event.target.checked });
});

onDraw(() => {
  for (const slider of $$("input[data-weight]")) {
    if (!dragging && !waits()) slider.value = slider.dataset.value ?? "";
    slider.parentElement?.querySelector("output")?.replaceChildren(Number(slider.value).toFixed(2));
  }
  for (const box of $$("input[data-moves]")) box.checked = box.dataset.on === "yes";
});
