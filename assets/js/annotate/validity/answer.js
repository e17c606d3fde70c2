// An answer to "is this query valid?" as plain data, and what may become of it. Pure: every
// function answers a new value. The server checks all of it again.
import { t } from "../../shared/language.js";

/** @type {Readonly<Validity>} */
export const EMPTY = Object.freeze({ validated: null, flags: [], reasons: [], note: "", alternatives: [], unsure: false,
  panel_opened: false });
export const BROAD = "QUERY_TOO_BROAD"; // a rubric without it gets no proposal
export const orList = (/** @type {string[]} */ words) => words.join(", ").replace(/, (?=[^,]*$)/, ` ${t("or")} `);

/** @type {(from?: Partial<Validity> | null) => Validity} */
export const start = (from) => ({ ...EMPTY, ...from, note: from?.note ?? "" });
export const flagOf = (/** @type {Rubric} */ rubric, /** @type {string | null} */ code) => rubric.flags.find((flag) => flag.code === code);
export const byKey = (/** @type {Rubric} */ rubric, /** @type {string} */ key) => rubric.flags.find((flag) => flag.key === key);
/** @type {(rubric: Rubric, reason: string) => Flag | undefined} */
const ownerOf = (rubric, reason) => rubric.flags.find((flag) => flag.reasons.some(({ code }) => code === reason));

/** @type {(when: Record<string, boolean> | undefined, given: string[]) => boolean} */
const holds = (when, given) => Object.entries(when ?? {}).every(([code, wanted]) => given.includes(code) === wanted);
/** The flags that are asked beside those that are set. @type {(rubric: Rubric, set: string[]) => Flag[]} */
export function asked(rubric, set) {
  const kept = /** @type {string[]} */ ([]);
  return rubric.flags.filter((flag) => {
    if (!holds(flag.show_if, kept)) return false;
    if (set.includes(flag.code)) kept.push(flag.code);
    return true;
  });
}
/** Without flags that are not asked beside the others, and their reasons. @type {(answer: Validity, rubric: Rubric) => Validity} */
export function pruned(answer, rubric) {
  const there = new Set(asked(rubric, answer.flags).map(({ code }) => code));
  if (answer.flags.every((code) => there.has(code))) return answer;
  const flags = answer.flags.filter((code) => there.has(code));
  return { ...answer, flags, reasons: answer.reasons.filter((reason) => flags.includes(ownerOf(rubric, reason)?.code ?? "")) };
}

/** @type {(list: string[], one: string) => string[]} */
const flip = (list, one) => (list.includes(one) ? list.filter((other) => other !== one) : [...list, one]);

// In the one order that the server keeps, so that equal answers are equal.
/** @param {Validity} answer @param {Rubric} rubric @returns {Validity} */
export function settled(answer, rubric) {
  const severity = (/** @type {string} */ code) => flagOf(rubric, code)?.severity ?? 99;
  return {
    validated: answer.unsure ? null : answer.validated === true ? true : answer.flags.length ? false : answer.validated,
    flags: [...answer.flags].sort((one, other) => severity(one) - severity(other)),
    reasons: [...answer.reasons].sort(),
    note: answer.note,
    alternatives: [...answer.alternatives].sort(),
    unsure: answer.unsure,
    panel_opened: answer.panel_opened,
  };
}
export function same(/** @type {Partial<Validity>} */ one, /** @type {Partial<Validity>} */ other, /** @type {Rubric} */ rubric) {
  /** @param {Partial<Validity>} answer */
  const plain = (answer) => JSON.stringify({ ...settled(start(answer), rubric), note: start(answer).note.trimEnd(), panel_opened: 0 });
  return plain(one) === plain(other);
}
export const blank = (/** @type {Validity} */ answer, /** @type {Rubric} */ rubric) => same(answer, EMPTY, rubric);

export function flipFlag(/** @type {Validity} */ answer, /** @type {Rubric} */ rubric, /** @type {string} */ code) {
  const flags = flip(answer.flags, code);
  const reasons = answer.reasons.filter((reason) => flags.includes(ownerOf(rubric, reason)?.code ?? ""));
  return { ...answer, flags, reasons, validated: flags.length ? false : null };
}
export function flipReason(/** @type {Validity} */ answer, /** @type {Rubric} */ rubric, /** @type {string} */ reason) {
  const owner = ownerOf(rubric, reason);
  const on = !owner || answer.flags.includes(owner.code) ? answer : flipFlag(answer, rubric, owner.code);
  return { ...on, reasons: flip(on.reasons, reason) };
}
// Valid excludes flags, and being unsure.
export const flipValid = (/** @type {Validity} */ answer) => (answer.validated === true
  ? { ...answer, validated: null }
  : { ...answer, validated: true, flags: [], reasons: [], unsure: false });
export const flipUnsure = (/** @type {Validity} */ answer) => ({ ...answer, unsure: !answer.unsure,
  validated: !answer.unsure ? null : answer.flags.length ? false : null });
/** @type {(answer: Validity, image: string) => Validity} */
export const flipMark = (answer, image) => ({ ...answer, alternatives: flip(answer.alternatives, image) });

const unsaid = (/** @type {Validity} */ answer, /** @type {Rubric} */ rubric) => rubric.flags.flatMap((flag) => flag.reasons).find((reason) =>
  reason.needs_note && answer.reasons.includes(reason.code));
export const needsNote = (/** @type {Validity} */ answer, /** @type {Rubric} */ rubric) => rubric.flags.some((flag) =>
  flag.reasons.some((reason) => reason.needs_note && answer.reasons.includes(reason.code)));

// What is still missing, at "flags", a flag's code or "note"; or null.
export function missing(/** @type {Validity} */ answer, /** @type {Rubric} */ rubric) {
  const [long, most] = [[...answer.note].length, rubric.note_limit];
  if (long > most) {
    return { at: "note", text: t("The note has {long} characters; {most} is the limit. Please shorten it.", { long, most }) };
  }
  if (answer.unsure) return null;
  if (answer.validated !== true && !answer.flags.length) {
    return { at: "flags", text: t("Say what is wrong, or press {key} if nothing is.", { key: rubric.valid.key }) };
  }
  for (const code of answer.flags) {
    const flag = flagOf(rubric, code);
    if (flag?.reasons.length && !flag.reasons.some((reason) => answer.reasons.includes(reason.code))) {
      return { at: code, text: t("Give a reason: {keys}.", { keys: orList(flag.reasons.map(({ key }) => key)) }) };
    }
  }
  const other = unsaid(answer, rubric);
  if (other && !answer.note.trim()) return { at: "note", text: t("“{name}” requires a note.", { name: other.name }) };
  const rule = rubric.impossible?.find(({ when }) => holds(when, [...answer.flags, ...answer.reasons]));
  return rule ? { at: answer.flags.findLast((code) => code in rule.when) ?? "flags", text: rule.says } : null;
}

export const UNSURE = "UNSURE"; // of the screen alone: in files such an answer is UNLABELLED
// The one category that counts: the most severe of the flags.
export function primary(/** @type {Validity} */ answer, /** @type {Rubric} */ rubric) {
  if (answer.unsure) return { code: UNSURE, name: t("Unsure: an adjudicator will decide") };
  if (answer.validated === true) return { code: "VALIDATED", name: rubric.valid.name };
  const [worst] = settled(answer, rubric).flags;
  return (worst && flagOf(rubric, worst)) || null;
}
