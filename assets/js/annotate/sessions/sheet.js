// Guidelines: what each question asks, in a sheet at the side. d or Esc closes it.
import { closer, dialog, h, once } from "../../shared/common.js";

/** @param {SessionPage} page @param {string} active key of the question to begin at */
export function openSheet({ intro, questions, points }, active) {
  const [first, last] = [points[0], points[points.length - 1]];
  const sections = questions.map(({ key, title, text, low, high, guide }) => h("section", { "data-key": key, tabindex: -1, "aria-label": title }, h("h3", { text: title }),
    h("p", { class: "st-asks", text }), h("p", { text: guide }),
    h("p", { class: "ss-anchors" }, h("b", { text: first }), ` ${low}`, h("i", { "aria-hidden": "true", text: " … " }), h("b", { text: last }), ` ${high}`)));
  const body = h("div", { class: "st-sheetbody", tabindex: 0 }, h("p", { class: "st-intro", text: intro }), sections);
  const sheet = dialog({ class: "cq-sheet", "aria-label": "Guidelines" }, h("header", {}, h("h2", { text: "Guidelines" }), closer()), body);
  sheet.addEventListener("keydown", (event) => {
    if (event.key !== "d" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    sheet.close();
  });
  once(sheet);
  body.focus({ preventScroll: true });
  if (active !== questions[0].key) sections.find((one) => one.dataset.key === active)?.scrollIntoView({ block: "nearest" });
}
