// The keys of a target study.
import { listed } from "../../shared/key-table.js";
import { commonKeys } from "../keys.js";

/** @typedef {{ mark(mark: string): void, rest(): void, move(key: string): void, reference(): void }} Marking */

/** @param {TargetPage} page @param {Partial<import("../keys.js").CommonActions & Marking>} does */
export const keyTable = ({ question, marks }, does) => /** @type {import("../keys.js").AnswerKey[]} */ ([
  { keys: marks.flatMap(({ key }, place) => [key, String(place + 1)]), shown: marks.map(({ key }) => key).join("  "),
    text: `${question || "The marked image answers the query:"} ${marks.map(({ name }) => name).join(", ")}; then the next one. Also ${marks.map((_, place) => place + 1).join(", ")}`,
    does: (key) => does.mark?.((marks.find((one) => one.key === key) ?? marks[Number(key) - 1]).mark), soon: true },
  { keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], shown: "←  →  ↑  ↓", text: "Another image", does: (key) => does.move?.(key), held: true },
  { keys: ["x"], text: `Mark all images without a mark: ${marks.find(({ mark }) => mark === "no")?.name}`, does: does.rest, soon: true },
  { keys: ["f"], text: "Enlarge the reference", does: does.reference },
  ...commonKeys(does, { many: "queries", note: "Write a note", zoom: "Enlarge the image; arrows go through all", arrows: ["Shift ArrowLeft", "Shift ArrowRight"],
    also: ["t"] }),
]);
export const keysOf = (/** @type {TargetPage} */ page) => listed(keyTable(page, {}));
