// The keys of a session study: the list that "?" shows, and who gets them.
import { dialogOpen, typing } from "../../shared/common.js";

export const keysOf = (/** @type {SessionPage} */ { points }) => [
  [`${points[0]}  …  ${points[points.length - 1]}`, "Answer the marked question and go to the next one"], ["↑  ↓", "Previous and next question"],
  ["Enter", "Save and continue"], ["←  →", "Previous and next session, without saving"], ["r", "Go to the reason; Esc leaves it"],
  ["z", "Enlarge images; arrows go through them"], ["d", "Guidelines"], ["o", "All sessions"], ["Ctrl Z", "Undo"], ["?", "These keys"],
];

const PRESSABLE = "button:not([role=radio], .st-frame), a, summary"; // Enter is theirs

/**
 * @param {number[]} points
 * @param {{ here(): boolean, leaving(): boolean, rate(rating: number): void, move(by: number): void, step(by: number): void, save(): void, reason(): void,
 *   leaveReason(): void, zoom(): void, sheet(): void, map(): void, undo(): void }} does ``leaving``: whether keys come too soon for what is shown next
 */
export function listen(points, does) {
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
      if (key === "Escape") mine(does.leaveReason);
      else if (key === "Enter" && !event.shiftKey) mine(() => event.repeat || does.save());
      return;
    }
    if (key === "ArrowLeft" || key === "ArrowRight") return event.shiftKey ? undefined : mine(() => does.step(key === "ArrowLeft" ? -1 : 1));
    if (key === "o") return event.repeat ? undefined : mine(does.map);
    if (!does.here()) return;
    if (key === "ArrowUp" || key === "ArrowDown") return mine(() => does.move(key === "ArrowUp" ? -1 : 1));
    if (key === "Enter") {
      if (!(/** @type {Element} */ (event.target)).closest?.(PRESSABLE)) mine(() => event.repeat || does.save());
      return;
    }
    if (event.repeat) return;
    const rating = points.find((point) => String(point) === key);
    if (rating !== undefined) return inTime(() => does.rate(rating));
    if (key === "r") return inTime(does.reason);
    const simple = /** @type {Record<string, () => void>} */ ({ z: does.zoom, d: does.sheet });
    if (simple[key]) mine(simple[key]);
  });
}
