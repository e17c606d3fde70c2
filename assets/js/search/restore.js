// What a drawing by the server does not know: which parts a person has folded, and which pictures have not come yet.
import { $, $$, narrow } from "./page.js";

const folded = new Map();
document.addEventListener("click", (event) => {
  const fold = event.target.closest("summary")?.parentElement;
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
document.addEventListener("load", (event) => event.target.classList?.remove("cq-pending"), true);
document.addEventListener("error", (event) => {
  if (event.target.tagName !== "IMG") return;
  event.target.classList.remove("cq-pending");
  event.target.closest(".pic, .cq-frame")?.classList.add("cq-missing");
}, true);
