// The answer under the person's hands: what each press makes of it, and undoing it.
import { flagOf, flipFlag, flipMark, flipReason, flipUnsure, flipValid, start } from "./answer.js";

// ``changed()`` is called after every change; act() answers a sentence where one helps.
export function createEditing(rubric, changed) {
  let answer = start(), active = null, before = [];

  // a, b and c go to the flag set last, of those that ask for a reason.
  const lastFlag = () => answer.flags.filter((code) => flagOf(rubric, code)?.reasons.length).at(-1) ?? null;
  function become(next, { undo = true, flag = active } = {}) {
    if (undo) before.push(answer);
    answer = next;
    active = answer.flags.includes(flag) ? flag : lastFlag();
    changed();
    return "";
  }

  const does = {
    note: (text) => become({ ...answer, note: text }, { undo: false }),
    opened: () => answer.panel_opened || become({ ...answer, panel_opened: true }, { undo: false }),
    mark: (image) => become(flipMark(answer, image)),
    unsure: () => become(flipUnsure(answer)),
    valid() {
      const some = answer.flags.length;
      become(flipValid(answer));
      return some ? "Valid goes without flags: they were taken back. Ctrl+Z brings them back." : "";
    },
    flag(code) {
      const was = answer.validated === true;
      become(flipFlag(answer, rubric, code), { flag: flagOf(rubric, code).reasons.length ? code : active });
      return was ? "A flag takes “valid” back. Ctrl+Z undoes it." : "";
    },
    // A code such as "1a".
    reason(code) {
      const flag = rubric.flags.find(({ reasons }) => reasons.some((reason) => reason.code === code));
      return become(flipReason(answer, rubric, code), { flag: flag.code });
    },
  };

  return {
    get answer() { return answer; },
    get active() { return active; },
    act: (what, value) => does[what](value) || "",
    // The code of "a" for the active flag; null without one.
    reasonOf: (key) => (active && flagOf(rubric, active).reasons.find((reason) => reason.key === key)?.code) || null,
    reset(next) {
      [answer, before] = [start(next), []];
      active = lastFlag();
    },
    replace: (next) => become(start(next)),
    undo() {
      if (!before.length) return false;
      const back = before.pop();
      become({ ...back, note: answer.note || back.note, panel_opened: answer.panel_opened }, { undo: false });
      return true;
    },
  };
}
