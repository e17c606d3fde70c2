// How many more items or people until an interval is narrow enough. Its answer is a section of the report.
import { h } from "../shared/elements.js";
import { WIDTHS } from "./address.js";

/** @param {import("./filters.js").ViewControls & { shown(): void }} of ``shown`` hears that the answer to what somebody asked here stands in the report */
export function planPart({ view, change, shown }) {
  let awaited = false;
  const width = h("input", { type: "number", ...WIDTHS, step: "any", required: true, value: view().plan || 0.1, inputmode: "decimal" });
  const ask = h("button", { class: "cq-btn" });
  const drop = h("button", { class: "cq-btn", type: "button", text: "No planning", onclick: () => change({ plan: "" }) });
  const form = h("form", { class: "cq-an-plan", onsubmit: (event) => {
    event.preventDefault();
    if (!width.reportValidity()) return;
    awaited = true;
    change({ plan: width.value });
  } }, h("label", { class: "cq-an-filter" }, h("span", { class: "cq-label", text: "Maximum width of the 95 % interval" }), width), ask,
  drop);
  const element = h("section", { class: "cq-an-section cq-an-planning", hidden: true, "aria-label": "Planning" }, h("h2", { text: "How many more are needed?" }),
    h("p", { class: "cq-an-intro", text: "Simulated from the answers so far: how many items, sessions or people are needed for this precision of κ, the preference rate or the mean rating." }), form);
  return {
    element,
    put(/** @type {{ nothing: boolean, final: boolean }} */ { nothing, final }) {
      element.hidden = nothing || !Number(view().draws);
      ask.textContent = view().plan ? "Plan again" : "Compute";
      drop.hidden = !view().plan;
      if (view().plan && document.activeElement !== width) width.value = view().plan;
      if (awaited && final) {
        awaited = false;
        shown();
      }
    },
  };
}
