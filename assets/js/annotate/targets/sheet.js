// Guidelines: what each mark means, in a sheet at the side. d or Esc closes it.
import { closer, dialog, h, once } from "../../shared/common.js";

export function openSheet(/** @type {TargetPage} */ { intro, guide }) {
  const body = h("div", { class: "st-sheetbody", tabindex: 0 }, h("p", { class: "st-intro", text: intro }),
    guide.map(({ title, text }) => h("section", { "aria-label": title }, h("h3", { text: title }), h("p", { text }))));
  const sheet = dialog({ class: "cq-sheet", "aria-label": "Guidelines" }, h("header", {}, h("h2", { text: "Guidelines" }), closer()), body);
  sheet.addEventListener("keydown", (event) => {
    if (event.key !== "d" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    sheet.close();
  });
  once(sheet);
  body.focus({ preventScroll: true });
}
