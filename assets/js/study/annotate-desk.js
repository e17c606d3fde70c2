// One person at work in one study: an item, the answer to it, and what becomes of it.
import { api, say, setKeys, toast } from "./common.js";
import { missing, same, settled } from "./answer.js";
import { createClock } from "./annotate-clock.js";
import { createDrafts } from "./annotate-drafts.js";
import { createEditing } from "./annotate-edit.js";
import { endScreen } from "./annotate-end.js";
import { KEYS, listen } from "./annotate-keys.js";
import { createPanel } from "./annotate-panel.js";
import { createPlaces } from "./annotate-places.js";
import { createProgress } from "./annotate-progress.js";
import { createSending } from "./annotate-sending.js";
import { openSheet } from "./annotate-sheet.js";
import { createView } from "./annotate-view.js";
import { createPictures, fetchAhead } from "./pictures.js";
import { createRubric } from "./rubric.js";

const JUST_SHOWN_MS = 250; // the second half of a double press does not count for the next item

export async function openDesk({ body, slot, me, name, others }) {
  const query = `study=${encodeURIComponent(name)}`;
  const rubric = await api("GET", `study/rubric?${query}`);
  const clock = createClock();
  const drafts = createDrafts(me.name);
  const sending = createSending(me.name, (state) => view.sending(state));
  const pictures = createPictures();
  const panel = createPanel(rubric, act);
  const form = createRubric(rubric, act);
  const places = createPlaces(name);
  const progress = createProgress(() => map());
  const view = createView({ rubric, form, pictures, panel, save, unsure: () => act("unsure"), sheet, step, discard, retry: () => sending.retry() });
  const edit = createEditing(rubric, changed);
  let desk = null, shownAt = 0, asked = 0;

  // --- what is shown -------------------------------------------------------------------------

  function show(next, { focus = true } = {}) {
    desk = next;
    progress.draw(desk.study.name, desk.progress);
    if (!desk.item) return finished();
    const { item, revision } = desk;
    const draft = drafts.latest(desk.study.name, item.id, revision, desk.draft);
    const restored = Boolean(draft) && !same(draft.answer, desk.answer ?? {}, rubric);
    edit.reset(restored ? { ...desk.answer, ...draft.answer } : desk.answer);
    shownAt = performance.now();
    if (!places.has(item.id)) places.load().catch(() => {});
    clock.start(restored ? draft.seconds : 0);
    pictures.show(item);
    panel.show(item.panel);
    view.show({ ...desk, number: places.number(item), restored });
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
    view.draw({ answer: edit.answer, unchanged: desk.revision > 0 && same(edit.answer, desk.answer, rubric) });
  }

  function finished() {
    const end = endScreen(desk, { others, back: () => step(-1), more: async () => {
      try {
        const { added, desk: next } = await api("POST", "study/more", { study: name });
        if (added) await places.load();
        if (added) show(next);
        return added ? "" : "There is nothing more to take at the moment.";
      } catch (problem) {
        return problem.message;
      }
    } });
    body.replaceChildren(end.element);
    end.title.focus();
    say(end.title.textContent);
  }

  // --- answering -----------------------------------------------------------------------------

  const keep = () => drafts.keep({ study: desk.study.name, item: desk.item.id, answer: settled(edit.answer, rubric),
    seconds: clock.seconds, revision: desk.revision });

  function changed() {
    form.complain(null);
    view.problem("");
    draw();
    keep();
  }

  function act(what, value) {
    if (!desk?.item) return;
    if (what === "folded") return view.title.focus({ preventScroll: true });
    const said = edit.act(what, value);
    if (said) toast(said);
  }

  function reason(key) {
    const code = edit.reasonOf(key);
    if (code) return act("reason", code);
    form.complain({ at: "flags", text: "a, b and c belong to a flag: press 1, 2 or 3 first." }, { focus: false });
  }

  function discard() {
    edit.replace({ ...desk.answer, panel_opened: edit.answer.panel_opened });
    view.show({ ...desk, number: places.number(desk.item), restored: false });
    draw();
  }

  // --- saving and going on -------------------------------------------------------------------

  async function save() {
    if (!desk?.item || performance.now() - shownAt < JUST_SHOWN_MS) return;
    if (!desk.study.accepting) return view.problem("This study is closed: answers are no longer taken.");
    const lacks = missing(edit.answer, rubric);
    form.complain(lacks);
    if (lacks) return say(lacks.text);
    const { item, revision, study } = desk;
    const given = settled(edit.answer, rubric);
    const press = sending.save({ study: study.name, item: item.id, answer: given, seconds: clock.seconds, seen_revision: revision, then: "next" },
      drafts.drop(study.name, item.id));
    if (!press) return;
    try {
      acknowledged(await press);
    } catch (problem) {
      if (desk?.item?.id !== item.id) return toast(problem.message);
      view.problem(problem.message);
      keep();
    }
  }

  function acknowledged({ saved, desk: next, sent, replaced }) {
    places.note(sent.item, saved.unsure ? "unsure" : "done");
    if (saved.overtook && !replaced) {
      toast(saved.repeated ? "You had answered this in another window already, and the same."
        : `You had answered this in another window; that answer is kept as revision ${saved.revision - 1}.`);
    }
    if (desk.item?.id !== sent.item) { // gone back or forth meanwhile
      progress.draw(next.study.name, next.progress);
      return toast("The answer of before is saved.");
    }
    if (same(edit.answer, sent.answer, rubric)) return show(next);
    desk = { ...desk, answer: sent.answer, revision: saved.revision, progress: next.progress };
    view.show({ ...desk, number: places.number(desk.item), restored: true });
    changed();
    toast("Saved. What you have changed since is not saved yet.");
  }

  async function go(item) {
    const mine = ++asked;
    view.problem("");
    await Promise.race([drafts.send(), new Promise((resolve) => setTimeout(resolve, 1500))]);
    try {
      const next = await api("GET", `study/at?${query}&item=${encodeURIComponent(item)}`);
      if (mine === asked) show(next);
    } catch (problem) {
      if (mine === asked) (desk?.item ? view.problem : toast)(problem.message);
    }
  }

  function step(by) {
    const to = desk.item ? places.from(desk.item, by) : by < 0 ? places.last : undefined;
    if (to) return go(to);
    toast(by < 0 ? "This is the first one." : "This is the last one.");
  }

  async function map() {
    const to = await places.choose(desk.item?.id);
    places.load().catch(() => {}); // what another window has done since
    if (to) go(to);
  }
  function sheet() { openSheet(rubric, edit.active ?? edit.answer.flags.at(-1)); }

  // --- begin -----------------------------------------------------------------------------------

  slot.replaceChildren(progress.element);
  setKeys(KEYS);
  const withItem = (action) => (...given) => desk?.item && action(...given);
  listen(rubric, {
    flag: (code) => act("flag", code), valid: () => act("valid"), reason: withItem(reason), unsure: () => act("unsure"),
    note: withItem(() => form.note.focus()), leaveNote: () => view.title.focus({ preventScroll: true }), panel: withItem(() => panel.toggle()),
    save, step, sheet, map, undo: withItem(() => edit.undo() && say("Undone")), zoom: withItem(pictures.zoom), zoomed: () => pictures.zoomed, pan: pictures.pan,
  });
  setInterval(() => { if (desk?.item && !document.hidden) view.late(clock.seconds >= rubric.unsure_after); }, 1000);
  const late = await sending.catchUp((refused, problem) => {
    drafts.hold(refused);
    toast(`An answer from before was not taken: ${problem.message}`);
  });
  if (late) toast(late === 1 ? "An answer from before was still waiting here; it is saved now." : `${late} answers from before were still waiting here; they are saved now.`);
  const first = await api("GET", `study/at?${query}`);
  await places.load();
  show(first);
}
