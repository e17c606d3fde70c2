// One person at work in one study: an item, the answer to it, and what becomes of it. The screen is that of the kind.
import { api, at, createGuard, say, setKeys, h } from "../shared/common.js";
import { createClock } from "./work/clock.js";
import { remember } from "./begin.js";
import { createTalk } from "./work/discussion.js";
import { createWork } from "./work/main.js";
import { trainingName } from "./work/training.js";
import { number, t, tn } from "../shared/language.js";

const LOOKED_S = 2; // so long a look at an item is worth keeping

/** @param {{ body: HTMLElement, slot: HTMLElement, me: Me, name: string, others(): void, desk: Desk, load(): Promise<ScreenModule> }} of */
export async function openDesk({ body, slot, me, name, others, desk: first, load }) {
  const [one, many] = [t(first.study.one), t(first.study.many)];
  const [page, kind] = await Promise.all([api("GET", `study/rubric?study=${encodeURIComponent(name)}`), load()]);
  const clock = createClock(), justShown = createGuard(), talk = createTalk(name);
  const work = /** @type {import("./work/main.js").Work<object>} */ (createWork({ name, me, body, one, many, now: () => desk, show, stayed, leave, view: () => screen }));
  const { drafts, sending, places, progress } = work;
  const screen = kind.createScreen(page, { here: () => Boolean(desk?.item), changed, save, step: work.step, map: work.map, discard,
    retry: () => sending.retry(),
    // A key pressed while the answer is on its way was meant for the next item, which is not there yet.
    leaving: () => (desk?.item ? sending.flying({ study: desk.study.name, item: desk.item.id }) : false) });
  const { same } = screen;
  let desk = /** @type {Desk | null} */ (null), keptAt = 0; // in seconds of looking
  const nameOf = (/** @type {{ id: string, position: number }} */ item) => trainingName(desk) || `${one[0].toUpperCase()}${one.slice(1)} ${places.number(item)}`;

  // --- what is shown -------------------------------------------------------------------------

  function show(/** @type {Desk} */ next) {
    desk = next;
    progress.draw(desk.study.name, desk.progress);
    talk.show(desk.study, desk.item, desk.revision);
    if (!desk.item) return finished(desk);
    const { item, revision } = desk;
    remember(item.id);
    const draft = drafts.latest(desk.study.name, item.id, revision, desk.draft, desk.asked);
    const restored = draft !== null && !same(draft.answer, desk.answer ?? {});
    screen.begin(desk.answer, draft?.answer ?? null, restored);
    justShown.start();
    if (!places.has(item.id)) places.load().catch(() => {});
    keptAt = Math.max(draft?.seconds ?? 0, desk.seconds); // a change is timed together with what it changes
    clock.start(keptAt);
    screen.open(item);
    screen.show({ name: nameOf(item), revision, restored, study: desk.study });
    body.replaceChildren(screen.element);
    screen.complain(null);
    draw();
    screen.title.focus({ preventScroll: true });
    say(`${nameOf(item)}. ${screen.spoken(item)}`);
  }

  function draw() { screen.draw(Boolean(desk?.revision && desk.answer && same(screen.answer, desk.answer))); }

  function finished(/** @type {Desk} */ desk) {
    remember(null);
    const end = endScreen(desk, { me, others, one, many, back: () => work.step(-1), more: work.more, go: work.go, changed: places.changed() });
    body.replaceChildren(end.element);
    end.title.focus();
    say(end.title.textContent);
  }

  // --- answering -----------------------------------------------------------------------------

  function keep() {
    if (!desk?.item) return;
    keptAt = clock.seconds;
    places.begun(desk.item.id, !same(screen.answer, desk.answer ?? {}));
    drafts.keep({ study: desk.study.name, item: desk.item.id, answer: screen.answer, seconds: keptAt, revision: desk.revision });
  }

  // The item is left, or the page: what was done is kept as it was done, the time of looking is not yet.
  function leave() {
    if (!desk?.item || !desk.study.accepting || clock.seconds - keptAt < LOOKED_S) return;
    const sent = sending.pending({ study: desk.study.name, item: desk.item.id });
    if (!sent || !same(sent.answer, screen.answer)) keep();
  }

  function changed() {
    screen.complain(null);
    screen.problem("");
    draw();
    keep();
  }

  function discard() {
    if (!desk?.item) return;
    screen.replace(desk.answer);
    drafts.discard(desk.study.name, desk.item.id);
    places.begun(desk.item.id, false);
    screen.show({ name: nameOf(desk.item), revision: desk.revision, restored: false, study: desk.study });
    draw();
  }

  // --- saving and going on -------------------------------------------------------------------

  async function save() {
    if (!desk?.item || justShown.runs) return;
    if (!desk.study.accepting && !(await reopened())) return;
    const lacks = screen.missing();
    screen.complain(lacks);
    if (lacks) return say(lacks.text);
    await work.save({ answer: screen.answer, seconds: clock.seconds, same: (sent) => same(screen.answer, sent), stopped: () => void keep() });
  }

  async function reopened() {
    const item = desk?.item, accepting = await work.reopened();
    if (accepting === null || !desk || desk.item?.id !== item?.id) return false;
    if (!accepting) screen.problem(t("This study is closed: it no longer accepts answers."));
    if (!accepting) return false;
    desk = { ...desk, study: { ...desk.study, accepting } };
    screen.accepting(desk.study);
    return true;
  }

  function stayed(/** @type {Saved} */ saved, /** @type {Sent<object>} */ sent, /** @type {Acknowledged<object>["desk"]} */ next) {
    if (!desk?.item) return;
    desk = { ...desk, answer: sent.answer, revision: saved.revision, progress: next.progress };
    const more = !same(screen.answer, sent.answer);
    screen.show({ name: nameOf(/** @type {{ id: string, position: number }} */ (desk.item)), revision: saved.revision, restored: more, study: desk.study });
    progress.draw(desk.study.name, desk.progress);
    talk.show(desk.study, desk.item, desk.revision);
    if (more) changed();
    else draw();
  }

  // --- begin -----------------------------------------------------------------------------------

  slot.replaceChildren(progress.element, talk.element);
  setKeys(kind.keysOf(page));
  setInterval(() => { if (desk?.item && !document.hidden) screen.looked(clock.seconds); }, 1000);
  await work.begin(first);
}

