// The keys of the survey.
import { listed } from "../../shared/key-table.js";
import { commonKeys } from "../keys.js";
import { SIDES, TIE } from "./answer.js";
import { t } from "../../shared/language.js";

export const KEY_OF_MARK = /** @type {Record<Mark, string>} */ ({ either: "i", image: "i", text: "t" });
const PREFERENCES = /** @type {Record<string, Side | "tie">} */ ({ ArrowLeft: "A", "[": "A", ArrowRight: "B", "]": "B" });
/**
 * ``asking``: whether a confirmation is asked for; ``meant`` answers it.
 * @typedef {{ asking(): boolean, meant(yes: boolean): void, rate(rating: number): void, active(side: Side): void, prefer(side: Side | "tie"): void,
 *   flip(to: Mark): void }} Surveying
 */

/** @param {Survey} page @param {Partial<import("../keys.js").CommonActions & Surveying>} does */
export const keyTable = ({ set_names: [one, other], allow_tie: tie, questions }, does) => /** @type {import("../keys.js").AnswerKey[]} */ ([
  { keys: ["y", "n", "Escape"], shown: "y  n", text: t("When asked for confirmation: keep or change"), when: does.asking, does: (key) => does.meant?.(key === "y") },
  { keys: ["1", "2", "3", "4", "5"], shown: "1  …  5", text: t("Rate the marked set: first {one}, then {other}", { one, other }), does: (key) => does.rate?.(Number(key)), soon: true },
  { keys: ["a", "b"], text: t("Rate {one}, {other}", { one, other }), does: (key) => does.active?.(SIDES[key === "a" ? 0 : 1]), soon: true },
  { keys: Object.keys(PREFERENCES), shown: "←  →", text: t("Prefer {one}, {other}", { one, other }), does: (key) => does.prefer?.(PREFERENCES[key]), soon: true },
  { keys: ["=", "0"], shown: "=", text: tie ? questions.tie : undefined, does: () => does.prefer?.(TIE), soon: true },
  ...questions.marks.map(({ to, text }) => ({ keys: [KEY_OF_MARK[to]], text, does: () => does.flip?.(to), soon: true })),
  ...commonKeys(does, { many: "questions", note: t("Go to the reason, if one is needed"), undo: false }),
]);
export const keysOf = (/** @type {Survey} */ page) => listed(keyTable(page, {}));
