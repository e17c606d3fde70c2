// What a drawing by the server does not know: which parts a person has folded, and which pictures have not come yet.
import { kept, on } from "../shared/common.js";
import { fetchAgain, smallInstead } from "../shared/fetch-again.js";
import { $, $$, narrow } from "./page.js";

const FOLDS = "cirque.folds";
const folded = new Map(Object.entries(kept.read(FOLDS, /** @type {Record<string, boolean>} */ ({}))));
function remember(/** @type {HTMLDetailsElement} */ fold) {
  folded.set(String(fold.dataset.keep), fold.open);
  kept.write(FOLDS, Object.fromEntries(folded));
  restore();
}
on("click", (event) => {
  const fold = event.target.closest("summary")?.closest("details");
  if (fold?.dataset.keep) setTimeout(() => remember(fold));
});
/** Open or close a part of the page by its name. */
export function toggleFold(/** @type {string} */ name) {
  const fold = /** @type {HTMLDetailsElement | null} */ ($(`details[data-keep=${name}]`));
  if (!fold) return;
  fold.open = !fold.open;
  remember(fold);
  if (fold.open && narrow(720).matches) fold.scrollIntoView({ block: "nearest" }); // it may be above what is in sight
}
const small = narrow(1100);
small.addEventListener("change", () => restore());

export function restore() {
  for (const element of $$("details[data-keep]")) {
    const open = folded.get(String(element.dataset.keep)) ?? (element.dataset.unfold === "wide" && !small.matches);
    if (element.open !== open) element.open = open;
  }
  const how = /** @type {HTMLDetailsElement | null} */ ($("#how-fold"));
  document.body.classList.toggle("cq-has-how", Boolean(how));
  document.body.classList.toggle("cq-how-open", Boolean(how?.open));
  for (const button of $$("[data-fold-of]")) button.setAttribute("aria-expanded", String(Boolean($(`details[data-keep=${button.dataset.foldOf}]`)?.hasAttribute("open"))));
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
  const image = /** @type {HTMLImageElement} */ (event.target);
  if (!smallInstead(image)) fetchAgain(image);
}, true);
