// The keys of a validity study. Flags and reasons have the keys of the study's own rubric.
import { listed, meant } from "../../shared/key-table.js";
import { commonKeys } from "../keys.js";
import { byKey } from "./answer.js";
import { t } from "../../shared/language.js";

const HELD_MS = 350;
const PANS = /** @type {Record<string, [number, number]>} */ (
  { "Shift ArrowLeft": [-1, 0], "Shift ArrowRight": [1, 0], "Shift ArrowUp": [0, -1], "Shift ArrowDown": [0, 1] });
const letters = (/** @type {Rubric} */ rubric) => [...new Set(rubric.flags.flatMap((flag) => flag.reasons.map((reason) => reason.key)))].sort();
/**
 * @typedef {{ flag(code: string): void, reason(key: string): void, valid(): void, panel(): void, unsure(): void, zoomed(): boolean, unzoom(): void,
 *   pan(dx: number, dy: number): void }} Judging
 */

/** @param {Rubric} rubric @param {Partial<import("../keys.js").CommonActions & Judging>} does */
export const keyTable = (rubric, does) => /** @type {import("../keys.js").AnswerKey[]} */ ([
  { keys: rubric.flags.map((flag) => flag.key), text: t("Set or remove a flag"), does: (key) => does.flag?.(byKey(rubric, key)?.code ?? ""), soon: true },
  { keys: letters(rubric), text: t("Reason for the last flag"), does: does.reason, soon: true },
  { keys: [rubric.valid.key], text: t("Valid: nothing is wrong"), does: does.valid, soon: true },
  { keys: ["u"], text: t("Unsure: leave it to an adjudicator"), does: does.unsure, soon: true },
  { keys: ["p"], text: t("Show or hide retrieved images"), does: does.panel, soon: true },
  { keys: ["Space"], text: t("Mark a retrieved image as equally good; arrows move") },
  { keys: Object.keys(PANS), does: (key) => does.pan?.(...PANS[key]), anywhere: true, held: true },
  { keys: ["Escape"], when: does.zoomed, does: does.unzoom },
  ...commonKeys(does, { many: "items", note: t("Go to the note"), zoom: t("Zoom both images: tap or hold; Shift and arrows pan"), guide: t("Definitions and examples"),
    arrows: ["ArrowLeft", "ArrowRight"], also: ["n"] }),
]);
export const keysOf = (/** @type {Rubric} */ rubric) => listed(keyTable(rubric, {}));

/** Zoom while ``z`` is held, or until it is tapped again. @param {{ zoom(on: boolean): void, zoomed(): boolean }} does */
export function holdToZoom({ zoom, zoomed }) {
  let pressedAt = 0;
  document.addEventListener("keyup", (event) => {
    if (meant(event.key) === "z" && zoomed() && pressedAt && performance.now() - pressedAt > HELD_MS) zoom(false);
    if (meant(event.key) === "z") pressedAt = 0;
  });
  return () => {
    pressedAt = performance.now();
    zoom(!zoomed());
  };
}
