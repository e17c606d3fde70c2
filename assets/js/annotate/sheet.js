// Guidelines in a sheet at the side. d or Esc closes it.
import { closer, dialog, h, once } from "../shared/common.js";

/** @param {{ title?: string, class?: string, above?: Child }} of ``above``: between the title and the body @param {Child[]} content of the body */
export function openSheet({ title = "Guidelines", class: css = "", above = null }, ...content) {
  const body = h("div", { class: `st-sheetbody ${css}`, tabindex: 0 }, ...content);
  const sheet = dialog({ class: "cq-sheet", "aria-label": title }, h("header", {}, h("h2", { text: title }), closer()), above, body);
  sheet.addEventListener("keydown", (event) => {
    if (event.key !== "d" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    sheet.close();
  });
  once(sheet);
  body.focus({ preventScroll: true });
  return sheet;
}
