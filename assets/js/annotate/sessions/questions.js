// The questions, each with a scale, and a reason; those that are not asked beside the other ratings are hidden. What is chosen lives outside: ``act`` asks for a
// change and ``draw`` shows the answer.
import { h, kbd, tellIn } from "../../shared/common.js";
import { createChoice } from "../parts.js";
import { asked } from "./answer.js";
import { t } from "../../shared/language.js";

/**
 * @param {SessionPage} page
 * @param {{ rate(key: string, rating: number): void, active(key: string): void, reason(text: string): void }} act
 */
export function createQuestions(page, act) {
  const { questions, points } = page;
  const [first, last] = [points[0], points[points.length - 1]];
  const rows = new Map(questions.map((question) => {
    const { key, title, text, low, high } = question;
    const scale = createChoice({ class: "ss-scale", label: `${title}: ${text}`, pick: (rating) => act.rate(key, rating), options: points.map((value) =>
      ({ value, content: String(value), label: value === first ? `${value}: ${low}` : value === last ? `${value}: ${high}` : String(value) })) });
    const problem = h("p", { class: "cq-inline", hidden: true });
    scale.element.addEventListener("focusin", () => act.active(key));
    const element = h("li", { class: "ss-question", "data-key": key },
      h("div", { class: "ss-asks", onclick: () => act.active(key) }, h("b", { text: title }), kbd(`${first}–${last}`), h("small", { text })),
      scale.element, h("p", { class: "ss-ends", "aria-hidden": "true" }, h("span", { text: low }), h("span", { text: high })), problem);
    return [key, { element, scale, problem }];
  }));
  const note = h("textarea", { class: "st-note", rows: 2, dir: "auto", "aria-label": t("Reason (optional)"), oninput: () => { act.reason(note.value); } });
  const noteProblem = h("p", { class: "cq-inline", hidden: true });
  const element = h("section", { class: "ss-questions", "aria-label": t("Your answer") }, h("ol", {}, [...rows.values()].map((row) => row.element)),
    h("label", { class: "st-notebox" }, h("span", { class: "cq-label" }, t("Reason (optional)"), kbd("r")), note), noteProblem);

  return {
    element,
    note,
    lead: (/** @type {string} */ key) => rows.get(key)?.element.scrollIntoView({ block: "nearest" }),
    draw(/** @type {SessionRatings} */ { ratings, reason }, /** @type {string} */ active) {
      const shown = new Set(asked(page, ratings).map(({ key }) => key));
      for (const [key, row] of rows) {
        row.element.hidden = !shown.has(key);
        row.scale.draw(ratings[key]);
        row.element.classList.toggle("active", key === active);
        row.element.classList.toggle("answered", ratings[key] !== null);
      }
      if (note.value !== reason) note.value = reason;
    },
    /** Say what is missing where it is missing; null takes it away. @param {{ at: string, text: string } | null} what */
    complain(what) {
      for (const problem of [noteProblem, ...[...rows.values()].map((row) => row.problem)]) tellIn(problem, "");
      note.removeAttribute("aria-invalid");
      if (!what) return;
      const place = rows.get(what.at)?.problem ?? noteProblem;
      tellIn(place, what.text);
      (place.parentElement ?? place).scrollIntoView({ block: "nearest" });
      if (place !== noteProblem) return;
      note.setAttribute("aria-invalid", "true");
      note.focus();
    },
  };
}
