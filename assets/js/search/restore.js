// What a drawing by the server does not know: which parts a person has folded, and which pictures have not come yet.
import { on } from "../shared/common.js";
import { fetchAgain } from "../shared/fetch-again.js";
import { $, $$, narrow } from "./page.js";

const folded = new Map();
on("click", (event) => {
  const fold = event.target.closest("summary")?.closest("details");
  if (fold?.dataset.keep) setTimeout(() => folded.set(fold.dataset.keep, fold.open));
});
const small = narrow(1100);
small.addEventListener("change", () => restore());

export function restore() {
  for (const element of $$("details[data-keep]")) {
    const key = element.dataset.keep;
    const open = folded.has(key) ? folded.get(key) : (key === "how" || element.dataset.unfold === "wide") && !small.matches;
    if (element.open !== open) element.open = open;
  }
  document.body.classList.toggle("cq-has-how", Boolean($(".cq-how")));
  document.body.classList.toggle("cq-searched", Boolean($(".cq-turns")));
  for (const image of $$(".gradio-container img")) image.classList.toggle("cq-pending", !image.complete);
}
on("load", (event) => {
  event.target.classList?.remove("cq-pending");
  if (event.target.tagName === "IMG") event.target.closest(".cq-missing")?.classList.remove("cq-missing");
}, true);
on("error", (event) => {
  if (event.target.tagName !== "IMG") return;
  event.target.classList.remove("cq-pending");
  event.target.closest(".pic, .cq-frame")?.classList.add("cq-missing");
  fetchAgain(/** @type {HTMLImageElement} */ (event.target));
}, true);
