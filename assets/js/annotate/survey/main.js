// One person in one preference study: what stands before the questions, the questions, the end.
import { api, createGuard, say, setKeys, style, toast } from "../../shared/common.js";
import { remember } from "../begin.js";
import { createClock } from "../work/clock.js";
import { endScreen } from "../workspace.js";
import { createTalk } from "../work/discussion.js";
import { createWork } from "../work/main.js";
import { trainingName } from "../work/training.js";
import { SIDES, doubt, flip, missing, placeOf, prefer, rate, same, settled, start, unrated } from "./answer.js";
import { createGates, codeBox, openGuidelines } from "./pages.js";
import { listen } from "../keys.js";
import { keyTable, keysOf } from "./keys.js";
import { sharp, createSurveyView } from "./view.js";
import { t } from "../../shared/language.js";
/** @import { Refused } from "../work/sending.js" */
/** @import { Lacks } from "./answer.js" */

const LOOKED_S = 2; // so long a look at a question is worth keeping

/** @param {{ body: HTMLElement, slot: HTMLElement, me: Me, name: string, others(): void, desk: SurveyDesk }} of */
export async function openSurvey({ body, slot, me, name, others, desk: first }) {
  const [found] = await Promise.all([api("GET", `study/rubric?study=${encodeURIComponent(name)}`), style("survey")]);
  const page = /** @type {Survey} */ (found);
  const clock = createClock(), justShown = createGuard(), talk = createTalk(name);
  const work = /** @type {import("../work/main.js").Work<Preference>} */ (
    createWork({ name, me, body, one: t("question"), many: t("questions"), sharp, now: () => desk, show, stayed, leave, view: () => view }));
  const { drafts, sending, places, progress } = work;
  const gates = createGates({ name, joined: first.joined, page, body, show: work.came, others, back: () => step(-1) });
  const sheet = () => openGuidelines(page);
  const whereOf = (/** @type {Question} */ item) => trainingName(desk) || placeOf(item, page);
  const view = createSurveyView({ page, act, save, meant, step, sheet, discard, retry: () => sending.retry() });
  let desk = /** @type {SurveyDesk | null} */ (null), answer = start(), keptAt = 0;
  let active = /** @type {Side} */ ("A"), lacks = /** @type {Lacks | null} */ (null);
  let asks = false; // whether it was meant

  // --- what is shown -------------------------------------------------------------------------

  function show(/** @type {SurveyDesk} */ next, /** @type {{ said?: string }} */ { said = "" } = {}) {
    desk = next;
    justShown.start();
    const { item, gate, revision } = desk;
    progress.draw(desk.study.name, desk.progress, item ? whereOf(item) : "");
    remember(item?.id ?? null);
    talk.show(desk.study, item, revision);
    if (!item) return gate && gate.kind !== "finished" ? gates.show(gate, desk.progress.done > 0, said) : finished(desk, gate);
    const draft = drafts.latest(desk.study.name, item.id, revision, desk.draft, desk.asked);
    const restored = draft !== null && !same(draft.answer, desk.answer);
    answer = start(restored ? draft?.answer : desk.answer);
    [active, lacks, asks] = [unrated(answer) ?? "B", null, false];
    if (!places.has(item.id)) places.load().catch(() => {});
    keptAt = Math.max(draft?.seconds ?? 0, desk.seconds); // a change is timed together with what it changes
    clock.start(keptAt);
    shown(restored);
    body.replaceChildren(view.element);
    window.scrollTo(0, 0);
    view.title.focus({ preventScroll: true });
    say(`${whereOf(item)}. ${item.text}`);
  }

  function shown(/** @type {boolean} */ restored) {
    if (!desk?.item) return;
    view.show({ ...desk, item: desk.item, name: trainingName(desk) || t("Question {number}", { number: desk.item.number }), restored, finished: Boolean(desk.item.locked) });
    draw();
  }
  function draw() {
    if (!desk?.item) return;
    view.draw({ answer, active, lacks, asks, asksReason: desk.item.ask_reason, unchanged: desk.revision > 0 && same(answer, desk.answer) });
  }

  function finished(/** @type {SurveyDesk} */ desk, /** @type {Gate | null | undefined} */ gate) {
    const several = page.form_size > 0 && desk.progress.total > page.form_size;
    const end = endScreen(desk, { me, others, back: () => step(-1), more: work.more, go: work.go, changed: places.changed(), one: t("question"), many: t("questions"),
      change: several ? t("You can still review, and change answers of the last form.") : null, below: gate?.code ? codeBox(gate.code) : null });
    body.replaceChildren(end.element);
    end.title.focus();
    say(end.title.textContent);
  }

  // --- answering -----------------------------------------------------------------------------

  function keep() {
    if (!desk?.item) return;
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

  function become(/** @type {Preference} */ next) {
    answer = next;
    [lacks, asks] = [null, false];
    view.problem("");
    draw();
    keep();
  }

  /** @type {import("./view.js").Act} */
  function act(what, value, more = 0) {
    const side = /** @type {Side} */ (value);
    if (!desk?.item || view.locked) return;
    if (what === "active") {
      active = side;
      return draw();
    }
    if (what === "rate") {
      active = side;
      become(rate(answer, side, more));
      if (side === "A" && unrated(answer) === "B") act("active", "B");
      return say(`${page.set_names[SIDES.indexOf(side)]}: ${more}, ${page.scale[more - 1].name}`);
    }
    if (what === "prefer" && !SIDES.includes(side) && !page.allow_tie) return;
    if (what === "prefer") become(prefer(answer, side));
    else if (what === "flip") become(flip(answer, /** @type {Mark} */ (value)));
    else become({ ...answer, reason: value });
  }

  function discard() {
    if (!desk?.item) return;
    answer = start(desk.answer);
    [lacks, asks] = [null, false];
    drafts.discard(desk.study.name, desk.item.id);
    places.begun(desk.item.id, false);
    shown(false);
  }

  function meant(/** @type {boolean} */ yes) {
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
    if (!desk?.item || justShown.runs) return;
    if (!desk.study.accepting) {
      const { id } = desk.item, accepting = await work.reopened();
      if (accepting) return work.go(id);
      return accepting === false && view.problem(t("This study is closed: it no longer accepts answers."));
    }
    if (view.locked) return work.go();
    if (asks) return say(t("Press y to keep it, n to change it."));
    lacks = missing(answer, page, desk.item.ask_reason);
    if (lacks) {
      if (lacks.at === "A" || lacks.at === "B") active = lacks.at;
      draw();
      if (active === lacks.at) view.lead(active);
      if (lacks.at === "reason") view.reason.focus();
      return say(lacks.text);
    }
    const question = doubt(answer, page);
    if (question && !answer.confirmed) return ask(question);
    await work.save({ answer: settled(answer), seconds: clock.seconds, same: (sent) => same(answer, sent), stopped });
  }
  function stopped(/** @type {Refused<Preference>} */ { kind, message }) {
    if (kind === "confirm") ask(message);
    else keep();
    if (kind === "gate") work.go(); // something has come up, in another window
    return kind === "confirm" || kind === "gate";
  }

  function ask(/** @type {string} */ question) {
    asks = true;
    draw();
    keep();
    say(question);
  }

  function stayed(/** @type {Saved} */ saved, /** @type {Sent<Preference>} */ sent, /** @type {Acknowledged<Preference>["desk"]} */ next) {
    if (!desk?.item) return;
    const { item } = desk;
    desk = { ...desk, answer: sent.answer, revision: saved.revision, progress: next.progress };
    const more = !same(answer, sent.answer);
    shown(more);
    progress.draw(desk.study.name, desk.progress, whereOf(item));
    talk.show(desk.study, item, desk.revision);
    if (more) keep();
  }

  // Between the questions, back leads to the one answered last.
  function step(/** @type {number} */ by) {
    const before = places.before();
    if (desk?.item || work.headed || by > 0 || !before) return work.step(by);
    work.go(before);
  }

  // --- begin -----------------------------------------------------------------------------------

  slot.replaceChildren(progress.element, talk.element);
  setKeys(keysOf(page));
  listen(keyTable(page, {
    asking: () => asks, save, meant, step, sheet, map: work.map, zoom: view.zoom,
    rate: (rating) => act("rate", active, rating), active: (side) => act("active", side), prefer: (side) => act("prefer", side), flip: (to) => act("flip", to),
    note: () => (desk?.item?.ask_reason || answer.reason ? view.reason.focus() : toast(t("This question needs no reason."))),
  }), {
    here: () => Boolean(desk?.item), save, away: false, leaveNote: () => view.title.focus({ preventScroll: true }),
    leaving: () => (desk?.item ? sending.flying({ study: desk.study.name, item: desk.item.id }) : false),
  });
  await work.begin(first.joined ? first : { ...first, gate: { kind: "guidelines" } });
}
