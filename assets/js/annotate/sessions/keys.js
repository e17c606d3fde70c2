// The keys of a session study.
import { listed } from "../../shared/key-table.js";
import { commonKeys } from "../keys.js";
import { t } from "../../shared/language.js";

/** @param {SessionPage} page @param {Partial<import("../keys.js").CommonActions & { rate(rating: number): void, move(by: number): void }>} does */
export const keyTable = ({ points }, does) => /** @type {import("../keys.js").AnswerKey[]} */ ([
  { keys: points.map(String), shown: `${points[0]}  …  ${points[points.length - 1]}`, text: t("Answer the marked question and go to the next one"),
    does: (key) => does.rate?.(Number(key)), soon: true },
  { keys: ["ArrowUp", "ArrowDown"], shown: "↑  ↓", text: t("Previous and next question"), does: (key) => does.move?.(key === "ArrowUp" ? -1 : 1), held: true },
  ...commonKeys(does, { many: "sessions", note: t("Go to the reason"), arrows: ["ArrowLeft", "ArrowRight"] }),
]);
export const keysOf = (/** @type {SessionPage} */ page) => listed(keyTable(page, {}));
