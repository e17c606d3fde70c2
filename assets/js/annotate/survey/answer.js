// An answer to "which of the two sets is better?" as plain data, in the order that is shown: A
// stands first. Pure: every function answers a new value. The server checks all of it again.
import { t } from "../../shared/language.js";

export const SIDES = /** @type {Side[]} */ (["A", "B"]);
const MARKS = /** @type {Mark[]} */ (["either", "image", "text"]);
export const TIE = /** @type {const} */ ("tie");
const other = (/** @type {Side} */ side) => (side === "A" ? "B" : "A");

// Nothing has a default: null is what nobody has said yet.
/** @type {(from?: Partial<Preference> | null) => Preference} */
export const start = (from) => ({
  ratings: { A: null, B: null, ...from?.ratings }, preferred: from?.preferred ?? null,
  irrelevant: { ...from?.irrelevant }, reason: from?.reason ?? "", confirmed: Boolean(from?.confirmed),
});
// Of the marks those that are set: the others are false.
export const settled = (/** @type {Preference} */ { ratings: { A, B }, preferred, irrelevant, reason, confirmed }) => ({ ratings: { A, B }, preferred,
  irrelevant: Object.fromEntries(MARKS.filter((to) => irrelevant[to]).map((to) => [to, true])), reason, confirmed });
export function same(/** @type {Partial<Preference> | null} */ one, /** @type {Partial<Preference> | null} */ another) {
  /** @param {Partial<Preference> | null} answer */
  const plain = (answer) => JSON.stringify({ ...settled(start(answer)), reason: start(answer).reason.trimEnd(), confirmed: 0 });
  return plain(one) === plain(another);
}

// A set rated higher is no longer confirmed as the worse one: what was confirmed were those ratings.
/** @type {(answer: Preference, side: Side, rating: number) => Preference} */
export const rate = (answer, side, rating) => ({ ...answer, ratings: { ...answer.ratings, [side]: rating }, confirmed: false });
/** @type {(answer: Preference, preferred: Preference["preferred"]) => Preference} */
export const prefer = (answer, preferred) => ({ ...answer, preferred, confirmed: false });
/** @type {(answer: Preference, to: Mark) => Preference} */
export const flip = (answer, to) => ({ ...answer, irrelevant: { ...answer.irrelevant, [to]: !answer.irrelevant[to] } });

// The set to rate next: the one without a rating, the first before the second; else the one rated last.
export const unrated = (/** @type {Preference} */ answer) => SIDES.find((side) => answer.ratings[side] === null) ?? null;

// What is still missing, or null.
/** @typedef {{ text: string, at: Side | "preferred" | "reason" }} Lacks */
/** @type {(answer: Preference, page: Survey, asksReason: boolean) => Lacks | null} */
export function missing(answer, page, asksReason) {
  const side = unrated(answer);
  const named = (/** @type {Side} */ which) => page.set_names[SIDES.indexOf(which)];
  if (side) return { at: side, text: t("No rating yet: choose 1 to 5.") };
  if (answer.preferred === null) return { at: "preferred", text: `${page.questions.preferred} ${t(page.allow_tie ? "Choose {one} or {other}, or that both are equally good." : "Choose {one} or {other}.", { one: named("A"), other: named("B") })}` };
  const [long, most] = [[...answer.reason].length, page.reason_limit];
  if (long > most) return { at: "reason", text: t("The reason has {long} characters; {most} is the limit. Please shorten it.", { long, most }) };
  if (asksReason && !answer.reason.trim()) return { at: "reason", text: t("This question needs a reason: a few words suffice.") };
  return null;
}

// What to ask where the preferred set is rated lower; null where nothing contradicts.
export function doubt(/** @type {Preference} */ { ratings, preferred }, /** @type {Survey} */ page) {
  if (preferred === null || preferred === TIE) return null;
  if ((ratings[preferred] ?? 0) >= (ratings[other(preferred)] ?? 0)) return null;
  const named = (/** @type {Side} */ side) => page.set_names[SIDES.indexOf(side)];
  return t("{other} has the higher score, and you prefer {one}. Is that what you meant?", { other: named(other(preferred)), one: named(preferred) });
}

// "Question 7 of 25 · form 1 of 2": forms hold ``form_size`` questions, the last one what is left.
/** @type {(item: Pick<Question, "number" | "of" | "form" | "forms">, page: Pick<Survey, "form_size">) => string} */
export function placeOf({ number, of, form, forms }, page) {
  const size = page.form_size > 0 ? page.form_size : of;
  const before = size * (form - 1), inForm = number - before;
  const words = inForm >= 1 && inForm <= size ? t("Question {number} of {of}", { number: inForm, of: Math.min(size, of - before) }) : t("Question {number} of {of}", { number, of });
  return forms > 1 ? t("{words} · form {form} of {forms}", { words, form, forms }) : words;
}
