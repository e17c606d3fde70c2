// One person at work in one study: an item, the answer to it, and what becomes of it.
import { api, say, setKeys, toast } from "../shared/common.js";
import { missing, orList, same, settled } from "./answer.js";
import { createClock } from "./work/clock.js";
import { createEditing } from "./edit.js";
import { endScreen } from "./end.js";
import { keysOf, listen } from "./keys.js";
import { createPanel } from "./panel.js";
import { openSheet } from "./sheet.js";
import { remember } from "./begin.js";
import { createView } from "./view.js";
import { createWork } from "./work/main.js";
/** @import { Refused } from "./work/sending.js" */
import { createPictures, fetchAhead } from "../shared/pictures.js";
import { createRubric } from "./rubric.js";

const JUST_SHOWN_MS = 250; // the second half of a double press does not count for the next item
const LOOKED_S = 2; // so long a look at an item is worth keeping

/** @param {{ body: HTMLElement, slot: HTMLElement, me: Me, name: string, others(): void, desk: ValidityDesk }} of */
export async function openDesk({ body, slot, me, name, others, desk: first }) {
  const rubric = /** @type {Rubric} */ (await api("GET", `study/rubric?study=${encodeURIComponent(name)}`));
  const clock = createClock();
  const pictures = createPictures();
  const panel = createPanel(rubric, act);
  const form = createRubric(rubric, act);
  const work = /** @type {import("./work/main.js").Work<Validity>} */ (createWork({ name, me, now: () => desk, show, stayed, leave, view: () => view }));
  const { drafts, sending, places, progress } = work;
  const view = createView({ form, pictures, panel, save, unsure: () => act("unsure"), sheet, step: work.step, discard, retry: () => sending.retry() });
  const edit = createEditing(rubric, changed);
  let desk = /** @type {ValidityDesk | null} */ (null), shownAt = 0, keptAt = 0; // in the page's milliseconds; in seconds of looking

  // --- what is shown -------------------------------------------------------------------------

  function show(/** @type {ValidityDesk} */ next, /** @type {{ focus?: boolean }} */ { focus = true } = {}) {
    desk = next;
    progress.draw(desk.study.name, desk.progress);
    if (!desk.item) return finished(desk);
    const { item, revision } = desk;
    remember(item.id);
    const draft = drafts.latest(desk.study.name, item.id, revision, desk.draft, desk.asked);
    const restored = draft !== null && !same(draft.answer, desk.answer ?? {}, rubric);
    // What was looked at, and for how long, goes on where it was left, whatever was answered.
    const opened = Boolean(desk.answer?.panel_opened || draft?.answer.panel_opened);
    edit.reset({ ...desk.answer, ...(restored ? draft?.answer : {}), panel_opened: opened });
    shownAt = performance.now();
    if (!places.has(item.id)) places.load().catch(() => {});
    keptAt = Math.max(draft?.seconds ?? 0, desk.seconds); // a change is timed together with what it changes
    clock.start(keptAt);
    pictures.show(item);
    panel.show(item.panel);
    view.show({ ...desk, item, number: places.number(item), restored });
    body.replaceChildren(view.element);
    form.complain(null);
    draw();
    fetchAhead(desk.ahead.flatMap(({ images }) => images));
    if (focus) view.title.focus({ preventScroll: true });
    say(`Item ${places.number(item)}. ${item.text}`);
  }

  function draw() {
    form.draw(edit.answer, edit.active);
    panel.draw(edit.answer);
    view.draw({ answer: edit.answer, unchanged: Boolean(desk?.revision && desk.answer && same(edit.answer, desk.answer, rubric)) });
  }

  function finished(/** @type {ValidityDesk} */ desk) {
    remember(null);
    const end = endScreen(desk, { others, back: () => work.step(-1), more: work.more, go: work.go, changed: places.changed() });
    body.replaceChildren(end.element);
    end.title.focus();
    say(end.title.textContent);
  }

  // --- answering -----------------------------------------------------------------------------

  function keep() {
    if (!desk?.item) return;
    keptAt = clock.seconds;
    places.begun(desk.item.id, !same(edit.answer, desk.answer ?? {}, rubric));
    drafts.keep({ study: desk.study.name, item: desk.item.id, answer: settled(edit.answer, rubric), seconds: keptAt, revision: desk.revision });
  }

  // The item is left, or the page: what was done is kept as it was done, the time of looking is not yet.
  function leave() {
    if (!desk?.item || !desk.study.accepting || clock.seconds - keptAt < LOOKED_S) return;
    const sent = sending.pending({ study: desk.study.name, item: desk.item.id });
    if (!sent || !same(sent.answer, edit.answer, rubric)) keep();
  }

  function changed() {
    form.complain(null);
    view.problem("");
    draw();
    keep();
  }

  /** @param {string} what @param {string} [value] */
  function act(what, value) {
    if (!desk?.item) return;
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

  function discard() {
    if (!desk?.item) return;
    edit.replace({ ...desk.answer, panel_opened: edit.answer.panel_opened });
    drafts.discard(desk.study.name, desk.item.id);
    places.begun(desk.item.id, false);
    view.show({ ...desk, item: desk.item, number: places.number(desk.item), restored: false });
    draw();
  }

  // --- saving and going on -------------------------------------------------------------------

  async function save() {
    if (!desk?.item || performance.now() - shownAt < JUST_SHOWN_MS) return;
    if (!desk.study.accepting && !(await reopened())) return;
    const lacks = missing(edit.answer, rubric);
    form.complain(lacks);
    if (lacks) return say(lacks.text);
    await work.save({ answer: settled(edit.answer, rubric), seconds: clock.seconds, same: (sent) => same(edit.answer, sent, rubric), stopped: () => void keep() });
  }

  async function reopened() {
    const item = desk?.item, accepting = await work.reopened();
    if (accepting === null || !desk || desk.item?.id !== item?.id) return false;
    if (!accepting) view.problem("This study is closed: it no longer accepts answers.");
    if (!accepting) return false;
    desk = { ...desk, study: { ...desk.study, accepting } };
    view.accepting(desk.study);
    return true;
  }

  function stayed(/** @type {Saved} */ saved, /** @type {Sent<Validity>} */ sent, /** @type {Acknowledged<Validity>["desk"]} */ next) {
    if (!desk?.item) return;
    desk = { ...desk, answer: sent.answer, revision: saved.revision, progress: next.progress };
    const more = !same(edit.answer, sent.answer, rubric);
    view.show({ ...desk, item: /** @type {Item} */ (desk.item), number: places.number(/** @type {Item} */ (desk.item)), restored: more });
    progress.draw(desk.study.name, desk.progress);
    if (more) changed();
    else draw();
  }

  function sheet() { openSheet(rubric, edit.active ?? edit.answer.flags.at(-1)); }

  // --- begin -----------------------------------------------------------------------------------

  // A key pressed while the answer is on its way was meant for the next item, which is not there yet.
  const leaving = () => desk?.item ? sending.flying({ study: desk.study.name, item: desk.item.id }) : false;

  slot.replaceChildren(progress.element);
  setKeys(keysOf(rubric));
  /** @type {<Given extends unknown[]>(action: (...given: Given) => unknown) => (...given: Given) => unknown} */
  const withItem = (action) => (...given) => desk?.item && action(...given);
  listen(rubric, {
    flag: (code) => act("flag", code), valid: () => act("valid"), reason: withItem(reason), unsure: () => act("unsure"),
    note: withItem(() => form.note.focus()), leaveNote: () => view.title.focus({ preventScroll: true }), panel: withItem(() => panel.toggle()),
    save, leaving, step: work.step, sheet, map: work.map, undo: withItem(() => edit.undo() && say("Undone")), zoom: withItem(pictures.zoom), zoomed: () => pictures.zoomed, pan: pictures.pan,
  });
  setInterval(() => { if (desk?.item && !document.hidden) view.late(clock.seconds >= rubric.unsure_after); }, 1000);
  await work.begin(first);
}
