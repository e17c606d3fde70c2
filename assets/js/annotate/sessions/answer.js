// An answer about a session as plain data: a rating for each question, and a reason. Pure: every function answers a
// new value. The server checks all of it again.
import { t } from "../../shared/language.js";

/** @type {(when: Record<string, number[]> | undefined, ratings: Record<string, number | null | undefined>) => boolean} */
const holds = (when, ratings) => Object.entries(when ?? {}).every(([key, of]) => of.includes(ratings[key] ?? 0));
/** The questions that are asked beside these ratings. @type {(page: SessionPage, ratings?: Record<string, number | null>) => SessionQuestion[]} */
export function asked({ questions }, ratings = {}) {
  const given = /** @type {Record<string, number | null>} */ ({});
  return questions.filter(({ key, show_if }) => {
    if (!holds(show_if, given)) return false;
    given[key] = ratings[key];
    return true;
  });
}
/** Without ratings of questions that are not asked. @type {(page: SessionPage, from?: Partial<SessionRatings> | null) => SessionRatings} */
export function start(page, from) {
  const shown = new Set(asked(page, from?.ratings).map(({ key }) => key));
  return { ratings: Object.fromEntries(page.questions.map(({ key }) => [key, (shown.has(key) ? from?.ratings?.[key] : null) ?? null])), reason: from?.reason ?? "" };
}
/** @type {(page: SessionPage, one: Partial<SessionRatings> | null, other: Partial<SessionRatings> | null) => boolean} */
export function same(page, one, other) {
  const plain = (/** @type {Partial<SessionRatings> | null} */ answer) => JSON.stringify({ ...start(page, answer), reason: start(page, answer).reason.trimEnd() });
  return plain(one) === plain(other);
}
/** @type {(answer: SessionRatings, key: string, rating: number) => SessionRatings} */
export const rate = (answer, key, rating) => ({ ...answer, ratings: { ...answer.ratings, [key]: rating } });

/** The first question without a rating, or null. @type {(page: SessionPage, answer: SessionRatings) => string | null} */
export const unrated = (page, { ratings }) => asked(page, ratings).find(({ key }) => ratings[key] === null)?.key ?? null;

/** The question after ``key``; behind the last one, the first without a rating, or the last again. @type {(page: SessionPage, answer: SessionRatings, key: string) => string} */
export const following = (page, answer, key) => neighbour(page, key, 1, answer.ratings) ?? unrated(page, answer) ?? key;
/** @type {(page: SessionPage, key: string, by: number, ratings?: Record<string, number | null>) => string | undefined} */
export function neighbour(page, key, by, ratings) {
  const questions = asked(page, ratings);
  return questions[questions.findIndex((one) => one.key === key) + by]?.key;
}

// What is still missing, at a question's key or "reason"; or null.
/** @type {(page: SessionPage, answer: SessionRatings) => { at: string, text: string } | null} */
export function missing(page, answer) {
  const key = unrated(page, answer);
  if (key) return { at: key, text: t("No answer yet: choose 1 to {most}.", { most: page.points.length }) };
  const rule = page.impossible?.find(({ when }) => holds(when, answer.ratings));
  if (rule) return { at: Object.keys(rule.when).at(-1) ?? "reason", text: rule.says };
  const [long, most] = [[...answer.reason].length, page.note_limit];
  if (long <= most) return null;
  return { at: "reason", text: t("The reason has {long} characters; {most} is the limit. Please shorten it.", { long, most }) };
}

// What undo brings back. A reason is typed beside the ratings: the one of now stays, unless there is none.
/** @param {SessionRatings} back @param {SessionRatings} now @returns {SessionRatings} */
export const undone = (back, now) => ({ ...back, reason: now.reason || back.reason });
