// The keys of the survey: the list that "?" shows, and who gets them.
import { dialogOpen, typing } from "../shared/common.js";
import { SIDES, TIE } from "./answer.js";

export const keysOf = (page) => [
  ["1  …  5", `Rate the marked set: first ${page.set_names[0]}, then ${page.set_names[1]}`],
  ["a  b", `Rate ${page.set_names[0]}, ${page.set_names[1]}`],
  ["←  →", `${page.set_names[0]} is better, ${page.set_names[1]} is better`],
  ...(page.allow_tie ? [["=", page.questions.tie]] : []),
  ["i  t", "The results have nothing to do with the image, the text"],
  ["r", "To the reason, where one is asked for; Esc leaves it"],
  ["Enter", "Save and go on"],
  ["y  n", "Where you are asked whether you meant it: keep it, change it"],
  ["Backspace", "Back; with Shift forward. Nothing is saved by it"],
  ["z", "The pictures large; arrows lead from one to the next"],
  ["o", "All questions"], ["d", "Guidelines"], ["?", "These keys"],
];

const PRESSABLE = "button:not([role=radio], .sv-picture, .sv-reference), a, summary"; // Enter is theirs

// ``does``: rate(rating), active(side), prefer(side), flip(to), reason, leaveReason, save, leaving() (whether keys come too soon for what is shown next), meant(yes) and asking(), step(by), zoom, map, sheet
export function listen(does) {
  document.addEventListener("keydown", (event) => {
    if (dialogOpen() || event.isComposing || event.defaultPrevented || !does.here()) return;
    const mine = (action) => { event.preventDefault(); action(); };
    const { key } = event;
    const inTime = (action) => mine(() => does.leaving() || action());
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
      if (!event.target.closest?.(PRESSABLE)) mine(() => event.repeat || does.save());
      return;
    }
    if (event.repeat) return;
    if (key === "Backspace") return mine(() => does.step(event.shiftKey ? 1 : -1));
    if (does.asking() && (key === "y" || key === "n" || key === "Escape")) return mine(() => does.meant(key === "y"));
    if (/^[1-5]$/.test(key)) return inTime(() => does.rate(Number(key)));
    const preferred = { ArrowLeft: "A", "[": "A", ArrowRight: "B", "]": "B", "=": TIE, 0: TIE }[key];
    if (preferred && !event.shiftKey) return inTime(() => does.prefer(preferred));
    const side = SIDES[["a", "b"].indexOf(key)];
    if (side) return inTime(() => does.active(side));
    const answers = { i: () => does.flip("image"), t: () => does.flip("text"), r: does.reason }[key];
    if (answers) return inTime(answers);
    const simple = { z: does.zoom, o: does.map, d: does.sheet }[key];
    if (simple) mine(simple);
  });
}
