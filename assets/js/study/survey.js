// One person in one preference study: what stands before the questions, the questions, the end.
import { api, say, setKeys, style, toast, token } from "./common.js";
import { createClock } from "./annotate-clock.js";
import { createDrafts } from "./annotate-drafts.js";
import { endScreen } from "./annotate-end.js";
import { createPlaces } from "./annotate-places.js";
import { createProgress } from "./annotate-progress.js";
import { createSending } from "./annotate-sending.js";
import { createWork } from "./annotate-work.js";
import { fetchAhead } from "./pictures.js";
import { SIDES, doubt, flip, missing, prefer, rate, same, settled, start, unrated } from "./survey-answer.js";
import { keysOf, listen } from "./survey-keys.js";
import { checkPage, codeBox, consentPage, guidelinesPage, openGuidelines } from "./survey-pages.js";
import { createSurveyView } from "./survey-view.js";

const JUST_SHOWN_MS = 250; // the second half of a double press does not count for the next question
const WRONG = "That was not it. Take your time: here is another one.";

export async function openSurvey({ body, slot, me, name, others, desk: first }) {
  const [page] = await Promise.all([api("GET", `study/rubric?study=${encodeURIComponent(name)}`), style("survey")]);
  const clock = createClock();
  const drafts = createDrafts(me.name);
  const sending = createSending(me.name, (state) => view.sending(state));
  const places = createPlaces(name, { one: "question" });
  const progress = createProgress(() => work.map());
  const work = createWork({ name, drafts, sending, places, progress, now: () => desk, show, problem: (text) => (desk?.item ? view.problem(text) : text && toast(text)) });
  const sheet = () => openGuidelines(page);
  const view = createSurveyView({ page, act, save, meant, step, sheet, discard, retry: () => sending.retry() });
  let desk = null, answer = start(), active = "A", lacks = null, shownAt = 0;
  let asks = false, asked = false; // whether it was meant: now, or before; once for each question

  // --- what is shown -------------------------------------------------------------------------

  function show(next, { said = "" } = {}) {
    desk = next;
    shownAt = performance.now();
    const { item, gate, revision } = desk;
    progress.draw(desk.study.name, desk.progress, item ? whereOf(item) : "");
    if (!item) return gate && gate.kind !== "finished" ? stand(gate, said) : finished(gate);
    const draft = drafts.latest(desk.study.name, item.id, revision, desk.draft);
    const restored = Boolean(draft) && !same(draft.answer, desk.answer);
    answer = start(restored ? draft.answer : desk.answer);
    [active, lacks, asks, asked] = [unrated(answer) ?? "B", null, false, answer.confirmed];
    if (!places.has(item.id)) places.load().catch(() => {});
    clock.start(restored ? draft.seconds : 0);
    shown(restored);
    body.replaceChildren(view.element);
    window.scrollTo(0, 0);
    fetchAhead(desk.ahead.flatMap(({ images }) => images));
    view.title.focus({ preventScroll: true });
    say(`${whereOf(item)}. ${item.text}`);
  }

  function whereOf({ number, of, form, forms }) {
    const size = page.form_size > 0 ? page.form_size : of;
    const [before, inForm] = [size * (form - 1), number - size * (form - 1)];
    const fits = inForm >= 1 && inForm <= size;
    const words = fits ? `Question ${inForm} of ${Math.min(size, of - before)}` : `Question ${number} of ${of}`;
    return forms > 1 ? `${words} · form ${form} of ${forms}` : words;
  }

  function shown(restored) {
    view.show({ ...desk, name: `Question ${desk.item.number}`, restored, finished: Boolean(desk.item.locked) });
    draw();
  }
  function draw() {
    view.draw({ answer, active, lacks, asks, asksReason: desk.item.ask_reason, unchanged: desk.revision > 0 && same(answer, desk.answer) });
  }

  function stand(gate, said) {
    const press = { token: token(), of: undefined };
    const pass = async (given) => {
      // Another answer is another press; the same again, where no answer came, is the same one.
      if (press.of !== given) Object.assign(press, { token: token(), of: given });
      return passed(gate, given, press.token);
    };
    const behind = places.last && desk.progress.done > 0;
    const there = { guidelines: () => guidelinesPage(page, pass), consent: () => consentPage(gate.text, pass, others),
      check: () => checkPage(gate, pass, { said, back: behind ? () => step(-1) : null }) }[gate.kind]();
    body.replaceChildren(there.element);
    window.scrollTo(0, 0);
    there.focus();
    if (said) say(said);
  }

  async function passed(gate, given, press) {
    if (performance.now() - shownAt < JUST_SHOWN_MS) return "";
    const { kind, number, attempt } = gate;
    try {
      const done = await api("POST", "study/gate", kind === "check" ? { study: name, kind, token: press, number, attempt, answer: given }
        : { study: name, kind, token: press, answer: given ?? true });
      show(done.desk, { said: done.passed ? "" : WRONG });
      return "";
    } catch (problem) {
      if (problem.kind !== "incomplete") return problem.message;
      const now = await api("GET", `study/at?study=${encodeURIComponent(name)}`).catch(() => null);
      if (!now || JSON.stringify(now.gate) === JSON.stringify(gate)) return problem.message;
      show(now); // passed in another window
      return "";
    }
  }

  function finished(gate) {
    const end = endScreen(desk, { others, back: () => step(-1), more: work.more, one: "question", below: gate ? codeBox(gate.code) : null });
    body.replaceChildren(end.element);
    end.title.focus();
    say(end.title.textContent);
  }

  // --- answering -----------------------------------------------------------------------------

  const keep = () => drafts.keep({ study: desk.study.name, item: desk.item.id, answer: settled(answer), seconds: clock.seconds, revision: desk.revision });

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
    become(start(desk.answer));
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
    if (view.locked) return desk.study.accepting ? work.go() : view.problem("This study is closed: answers are no longer taken.");
    if (asks) return say("Press y to keep it, n to change it.");
    lacks = missing(answer, page, desk.item.ask_reason);
    if (lacks) {
      if (SIDES.includes(lacks.at)) active = lacks.at;
      draw();
      if (lacks.at === "reason") view.reason.focus();
      return say(lacks.text);
    }
    const question = doubt(answer, page);
    if (question && !asked && !answer.confirmed) return ask(question);
    if (question) answer = { ...answer, confirmed: true };
    const { item, revision, study } = desk;
    const press = sending.save({ study: study.name, item: item.id, answer: settled(answer), seconds: clock.seconds, seen_revision: revision, then: "next" },
      drafts.drop(study.name, item.id));
    if (!press) return;
    try {
      work.acknowledged(await press, { same: (sent) => same(answer, sent), stayed });
    } catch (problem) {
      if (desk?.item?.id !== item.id) return toast(problem.message);
      if (problem.kind === "confirm") return ask(problem.message);
      if (problem.kind === "gate") return work.go(); // a task has come up, in another window
      view.problem(problem.message);
      keep();
    }
  }

  function ask(question) {
    asks = asked = true;
    draw();
    keep();
    say(question);
  }

  function stayed(saved, sent, next) {
    desk = { ...desk, answer: sent.answer, revision: saved.revision, progress: next.progress };
    shown(true);
    keep();
  }

  // Between the questions, back leads to the one answered last.
  function step(by) {
    const before = places.before();
    if (desk.item || by > 0 || !before) return work.step(by);
    work.go(before);
  }

  // --- begin -----------------------------------------------------------------------------------

  slot.replaceChildren(progress.element);
  setKeys(keysOf(page));
  listen({
    here: () => Boolean(desk?.item), asking: () => asks, save, meant, step, sheet, map: work.map, zoom: view.zoom,
    rate: (rating) => act("rate", active, rating), active: (side) => act("active", side), prefer: (side) => act("prefer", side), flip: (to) => act("flip", to),
    reason: () => (desk.item.ask_reason || answer.reason ? view.reason.focus() : toast("This question asks for no reason.")),
    leaveReason: () => view.title.focus({ preventScroll: true }),
  });
  await work.begin(first);
}
