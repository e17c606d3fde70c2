// The rubric as a decision flow: four questions and "valid", each a row with its key. What is
// chosen lives outside; ``act(name, value)`` asks for a change and ``draw`` shows the answer.
import { UNSURE, asked, missing, needsNote, primary } from "./answer.js";
import { h, icon, stay, tellIn, toggle } from "../../shared/elements.js";
import { kbd } from "../../shared/key-table.js";
import { t } from "../../shared/language.js";

export function createRubric(/** @type {Rubric} */ rubric, /** @type {(what: string, value?: string) => void} */ act, noteKey = "r") {
  const rows = /** @type {Map<string, { element: HTMLElement, button: HTMLElement, chips: HTMLElement, problem: HTMLElement }>} */ (new Map());
  const reasons = /** @type {Map<string, HTMLElement>} */ (new Map());

  function row(/** @type {Flag} */ flag) {
    const button = h("button", { class: "st-row", type: "button", "data-code": flag.code, onmousedown: stay, onclick: () => act("flag", flag.code) },
      kbd(flag.key), h("span", {}, h("b", { text: flag.name }), h("small", { text: flag.question })), h("i", { class: "st-no", "aria-hidden": "true", text: t("No") }));
    const chips = h("div", { class: "st-reasons", role: "group", "aria-label": t("Why: {name}", { name: flag.name }), hidden: true }, flag.reasons.map((reason) => {
      const chip = h("button", { class: "st-reason", type: "button", onmousedown: stay, onclick: () => act("reason", reason.code) },
        kbd(reason.key), h("span", { text: reason.name }));
      reasons.set(reason.code, chip);
      return chip;
    }));
    const problem = h("p", { class: "cq-inline", hidden: true });
    const element = h("li", {}, button, chips, problem);
    rows.set(flag.code, { element, button, chips, problem });
    return element;
  }

  const inOrder = [...rubric.flags].sort((one, other) => one.key.localeCompare(other.key));
  const valid = h("button", { class: "st-row st-valid", type: "button", onmousedown: stay, onclick: () => act("valid") },
    kbd(rubric.valid.key), h("span", {}, h("b", { text: rubric.valid.name }), h("small", { text: rubric.valid.short })),
    h("i", { class: "st-no", "aria-hidden": "true" }, icon("check")));
  const note = h("textarea", { class: "st-note", rows: 2, dir: "auto", "aria-label": t("Note"), oninput: () => { act("note", note.value); } });
  const noteLabel = h("span", { text: t("Note") });
  const noteProblem = h("p", { class: "cq-inline", hidden: true });
  const problem = h("p", { class: "cq-inline", hidden: true });
  const outcome = h("b", {});
  const code = h("code", {});
  const coded = h("p", { class: "st-code" }, `${t("In files:")} `, code);
  const severity = h("div", { class: "st-severity cq-quiet", hidden: true }, h("p", { text: rubric.about_severity }), coded);
  const why = h("button", { class: "st-why", type: "button", "aria-label": t("How the category is derived"), "aria-expanded": "false", title: t("How the category is derived"), text: "?",
    onclick: () => {
      severity.hidden = !severity.hidden;
      why.setAttribute("aria-expanded", String(!severity.hidden));
    } });

  const element = h("section", { class: "st-rubric", "aria-label": t("Your answer") },
    h("ol", { class: "st-rows" }, inOrder.map(row), h("li", {}, valid)),
    problem,
    h("label", { class: "st-notebox" }, h("span", { class: "cq-label" }, noteLabel, kbd(noteKey)), note), noteProblem,
    h("div", { class: "st-outcome" }, h("p", {}, h("span", { class: "cq-quiet", text: `${t("Will be saved as")} ` }), outcome), why, severity));

  return {
    element,
    note,
    /** @param {Validity} answer @param {string | null} active the flag that a, b, c belong to */
    draw(answer, active) {
      const there = new Set(asked(rubric, answer.flags).map(({ code }) => code));
      for (const [code, { element, button, chips }] of rows) {
        element.hidden = !there.has(code);
        const on = answer.flags.includes(code);
        const unfolds = chips.hidden && on && chips.childElementCount;
        toggle(button, on);
        chips.hidden = !on || !chips.childElementCount;
        if (unfolds && code === active) chips.scrollIntoView({ block: "nearest" });
        chips.classList.toggle("active", code === active);
      }
      for (const [code, chip] of reasons) toggle(chip, answer.reasons.includes(code));
      toggle(valid, answer.validated === true);
      if (note.value !== answer.note) note.value = answer.note;
      const needed = needsNote(answer, rubric);
      noteLabel.textContent = needed ? t("Note, required") : t("Note");
      note.parentElement?.classList.toggle("needed", needed && !answer.note.trim());
      const what = primary(answer, rubric);
      outcome.textContent = what ? what.name : t("Nothing chosen yet");
      code.textContent = what?.code ?? "";
      coded.hidden = !what || what.code === UNSURE;
      element.dataset.outcome = what ? what.code : "";
      element.classList.toggle("complete", !missing(answer, rubric));
    },
    /** Say what is missing where it is missing; null takes it away. @param {{ at: string, text: string } | null} what */
    complain(what, { focus = true } = {}) {
      for (const each of [problem, noteProblem, ...[...rows.values()].map((it) => it.problem)]) each.hidden = true;
      note.removeAttribute("aria-invalid");
      if (!what) return;
      const place = what.at === "note" ? noteProblem : rows.get(what.at)?.problem ?? problem;
      tellIn(place, what.text);
      place.scrollIntoView({ block: "nearest" });
      if (what.at === "note") note.setAttribute("aria-invalid", "true");
      // Only the note wants the focus: a row that had it would take the next Enter for itself.
      if (focus && what.at === "note") note.focus();
    },
  };
}
