// Beside the grid: how many images have which mark, the rest at once, and a note.
import { h, kbd, tellIn } from "../../shared/common.js";
import { nameOf, tally } from "./answer.js";
import { t } from "../../shared/language.js";

/** @param {TargetPage} page @param {{ rest(): void, note(text: string): void }} act */
export function createPanel({ choices: marks, question }, act) {
  const counts = h("dl", { class: "tg-tally" });
  const rest = h("button", { class: "cq-btn small tg-rest", type: "button", onclick: act.rest }, t("Mark the rest “{name}”", { name: marks.find(({ mark }) => mark === "no")?.name }), kbd("x"));
  const problem = h("p", { class: "cq-inline", hidden: true }), noteProblem = h("p", { class: "cq-inline", hidden: true });
  const note = h("textarea", { class: "st-note", rows: 3, dir: "auto", "aria-label": t("Note (optional)"), oninput: () => { act.note(note.value); } });
  return {
    element: h("section", { class: "tg-panel", "aria-label": t("Your answer") }, question ? h("p", { class: "tg-question", text: question, dir: "auto" }) : null, counts, problem, rest,
      h("label", { class: "st-notebox" }, h("span", { class: "cq-label" }, t("Note (optional)"), kbd("r")), note), noteProblem),
    note,
    draw(/** @type {TargetMarks} */ answer, /** @type {string[]} */ tokens) {
      const found = tally(answer, tokens), open = found[""] ?? 0;
      counts.replaceChildren(...[...marks.map(({ mark }) => [nameOf(marks, mark), found[mark] ?? 0, mark]), [t("No mark yet"), open, ""]]
        .map(([name, number, mark]) => h("div", { "data-mark": mark }, h("dt", { text: name }), h("dd", { class: "num", text: number }))));
      rest.disabled = !open;
      if (note.value !== answer.note) note.value = answer.note;
    },
    /** Say what is missing where it is missing; null takes it away. @param {{ at: string, text: string } | null} what */
    complain(what) {
      tellIn(problem, what && what.at !== "note" ? what.text : "");
      tellIn(noteProblem, what?.at === "note" ? what.text : "");
      note.removeAttribute("aria-invalid");
      if (what?.at !== "note") return;
      note.setAttribute("aria-invalid", "true");
      note.focus();
    },
  };
}
