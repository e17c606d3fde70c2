// The details of the method that is chosen in the settings.
import { on } from "../../shared/common.js";
import { $, $$ } from "../page.js";

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
