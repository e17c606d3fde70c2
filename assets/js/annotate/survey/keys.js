// The keys of the survey: the list that "?" shows, and who gets them.
import { dialogOpen, typing } from "../../shared/common.js";
import { SIDES, TIE } from "./answer.js";

export const KEY_OF_MARK = /** @type {Record<Mark, string>} */ ({ either: "i", image: "i", text: "t" });

export const keysOf = (/** @type {Survey} */ page) => [
  ["1  …  5", `Rate the marked set: first ${page.set_names[0]}, then ${page.set_names[1]}`],
  ["a  b", `Rate ${page.set_names[0]}, ${page.set_names[1]}`],
  ["←  →", `Prefer ${page.set_names[0]}, ${page.set_names[1]}`],
  ...(page.allow_tie ? [["=", page.questions.tie]] : []),
  ...page.questions.marks.map(({ to, text }) => [KEY_OF_MARK[to], text]),
  ["r", "Go to the reason, if one is needed; Esc leaves it"],
  ["Enter", "Save and continue"],
  ["y  n", "When asked for confirmation: keep or change"],
  ["Backspace", "Back; with Shift forward. Does not save"],
  ["z", "Enlarge images; arrows go through them"],
  ["o", "All questions"], ["d", "Guidelines"], ["?", "These keys"],
];

const PRESSABLE = "button:not([role=radio], .sv-picture, .sv-reference), a, summary"; // Enter is theirs

/**
 * @param {{ here(): boolean, asking(): boolean, save(): void, leaving(): boolean, meant(yes: boolean): void, step(by: number): void, sheet(): void, map(): void,
 *   zoom(): void, rate(rating: number): void, active(side: Side): void, prefer(side: Side | "tie"): void, flip(to: Mark): void, marks: Mark[],
 *   reason(): void, leaveReason(): void }} does ``leaving``: whether keys come too soon for what is shown next
 */
export function listen(does) {
  document.addEventListener("keydown", (event) => {
    if (dialogOpen() || event.isComposing || event.defaultPrevented || !does.here()) return;
    const mine = (/** @type {() => unknown} */ action) => { event.preventDefault(); action(); };
    const { key } = event;
    const inTime = (/** @type {() => unknown} */ action) => mine(() => does.leaving() || action());
    if (event.ctrlKey || event.metaKey) {
      if (key === "Enter") mine(() => event.repeat || does.save());
      return;
    }
    if (event.altKey) return;
    if (typing(event.target)) {
      if (key === "Escape") mine(does.leaveReason);
      else if (key === "Enter" && !event.shiftKey) mine(() => event.repeat || does.save());
      return;
    }
    if (key === "Enter") {
      if (!(/** @type {Element} */ (event.target)).closest?.(PRESSABLE)) mine(() => event.repeat || does.save());
      return;
    }
    if (event.repeat) return;
    if (key === "Backspace") return mine(() => does.step(event.shiftKey ? 1 : -1));
    if (does.asking() && (key === "y" || key === "n" || key === "Escape")) return mine(() => does.meant(key === "y"));
    if (/^[1-5]$/.test(key)) return inTime(() => does.rate(Number(key)));
    /** @type {Record<string, Side | "tie">} */
    const preferences = { ArrowLeft: "A", "[": "A", ArrowRight: "B", "]": "B", "=": TIE, 0: TIE }, preferred = preferences[key];
    if (preferred && !event.shiftKey) return inTime(() => does.prefer(preferred));
    const side = SIDES[["a", "b"].indexOf(key)];
    if (side) return inTime(() => does.active(side));
    /** @type {Record<string, () => void>} */
    const answers = { ...Object.fromEntries(does.marks.map((to) => [KEY_OF_MARK[to], () => does.flip(to)])), r: does.reason };
    if (answers[key]) return inTime(answers[key]);
    const simple = /** @type {Record<string, () => void>} */ ({ z: does.zoom, o: does.map, d: does.sheet });
    if (simple[key]) mine(simple[key]);
  });
}
