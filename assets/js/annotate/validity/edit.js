// The answer under the person's hands: what each press makes of it, and undoing it.
import { flagOf, flipFlag, flipMark, flipReason, flipUnsure, flipValid, pruned, start } from "./answer.js";
import { t } from "../../shared/language.js";

/** act() answers a sentence where one helps. @param {Rubric} rubric @param {() => void} changed is called after every change */
export function createEditing(rubric, changed) {
  let answer = start(), active = /** @type {string | null} */ (null), before = /** @type {Validity[]} */ ([]);

  // a, b and c go to the flag set last, of those that ask for a reason.
  /** @returns {string | null} */
  const lastFlag = () => answer.flags.filter((code) => flagOf(rubric, code)?.reasons.length).at(-1) ?? null;
  function become(/** @type {Validity} */ next, /** @type {{ undo?: boolean, flag?: string | null }} */ { undo = true, flag = active } = {}) {
    if (undo) before.push(answer);
    answer = pruned(next, rubric);
    active = flag && answer.flags.includes(flag) ? flag : lastFlag();
    changed();
    return "";
  }

  /** @type {Record<string, (value: string) => string>} */
  const does = {
    note: (text) => become({ ...answer, note: text }, { undo: false }),
    opened: () => (answer.panel_opened ? "" : become({ ...answer, panel_opened: true }, { undo: false })),
    mark: (image) => become(flipMark(answer, image)),
    unsure: () => become(flipUnsure(answer)),
    valid() {
      const some = answer.flags.length;
      become(flipValid(answer));
      return some ? t("A valid item has no flags: they were removed. Ctrl+Z restores them.") : "";
    },
    flag(code) {
      const was = answer.validated === true;
      become(flipFlag(answer, rubric, code), { flag: flagOf(rubric, code)?.reasons.length ? code : active });
      return was ? t("A flag removes “{valid}”. Ctrl+Z restores it.", { valid: rubric.valid.name }) : "";
    },
    // A code such as "1a".
    reason(code) {
      const flag = rubric.flags.find(({ reasons }) => reasons.some((reason) => reason.code === code));
      return become(flipReason(answer, rubric, code), { flag: flag?.code });
    },
  };

  return {
    get answer() { return answer; },
    get active() { return active; },
    act: (/** @type {string} */ what, value = "") => does[what](value),
    // The code of "a" for the active flag; null without one.
    reasonOf: (/** @type {string} */ key) => (active && flagOf(rubric, active)?.reasons.find((reason) => reason.key === key)?.code) || null,
    reset(/** @type {Partial<Validity>} */ next) {
      [answer, before] = [start(next), []];
      active = lastFlag();
    },
    replace: (/** @type {Partial<Validity>} */ next) => become(start(next)),
    undo() {
      const back = before.pop();
      if (!back) return false;
      become({ ...back, note: answer.note || back.note, panel_opened: answer.panel_opened }, { undo: false });
      return true;
    },
  };
}
