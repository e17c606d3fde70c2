// One person in one preference study: what stands before the questions, the questions, the end.
import { api, say, setKeys, style, toast } from "../shared/common.js";
import { remember } from "../annotate/begin.js";
import { createClock } from "../annotate/work/clock.js";
import { createDrafts } from "../annotate/work/drafts.js";
import { endScreen } from "../annotate/end.js";
import { createPlaces } from "../annotate/work/places.js";
import { createProgress } from "../annotate/progress.js";
import { createSending } from "../annotate/work/sending.js";
import { createWork } from "../annotate/work/main.js";
import { fetchAhead } from "../shared/pictures.js";
import { SIDES, doubt, flip, missing, placeOf, prefer, rate, same, settled, start, unrated } from "./answer.js";
import { createGates } from "./gates.js";
import { keysOf, listen } from "./keys.js";
import { codeBox, openGuidelines } from "./pages.js";
import { sharp } from "./set.js";
import { createSurveyView } from "./view.js";

const JUST_SHOWN_MS = 250; // the second half of a double press does not count for the next question
const LOOKED_S = 2; // so long a look at a question is worth keeping

export async function openSurvey({ body, slot, me, name, others, desk: first }) {
  const [page] = await Promise.all([api("GET", `study/rubric?study=${encodeURIComponent(name)}`), style("survey")]);
  const clock = createClock();
  const drafts = createDrafts(me.name);
  const sending = createSending(me.name, (state) => view.sending(state));
  const places = createPlaces(name, { one: "question" });
  const progress = createProgress(() => work.map());
  const work = createWork({ name, drafts, sending, places, progress, now: () => desk, show, stayed, leave,
    problem: (text) => (desk?.item ? view.problem(text) : text && toast(text)) });
  const gates = createGates({ name, joined: first.joined, page, body, show, others, back: () => step(-1) });
  const sheet = () => openGuidelines(page);
  const whereOf = (item) => placeOf(item, page);
  const view = createSurveyView({ page, act, save, meant, step, sheet, discard, retry: () => sending.retry() });
  let desk = null, answer = start(), active = "A", lacks = null, shownAt = 0, keptAt = 0;
  let asks = false; // whether it was meant

  // --- what is shown -------------------------------------------------------------------------

  function show(next, { said = "" } = {}) {
    desk = next;
    shownAt = performance.now();
    const { item, gate, revision } = desk;
    progress.draw(desk.study.name, desk.progress, item ? whereOf(item) : "");
    remember(item?.id ?? null);
    if (!item) return gate && gate.kind !== "finished" ? gates.show(desk, said) : finished(gate);
    const draft = drafts.latest(desk.study.name, item.id, revision, desk.draft, desk.asked);
    const restored = Boolean(draft) && !same(draft.answer, desk.answer);
    answer = start(restored ? draft.answer : desk.answer);
    [active, lacks, asks] = [unrated(answer) ?? "B", null, false];
    if (!places.has(item.id)) places.load().catch(() => {});
    keptAt = Math.max(draft?.seconds ?? 0, desk.seconds); // a change is timed together with what it changes
    clock.start(keptAt);
    shown(restored);
    body.replaceChildren(view.element);
    window.scrollTo(0, 0);
    fetchAhead(desk.ahead.flatMap(({ images }) => images).map(sharp));
    view.title.focus({ preventScroll: true });
    say(`${whereOf(item)}. ${item.text}`);
  }

  function shown(restored) {
    view.show({ ...desk, name: `Question ${desk.item.number}`, restored, finished: Boolean(desk.item.locked) });
    draw();
  }
  function draw() {
    view.draw({ answer, active, lacks, asks, asksReason: desk.item.ask_reason, unchanged: desk.revision > 0 && same(answer, desk.answer) });
  }

  function finished(gate) {
    const several = page.form_size > 0 && desk.progress.total > page.form_size;
    const end = endScreen(desk, { others, back: () => step(-1), more: work.more, go: work.go, changed: places.changed(), one: "question",
      change: several ? "look back, and change answers of the last form" : undefined, below: gate?.code ? codeBox(gate.code) : null });
    body.replaceChildren(end.element);
    end.title.focus();
    say(end.title.textContent);
  }

  // --- answering -----------------------------------------------------------------------------

  function keep() {
    keptAt = clock.seconds;
    places.begun(desk.item.id, !same(answer, desk.answer));
    drafts.keep({ study: desk.study.name, item: desk.item.id, answer: settled(answer), seconds: keptAt, revision: desk.revision });
  }

  // The question is left, or the page: what was done is kept as it was done, the time of looking is not yet.
  function leave() {
    if (!desk?.item || view.locked || clock.seconds - keptAt < LOOKED_S) return;
    const sent = sending.pending({ study: desk.study.name, item: desk.item.id });
    if (!sent || !same(sent.answer, answer)) keep();
  }

  function become(next) {
    answer = next;
    [lacks, asks] = [null, false];
    view.problem("");
    draw();
    keep();
  }

  function act(what, value, more) {
    if (!desk?.item || view.locked) return;
    if (what === "active") {
      active = value;
      return draw();
    }
    if (what === "rate") {
      active = value;
      become(rate(answer, value, more));
      if (value === "A" && unrated(answer) === "B") act("active", "B");
      return say(`${page.set_names[SIDES.indexOf(value)]}: ${more}, ${page.scale[more - 1].name}`);
    }
    if (what === "prefer" && !SIDES.includes(value) && !page.allow_tie) return;
    become({ prefer, flip, reason: (now, reason) => ({ ...now, reason }) }[what](answer, value));
  }

  function discard() {
    answer = start(desk.answer);
    [lacks, asks] = [null, false];
    drafts.discard(desk.study.name, desk.item.id);
    places.begun(desk.item.id, false);
    shown(false);
  }

  function meant(yes) {
    asks = false;
    if (yes) {
      answer = { ...answer, confirmed: true };
      return save();
    }
    draw();
    view.title.focus({ preventScroll: true });
  }

  // --- saving and going on -------------------------------------------------------------------

  async function save() {
    if (!desk?.item || performance.now() - shownAt < JUST_SHOWN_MS) return;
    if (!desk.study.accepting) {
      const { id } = desk.item, accepting = await work.reopened();
      if (accepting) return work.go(id);
      return accepting === false && view.problem("This study is closed: answers are no longer taken.");
    }
    if (view.locked) return work.go();
    if (asks) return say("Press y to keep it, n to change it.");
    lacks = missing(answer, page, desk.item.ask_reason);
    if (lacks) {
      if (SIDES.includes(lacks.at)) active = lacks.at;
      draw();
      if (active === lacks.at) view.lead(active);
      if (lacks.at === "reason") view.reason.focus();
      return say(lacks.text);
    }
    const question = doubt(answer, page);
    if (question && !answer.confirmed) return ask(question);
    await work.save({ answer: settled(answer), seconds: clock.seconds, same: (sent) => same(answer, sent), stopped });
  }
  function stopped({ kind, message }) {
    if (kind === "confirm") ask(message);
    else keep();
    if (kind === "gate") work.go(); // something has come up, in another window
    return kind === "confirm" || kind === "gate";
  }

  function ask(question) {
    asks = true;
    draw();
    keep();
    say(question);
  }

  function stayed(saved, sent, next) {
    desk = { ...desk, answer: sent.answer, revision: saved.revision, progress: next.progress };
    const more = !same(answer, sent.answer);
    shown(more);
    progress.draw(desk.study.name, desk.progress, whereOf(desk.item));
    if (more) keep();
  }

  // Between the questions, back leads to the one answered last.
  function step(by) {
    const before = places.before();
    if (desk.item || work.headed || by > 0 || !before) return work.step(by);
    work.go(before);
  }

  // --- begin -----------------------------------------------------------------------------------

  slot.replaceChildren(progress.element);
  setKeys(keysOf(page));
  listen({
    here: () => Boolean(desk?.item), asking: () => asks, save,
    leaving: () => sending.flying({ study: desk.study.name, item: desk.item.id }),
    meant, step, sheet, map: work.map, zoom: view.zoom,
    rate: (rating) => act("rate", active, rating), active: (side) => act("active", side), prefer: (side) => act("prefer", side), flip: (to) => act("flip", to),
    reason: () => (desk.item.ask_reason || answer.reason ? view.reason.focus() : toast("This question asks for no reason.")),
    leaveReason: () => view.title.focus({ preventScroll: true }),
  });
  await work.begin(first.joined ? first : { ...first, gate: { kind: "guidelines" } });
}
