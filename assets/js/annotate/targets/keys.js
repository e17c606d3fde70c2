// The keys of a target study.
import { listed } from "../../shared/key-table.js";
import { commonKeys } from "../keys.js";
import { t } from "../../shared/language.js";

/** @typedef {{ mark(mark: string): void, rest(): void, move(key: string): void, reference(): void }} Marking */

/** @param {TargetPage} page @param {Partial<import("../keys.js").CommonActions & Marking>} does */
export const keyTable = ({ question, choices: marks }, does) => {
  const letters = marks.map(({ key }) => key), digits = marks.map((_, place) => String(place + 1)), names = marks.map(({ name }) => name);
  const asked = question || t("The marked image answers the query:"), no = marks.find(({ mark }) => mark === "no")?.name;
  return /** @type {import("../keys.js").AnswerKey[]} */ ([
    { keys: letters.concat(digits), shown: `${letters.join("  ")}`, text: t("{question} {names}; then the next one. Also {digits}", { question: asked, names: names.join(", "), digits: digits.join(", ") }),
      does: (key) => does.mark?.((marks.find((one) => one.key === key) ?? marks[Number(key) - 1]).mark), soon: true },
    { keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], shown: "←  →  ↑  ↓", text: t("Another image"), does: (key) => does.move?.(key), held: true },
    { keys: ["x"], text: t("Mark all images without a mark: {no}", { no }), does: does.rest, soon: true },
    { keys: ["f"], text: t("Enlarge the reference"), does: does.reference },
    ...commonKeys(does, { many: "queries", note: t("Write a note"), zoom: t("Enlarge the image; arrows go through all"), arrows: ["Shift ArrowLeft", "Shift ArrowRight"],
      also: ["t"] }),
  ]);
};
export const keysOf = (/** @type {TargetPage} */ page) => listed(keyTable(page, {}));
