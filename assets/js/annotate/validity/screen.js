// The screen of a validity study: two pictures, the images found for the query, and the rubric.
import { say, toast } from "../../shared/common.js";
import { createPictures } from "../../shared/pictures.js";
import { missing, orList, same, settled } from "./answer.js";
import { createEditing } from "./edit.js";
import { listen } from "../keys.js";
import { holdToZoom, keyTable } from "./keys.js";
import { createPanel } from "./panel.js";
import { createRubric } from "./rubric.js";
import { openSheet } from "./sheet.js";
import { createView } from "./view.js";

export { keysOf } from "./keys.js";

/** @param {Rubric} rubric @param {ScreenActions} does @returns {ItemScreen<Item, Validity>} */
export function createScreen(rubric, { here, changed, save, step, map, discard, retry, leaving }) {
  const pictures = createPictures();
  const panel = createPanel(rubric, act);
  const form = createRubric(rubric, act);
  const view = createView({ form, pictures, panel, save, unsure: () => act("unsure"), sheet, step, discard, retry });
  const edit = createEditing(rubric, changed);

  /** @param {string} what @param {string} [value] */
  function act(what, value) {
    if (!here()) return;
    if (what === "folded") return view.title.focus({ preventScroll: true });
    const said = edit.act(what, value);
    if (said) toast(said);
  }

  function reason(/** @type {string} */ key) {
    const code = edit.reasonOf(key);
    if (code) return act("reason", code);
    const keys = rubric.flags.filter((flag) => flag.reasons.length).map((flag) => flag.key);
    form.complain({ at: "flags", text: `“${key}” belongs to a flag: press ${orList(keys)} first.` }, { focus: false });
  }

  function sheet() { openSheet(rubric, edit.active ?? edit.answer.flags.at(-1)); }

  const zoomed = () => pictures.zoomed;
  listen(keyTable(rubric, {
    flag: (code) => act("flag", code), valid: () => act("valid"), reason, unsure: () => act("unsure"), note: () => form.note.focus(), panel: () => panel.toggle(),
    save, step, sheet, map, undo: () => { if (edit.undo()) say("Undone"); }, zoom: holdToZoom({ zoom: pictures.zoom, zoomed }), zoomed,
    unzoom: () => pictures.zoom(false), pan: pictures.pan,
  }), { here, leaving, save, leaveNote: () => view.title.focus({ preventScroll: true }),
    theirs: (target) => !target.closest?.("[role=option]") && Boolean(target.closest?.("button, a, summary")) });

  return {
    element: view.element,
    title: view.title,
    get answer() { return settled(edit.answer, rubric); },
    same: (one, other) => same(one, other, rubric),
    missing: () => missing(edit.answer, rubric),
    complain: (lacks) => form.complain(lacks),
    // What was looked at goes on where it was left, whatever was answered.
    begin(answer, draft, restored) {
      edit.reset({ ...answer, ...(restored ? draft : {}), panel_opened: Boolean(answer?.panel_opened || draft?.panel_opened) });
    },
    replace: (answer) => { edit.replace({ ...answer, panel_opened: edit.answer.panel_opened }); },
    open(item) {
      pictures.show(item);
      panel.show(item.panel);
      view.open(item);
    },
    show: view.show,
    draw(unchanged) {
      form.draw(edit.answer, edit.active);
      panel.draw(edit.answer);
      view.draw({ answer: edit.answer, unchanged });
    },
    spoken: (item) => item.text,
    looked: (seconds) => view.late(seconds >= rubric.unsure_after),
    accepting: view.accepting,
    problem: view.problem,
    sending: view.sending,
  };
}
