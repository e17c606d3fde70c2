// The details of the method that is chosen in the settings.
import { kept, on } from "../../shared/common.js";
import { act, onDraw, soon, waits } from "../actions.js";
import { METHOD } from "../address.js";
import { $, $$, shown } from "../page.js";

// "history=feedback": methods whose history is that; "reflection": methods that have any. No method is
// named here: anybody's browser can have this script, also a judge's.
const applies = (/** @type {string} */ part, /** @type {Record<string, unknown>} */ method) => {
  const [field, wanted] = part.split("=");
  return wanted ? method[field] === wanted : Boolean(method[field]);
};
const chosen = () => {
  const radio = $("#drawer-settings [name=method]:checked");
  return JSON.parse(radio?.dataset.settings ?? "null");
};
export function methodParts() {
  const method = chosen();
  if (!method) return;
  const parts = $$("#drawer-settings [data-part-of]");
  for (const part of parts) part.hidden = !applies(part.dataset.partOf ?? "", method);
  $("#drawer-settings .cq-defaults")?.toggleAttribute("hidden", parts.every((part) => part.hidden));
}
function fillDetails() {
  const method = chosen();
  for (const field of /** @type {HTMLInputElement[]} */ ($$("#drawer-settings [data-setting]"))) {
    // "alpha" is the method's, "soft_filter.weight" one of its steps'.
    const to = (field.dataset.setting ?? "").split(".").reduce((settings, key) => settings?.[key], method);
    if (to === undefined) continue;
    field.value = to;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  methodParts();
}
on("change", (event) => { if (event.target.matches("#drawer-settings [name=method]")) fillDetails(); });
on("click", (event) => { if (event.target.closest("#drawer-settings [data-reset]")) fillDetails(); });

// The person's default, which this browser keeps: the server says what it is in full.
on("click", (event) => {
  const button = event.target.closest("button[data-my-default]");
  const form = button?.closest("form");
  if (!form) return;
  act("prefer", button?.dataset.myDefault === "off" ? { off: true } : Object.fromEntries(new FormData(form)));
});
function showDefault() {
  const { preferredTitle = "" } = shown();
  $("[data-my-default-now]")?.replaceChildren(preferredTitle && `Your default: ${preferredTitle}`);
  $("[data-my-default=off]")?.toggleAttribute("hidden", !preferredTitle);
}
onDraw(({ action, failed }) => {
  if (action === "prefer" && !failed) kept.write(METHOD, JSON.parse(shown().preferred || "null"));
  if (action === "prefer" && document.activeElement === document.body) $("button[data-my-default]")?.focus({ preventScroll: true });
  showDefault();
});

// Weights that are dragged, and what the page shows of them at once.
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
