// The keys of a target study.
import { listed } from "../../shared/key-table.js";
import { commonKeys } from "../keys.js";

const MARKS = /** @type {Record<string, string>} */ ({ y: "yes", n: "no", u: "unsure", 1: "yes", 2: "no", 3: "unsure" });
/** @typedef {{ mark(mark: string): void, rest(): void, move(key: string): void, reference(): void }} Marking */

/** @param {Partial<import("../keys.js").CommonActions & Marking>} does */
export const keyTable = (does) => /** @type {import("../keys.js").AnswerKey[]} */ ([
  { keys: Object.keys(MARKS), shown: "y  n  u", text: "The marked image answers the query: yes, no, unsure; then the next one. Also 1, 2, 3",
    does: (key) => does.mark?.(MARKS[key]), soon: true },
  { keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], shown: "←  →  ↑  ↓", text: "Another image", does: (key) => does.move?.(key), held: true },
  { keys: ["x"], text: "Mark all images without a mark: no", does: does.rest, soon: true },
  { keys: ["f"], text: "Enlarge the reference", does: does.reference },
  ...commonKeys(does, { many: "queries", note: "Write a note", zoom: "Enlarge the image; arrows go through all", arrows: ["Shift ArrowLeft", "Shift ArrowRight"],
    also: ["t"] }),
]);
export const keysOf = () => listed(keyTable({}));
