// The form that indexes a folder of the server: one of those that the settings allow.
import { api, closer, dialog, field, h, messageOf, once, tellIn } from "../shared/common.js";

export async function indexForm(/** @type {() => Promise<void>} */ started) {
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const start = h("button", { class: "cq-btn primary", type: "submit", text: "Start" });
  const choices = await api("GET", "jobs/choices").catch((error) => messageOf(error));
  if (typeof choices === "string") return void once(dialog({ class: "cq-small", "aria-label": "Index a folder" }, h("header", {}, h("h2", { text: "Index a folder" }), closer()), h("p", { role: "alert", text: choices })));
  const folder = h("select", {}, choices.folders.map((one) => h("option", { value: one, text: one === "." ? "The whole folder" : one })));
  const name = h("input", { type: "text", required: true, maxlength: 64, pattern: "[a-z0-9_][a-z0-9._\\-]*", autocomplete: "off", title: "Lower-case letters, digits, dots, dashes, underscores" });
  const encoder = h("select", {}, choices.encoders.map((one) => h("option", { value: one, text: one, selected: one === choices.usual })));
  const known = h("p", { class: "cq-quiet" });
  name.addEventListener("input", () => { known.textContent = choices.galleries.includes(name.value) ? "This gallery exists. Its images will be replaced by those of this folder." : ""; });
  const form = h("form", { class: "cq-jo-form", onsubmit: async (event) => {
    event.preventDefault();
    if (start.disabled) return;
    start.disabled = true;
    tellIn(problem, "");
    try {
      await api("POST", "jobs/index", { folder: folder.value, name: name.value, encoder: encoder.value }, { patience: 90000 });
      asks.close("started");
      await started();
    } catch (error) {
      tellIn(problem, messageOf(error));
    } finally {
      start.disabled = false;
    }
  } }, h("header", {}, h("h2", { text: "Index a folder" }), closer()),
  field("Folder", folder), field("Name of the gallery", name), known, field("Encoder", encoder), problem, h("div", { class: "cq-row" }, start));
  const asks = dialog({ class: "cq-jo-dialog", "aria-label": "Index a folder" }, form);
  await once(asks);
}
