// The keys of the annotation screen: the list that "?" shows, and who gets them.
import { dialogOpen, typing } from "../../shared/common.js";
import { byKey } from "./answer.js";

// Flags and reasons have the keys of the study's own rubric.
export const keysOf = (/** @type {Rubric} */ rubric) => [
  [rubric.flags.map((flag) => flag.key).join("  "), "Set or remove a flag"],
  [letters(rubric).join("  "), "Reason for the last flag"], [rubric.valid.key, "Valid: nothing is wrong"],
  ["Enter", "Save and continue"], ["←  →", "Previous and next, without saving"], ["n", "Go to the note; Esc leaves it"],
  ["z", "Zoom both images: tap or hold; Shift and arrows pan"], ["p", "Show or hide retrieved images"],
  ["Space", "Mark a retrieved image as equally good; arrows move"], ["u", "Unsure: leave it to an adjudicator"],
  ["d", "Definitions and examples"], ["o", "All items"], ["Ctrl Z", "Undo"], ["?", "These keys"],
];

const letters = (/** @type {Rubric} */ rubric) => [...new Set(rubric.flags.flatMap((flag) => flag.reasons.map((reason) => reason.key)))].sort();
const HELD_MS = 350;
const PRESSABLE = "button, a, summary, [role=option]"; // Enter is theirs

/**
 * @param {Rubric} rubric
 * @param {{ leaving(): boolean, flag(code: string): void, reason(key: string): void, valid(): void, save(): void, step(by: number): void,
 *   note(): void, leaveNote(): void, panel(): void, unsure(): void, sheet(): void, map(): void, undo(): void, zoom(on: boolean): void,
 *   zoomed(): boolean, pan(dx: number, dy: number): void }} does ``leaving``: whether keys come too soon for what is shown next
 */
export function listen(rubric, does) {
  let pressedAt = 0;
  const arrows = /** @type {Record<string, number[]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });

  document.addEventListener("keydown", (event) => {
    if (dialogOpen() || event.isComposing || event.defaultPrevented) return;
    const mine = (/** @type {() => unknown} */ action) => { event.preventDefault(); action(); };
    const { key } = event;
    const inTime = (/** @type {() => unknown} */ action) => mine(() => does.leaving() || action());
    if (event.ctrlKey || event.metaKey) {
      if (key === "Enter") return mine(() => event.repeat || does.save());
      if (key.toLowerCase() === "z" && !event.shiftKey && !typing(event.target)) inTime(does.undo);
      return;
    }
    if (event.altKey) return;
    if (typing(event.target)) {
      if (key === "Escape") mine(does.leaveNote);
      else if (key === "Enter" && !event.shiftKey) mine(() => event.repeat || does.save());
      return;
    }
    if (key in arrows) {
      const [dx, dy] = arrows[key];
      if (event.shiftKey) return mine(() => does.pan(dx, dy));
      if (dx) mine(() => does.step(dx));
      return;
    }
    if (key === "Enter") {
      const on = /** @type {Element} */ (event.target);
      if (on.closest?.("[role=option]") || !on.closest?.(PRESSABLE)) mine(() => event.repeat || does.save());
      return;
    }
    if (event.repeat) return;
    if (key === "z") return mine(() => { pressedAt = performance.now(); does.zoom(!does.zoomed()); });
    if (key === "Escape" && does.zoomed()) return mine(() => does.zoom(false));
    const flag = byKey(rubric, key);
    if (flag) return inTime(() => does.flag(flag.code));
    if (key === rubric.valid.key) return inTime(does.valid);
    const soon = /** @type {Record<string, (() => void) | undefined>} */ ({ n: does.note, p: does.panel, u: does.unsure });
    if (soon[key]) return inTime(soon[key]);
    const always = /** @type {Record<string, (() => void) | undefined>} */ ({ d: does.sheet, o: does.map });
    if (always[key]) return mine(always[key]);
    if (letters(rubric).includes(key)) inTime(() => does.reason(key));
  });
  document.addEventListener("keyup", (event) => {
    if (event.key === "z" && does.zoomed() && performance.now() - pressedAt > HELD_MS && pressedAt) does.zoom(false);
    if (event.key === "z") pressedAt = 0;
  });
}
