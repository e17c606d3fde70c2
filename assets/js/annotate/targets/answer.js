// An answer about a query's images as plain data: a mark for each image by its token, and a note. Pure: every function
// answers a new value. The server checks all of it again.
import { t, tn } from "../../shared/language.js";

/** @type {(from?: Partial<TargetMarks> | null) => TargetMarks} */
export const start = (from) => ({ marks: Object.fromEntries(Object.entries(from?.marks ?? {}).filter(([, mark]) => mark)), note: from?.note ?? "" });

/** @type {(one: Partial<TargetMarks> | null, other: Partial<TargetMarks> | null) => boolean} */
export function same(one, other) {
  const plain = (/** @type {Partial<TargetMarks> | null} */ answer) => {
    const { marks, note } = start(answer);
    return JSON.stringify([Object.entries(marks).sort(([a], [b]) => (a < b ? -1 : 1)), note.trimEnd()]);
  };
  return plain(one) === plain(other);
}

/** @type {(answer: TargetMarks, token: string, mark: string) => TargetMarks} */
export const mark = (answer, token, given) => ({ ...answer, marks: { ...answer.marks, [token]: given } });

/** Every image without a mark gets this one. @type {(answer: TargetMarks, tokens: string[], given: string) => TargetMarks} */
export const markRest = (answer, tokens, given) => ({ ...answer, marks: { ...Object.fromEntries(tokens.map((token) => [token, given])), ...answer.marks } });

/** The first image without a mark, looked for behind place ``from`` first; -1 if all have one. @type {(answer: TargetMarks, tokens: string[], from?: number) => number} */
export function unmarked({ marks }, tokens, from = -1) {
  const open = tokens.map((token, place) => (marks[token] ? -1 : place)).filter((place) => place >= 0);
  return open.find((place) => place > from) ?? open[0] ?? -1;
}

/** How many images have each mark, and how many none, at "". @type {(answer: TargetMarks, tokens: string[]) => Record<string, number>} */
export function tally({ marks }, tokens) {
  const found = /** @type {Record<string, number>} */ ({});
  for (const token of tokens) found[marks[token] ?? ""] = (found[marks[token] ?? ""] ?? 0) + 1;
  return found;
}

/** What a mark is called, at the beginning of a line. @type {(marks: TargetMark[], mark: string) => string} */
export function nameOf(marks, mark) {
  const name = marks.find((one) => one.mark === mark)?.name ?? mark;
  return name[0].toUpperCase() + name.slice(1);
}
const either = (/** @type {TargetMark[]} */ marks) => marks.map(({ name }) => name).join(", ").replace(/, ([^,]*)$/, ` ${t("or")} $1`);

// What is still missing, at an image's token or "note"; or null.
/** @type {(page: TargetPage, answer: TargetMarks, tokens: string[]) => { at: string, text: string } | null} */
export function missing(page, answer, tokens) {
  const place = unmarked(answer, tokens), left = tally(answer, tokens)[""] ?? 0;
  if (place >= 0) return { at: tokens[place], text: tn(left, "One image has no mark yet: {marks}.", "{number} images have no mark yet: {marks}.", { marks: either(page.choices) }) };
  const [long, most] = [[...answer.note].length, page.note_limit];
  if (long <= most) return null;
  return { at: "note", text: t("The note has {long} characters; {most} is the limit. Please shorten it.", { long, most }) };
}

// What undo brings back. A note is typed beside the marks: the one of now stays, unless there is none.
/** @param {TargetMarks} back @param {TargetMarks} now @returns {TargetMarks} */
export const undone = (back, now) => ({ ...back, note: now.note || back.note });

/** The place to which an arrow leads in a grid of ``columns``; the same where there is none. @type {(place: number, key: string, columns: number, count: number) => number} */
export function neighbour(place, key, columns, count) {
  const to = place + (/** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns })[key] ?? 0);
  return to >= 0 && to < count ? to : place;
}
