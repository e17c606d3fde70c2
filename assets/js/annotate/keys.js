// The keys that all kinds of study have, and who gets a key: the same key does the same thing in every kind.
import { dialogOpen } from "../shared/dialogs.js";
import { typing } from "../shared/elements.js";
import { nameOf, rowOf } from "../shared/key-table.js";
import { t } from "../shared/language.js";

/**
 * ``soon``: not while the answer before it is on its way, since the key was meant for what is shown next. ``anywhere``:
 * also where no item is shown. ``held``: again and again while the key is held.
 * @typedef {import("../shared/key-table.js").KeyRow & { soon?: boolean, anywhere?: boolean, held?: boolean }} AnswerKey
 */
/** @typedef {{ save(): void, step(by: number): void, note(): void, zoom(): void, sheet(): void, map(): void, undo?: () => void }} CommonActions */

const FORWARD = ["Shift Backspace", "ArrowRight", "Shift ArrowRight"];

/**
 * The rows behind those of a kind. ``arrows``: those that lead to the item before and after; ``also``: a further key for the note.
 * @param {Partial<CommonActions>} does
 * @param {{ many: string, note: string, zoom?: string, guide?: string, arrows?: string[], also?: string[], undo?: boolean }} words
 * @returns {AnswerKey[]}
 */
export const commonKeys = (does, { many, note, zoom = t("Enlarge images; arrows go through them"), guide = t("Guidelines"), arrows = [], also = [], undo = true }) => {
  const stepping = { does: (/** @type {string} */ key) => does.step?.(FORWARD.includes(key) ? 1 : -1), anywhere: true, held: true };
  return [
    { keys: ["Enter", "Shift Enter", "Ctrl Enter"], shown: "Enter", text: t("Save and continue"), does: does.save },
    ...(arrows.length ? [{ keys: arrows, shown: arrows[0].startsWith("Shift") ? "Shift ←  →" : "←  →", text: t("Previous and next, without saving"), ...stepping }] : []),
    { keys: ["Backspace", "Shift Backspace"], shown: "Backspace", text: t("Previous, without saving; with Shift: next"), ...stepping, held: false },
    { keys: ["r", ...also], shown: "r", text: t("{note}; Esc leaves it", { note }), does: does.note, soon: true },
    { keys: ["z"], text: zoom, does: does.zoom }, { keys: ["d"], text: guide, does: does.sheet },
    { keys: ["o"], text: t("All {many}", { many: t(many) }), does: does.map, anywhere: true },
    ...(undo ? [{ keys: ["Ctrl z"], shown: "Ctrl Z", text: t("Undo"), does: does.undo, soon: true }] : []),
    { keys: ["?"], text: t("These keys") },
  ];
};

const PRESSABLE = "button:not([role=radio], .st-frame, .sv-picture, .sv-reference), a, summary"; // Enter is theirs

/**
 * @param {AnswerKey[]} rows
 * @param {{ here(): boolean, leaving(): boolean, save(): void, leaveNote(): void, theirs?: (target: Element) => boolean, away?: boolean }} of
 * ``theirs``: whether Enter belongs to what has the focus; ``away``: whether keys for anywhere work where no item is shown
 */
export function listen(rows, { here, leaving, save, leaveNote, theirs = (target) => Boolean(target.closest?.(PRESSABLE)), away = true }) {
  document.addEventListener("keydown", (event) => {
    if (dialogOpen() || event.isComposing || event.defaultPrevented || event.altKey) return;
    const take = (/** @type {() => unknown} */ action) => { event.preventDefault(); action(); };
    const enter = ["Enter", "Ctrl Enter"].includes(nameOf(event));
    if (typing(event.target)) {
      if (event.key === "Escape") take(leaveNote);
      else if (enter && (away || here())) take(() => event.repeat || save());
      return;
    }
    const row = rowOf(rows, event);
    if (!row || !(here() || (away && row.anywhere))) return;
    if (event.key === "Enter") {
      if (event.ctrlKey || event.metaKey || !theirs(/** @type {Element} */ (event.target))) take(() => event.repeat || save());
    } else if (!event.repeat || row.held) take(() => (row.soon && leaving()) || row.does?.(nameOf(event)));
  });
}