// The screen of somebody who has nothing left to answer.
const MOST_NAMED = 12;

// ``back`` and ``others`` lead elsewhere; ``more`` asks for more and answers a sentence if there is none.
// ``one`` and ``many`` are what items are called here, ``below`` stands under the figures.
// ``change``: a sentence on what may still be done to the answers. A participant (``me``) finishes, and goes on to the code.
// ``changed``: [{item, name}] of changes that are not saved; ``go(item)`` leads to one of them.
/**
 * @param {Pick<Desk, "study" | "progress">} desk
 * @param {{ me: Me, more(): Promise<string>, back(): void, others(): void, go(item: string): void, one: string, many: string, changed?: { item: string, name: string }[], change?: string | null, below?: HTMLElement | null }} how
 */
export function endScreen({ study, progress }, { me, more, back, others, go, one, many, changed = [], change = null, below = null }) {
  const said = h("p", { class: "cq-quiet", role: "status" });
  const { done, total, unsure, median_seconds: pace } = progress;
  const figures = [[number(done), tn(done, "{one} answered", "{many} answered", { one, many })], unsure ? [number(unsure), t("left to an adjudicator")] : [],
    pace === null ? [] : [`${Math.round(pace)} s`, t("each, about")]].filter(({ length }) => length);
  const take = h("button", { class: "cq-btn primary", type: "button", text: t("Get more"), onclick: async () => {
    take.disabled = true;
    said.textContent = (await more()) || "";
    take.disabled = false;
  } });
  const title = h("h1", { tabindex: -1, text: total ? (me.participant ? t("That was the last one") : t("That was the last one. Thank you.")) : t("Nothing to annotate yet") });
  const element = h("section", { class: "st-page st-end" }, title,
    h("p", { class: "cq-lead", text: total
      ? [t("All your items are answered and saved."), !study.accepting ? t("You can still look at your answers.") : change ?? (me.participant ? t("Until you finish, you can still go back and change an answer.")
        : t("You can still go back and change an answer."))].join(" ")
      : t("All {many} of this study are assigned to others. Ask for more below, or come back later.", { many }) }),
    total ? h("dl", { class: "st-figures" }, figures.map(([value, name]) => h("div", {}, h("dd", { text: value }), h("dt", { text: name })))) : null,
    unsaved(changed, go),
    me.participant ? null : below,
    h("div", { class: "cq-row" },
      me.participant ? h("form", { method: "post", action: at("finish") }, h("button", { class: "cq-btn primary", type: "submit", text: t("Finish") }))
        : study.accepting ? take : null,
      total ? h("button", { class: "cq-btn", type: "button", text: t("Review"), onclick: back }) : null,
      me.participant ? null : h("button", { class: "cq-btn", type: "button", text: t("Other studies"), onclick: others })), said);
  return { element, title };
}

function unsaved(/** @type {{ item: string, name: string }[]} */ changed, /** @type {(item: string) => void} */ go) {
  if (!changed.length) return null;
  const some = changed.slice(0, MOST_NAMED);
  return h("p", { class: "st-unsaved", role: "status" }, tn(changed.length, "1 change is not saved:", "{number} changes are not saved:"), " ",
    some.map(({ item, name }, number) => [number ? ", " : "", h("button", { class: "st-link", type: "button", text: name, onclick: () => go(item) })]),
    changed.length > some.length ? " …" : ".");
}
