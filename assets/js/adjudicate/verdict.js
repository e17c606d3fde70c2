// The adjudicator's own answer: the rubric of the judges and a reason. Taken from a judge or set by hand.
import { byKey, flagOf, flipFlag, flipMark, flipReason, flipValid, settled, start } from "../annotate/validity/answer.js";
import { h, kbd } from "../shared/common.js";
import { createRubric } from "../annotate/validity/rubric.js";

/** @param {Rubric} rubric @param {() => void} changed is called after every change by hand */
export function verdictForm(rubric, changed) {
  let answer = start(), active = "";
  const reason = h("textarea", { class: "st-note", rows: 2, dir: "auto", maxlength: 4000, "aria-label": "Reason for the decision",
    placeholder: "A few words suffice", oninput: () => changed() });
  const why = h("label", { class: "st-notebox" }, h("span", { class: "cq-label" }, h("span", { text: "Reason for the decision" }), kbd("r")), reason);
  const rows = createRubric(rubric, act, "n");

  /** @param {string} name @param {string} [value] */
  function act(name, value = "") {
    if (name === "flag") {
      answer = flipFlag(answer, rubric, value);
      active = answer.flags.includes(value) && flagOf(rubric, value)?.reasons.length ? value : "";
    } else if (name === "reason") {
      answer = flipReason(answer, rubric, value);
      active = rubric.flags.find((flag) => flag.reasons.some(({ code }) => code === value))?.code ?? "";
    } else if (name === "valid") {
      answer = flipValid(answer);
      active = "";
    } else if (name === "note") {
      answer = { ...answer, note: value };
    }
    if (name !== "note") rows.complain(null);
    rows.draw(answer, active);
    changed();
  }
  const form = {
    element: h("div", { class: "cq-adform" }, rows.element, why),
    asksReason(/** @type {boolean} */ yes) { why.hidden = !yes; },
    note: rows.note,
    reason,
    complain: rows.complain,
    get active() { return active; },
    press(/** @type {string} */ key) { // a digit
      const flag = byKey(rubric, key);
      if (key === rubric.valid.key) act("valid");
      else if (flag) act("flag", flag.code);
      else return false;
      return true;
    },
    letter(/** @type {string} */ key) { // a sub-reason of the flag that was set last
      const found = flagOf(rubric, active)?.reasons.find((it) => it.key === key);
      if (found) act("reason", found.code);
      return Boolean(found);
    },
    mark(/** @type {string} */ image) {
      answer = flipMark(answer, image);
      changed();
    },
    /** What a judge had left open is no answer: its flags are a hint. @param {Validity} from @param {string} [text] stays as it is unless given */
    fill(from, text) {
      answer = { ...start(from), unsure: false, panel_opened: false };
      if (!answer.validated) answer.validated = answer.flags.length ? false : null;
      active = "";
      if (text !== undefined) reason.value = text;
      rows.complain(null);
      rows.draw(answer, active);
    },
    get answer() { return answer; },
    settled: (/** @type {boolean} */ panelOpened) => settled({ ...answer, panel_opened: panelOpened }, rubric),
  };
  rows.draw(answer, active);
  return form;
}
