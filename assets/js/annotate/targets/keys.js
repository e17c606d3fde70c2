// The keys of a target study: the list that "?" shows, and who gets them.
import { dialogOpen, typing } from "../../shared/common.js";

export const keysOf = () => [
  ["y  n  u", "The marked image answers the query: yes, no, unsure; then the next one"], ["1  2  3", "The same"],
  ["←  →  ↑  ↓", "Another image"], ["x", "Mark all images without a mark: no"], ["Enter", "Save and continue"],
  ["Shift ←  →", "Previous and next query, without saving"], ["z", "Enlarge the image; arrows go through all"], ["f", "Enlarge the reference"],
  ["t", "Write a note; Esc leaves it"], ["d", "Guidelines"], ["o", "All queries"], ["Ctrl Z", "Undo"], ["?", "These keys"],
];

const PRESSABLE = "button:not([role=radio], .st-frame), a, summary"; // Enter is theirs
const MARKS = /** @type {Record<string, string>} */ ({ y: "yes", n: "no", u: "unsure", 1: "yes", 2: "no", 3: "unsure" });

/**
 * @param {{ here(): boolean, leaving(): boolean, mark(mark: string): void, rest(): void, move(key: string): void, step(by: number): void, save(): void, note(): void,
 *   leaveNote(): void, zoom(): void, reference(): void, sheet(): void, map(): void, undo(): void }} does ``leaving``: whether keys come too soon for what is shown next
 */
export function listen(does) {
  document.addEventListener("keydown", (event) => {
    if (dialogOpen() || event.isComposing || event.defaultPrevented) return;
    const mine = (/** @type {() => unknown} */ action) => { event.preventDefault(); action(); };
    const { key } = event;
    const inTime = (/** @type {() => unknown} */ action) => mine(() => does.leaving() || action());
    if (event.ctrlKey || event.metaKey) {
      if (key === "Enter") return mine(() => event.repeat || does.save());
      if (key.toLowerCase() === "z" && !event.shiftKey && !typing(event.target) && does.here()) inTime(does.undo);
      return;
    }
    if (event.altKey) return;
    if (typing(event.target)) {
      if (key === "Escape") mine(does.leaveNote);
      else if (key === "Enter" && !event.shiftKey) mine(() => event.repeat || does.save());
      return;
    }
    if (event.shiftKey && (key === "ArrowLeft" || key === "ArrowRight")) return mine(() => does.step(key === "ArrowLeft" ? -1 : 1));
    if (key === "o") return event.repeat ? undefined : mine(does.map);
    if (!does.here()) return;
    if (!event.shiftKey && key.startsWith("Arrow")) return mine(() => does.move(key));
    if (key === "Enter") {
      if (!(/** @type {Element} */ (event.target)).closest?.(PRESSABLE)) mine(() => event.repeat || does.save());
      return;
    }
    if (event.repeat) return;
    if (MARKS[key]) return inTime(() => does.mark(MARKS[key]));
    const simple = /** @type {Record<string, () => void>} */ ({ x: does.rest, t: does.note });
    if (simple[key]) return inTime(simple[key]);
    const looking = /** @type {Record<string, () => void>} */ ({ z: does.zoom, f: does.reference, d: does.sheet });
    if (looking[key]) mine(looking[key]);
  });
}
