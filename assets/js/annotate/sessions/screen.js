// The screen of a session study: the session as a story, the questions beside it.
import { h, icon, kbd, say } from "../../shared/common.js";
import { ownGuidelines } from "../guide.js";
import { createFoot, createWhere, openSheet } from "../parts.js";
import { following, missing, neighbour, rate, same, start, undone, unrated } from "./answer.js";
import { listen } from "../keys.js";
import { keyTable } from "./keys.js";
import { createQuestions } from "./questions.js";
import { createStory } from "./story.js";
import { t, tn } from "../../shared/language.js";

export { keysOf } from "./keys.js";

/** @param {SessionPage} page @param {ScreenActions} does @returns {ItemScreen<SessionItem, SessionRatings>} */
export function createScreen(page, { here, changed, save, step, map, discard, retry, leaving }) {
  let answer = start(page), active = page.questions[0].key;
  let before = /** @type {{ answer: SessionRatings, active: string }[]} */ ([]);
  const titleOf = (/** @type {string} */ key) => page.questions.find((one) => one.key === key)?.title ?? key;
  const story = createStory();
  const form = createQuestions(page, { rate: give, active: point, reason: (text) => become({ ...answer, reason: text }) });
  // Begins at the question that is being answered.
  function sheet() {
    const { questions, points } = page, [first, last] = [points[0], points[points.length - 1]];
    const sections = questions.map(({ key, title: name, text, low, high, guide }) => h("section", { "data-key": key, tabindex: -1, "aria-label": name }, h("h3", { text: name }),
      h("p", { class: "st-asks", text }), guide ? h("p", { text: guide }) : null,
      h("p", { class: "ss-anchors" }, h("b", { text: first }), ` ${low}`, h("i", { "aria-hidden": "true", text: " … " }), h("b", { text: last }), ` ${high}`)));
    openSheet({}, h("p", { class: "st-intro", text: page.intro }), ownGuidelines(page), sections);
    if (active !== questions[0].key) sections.find((one) => one.dataset.key === active)?.scrollIntoView({ block: "nearest" });
  }
  const title = h("h1", { class: "ss-title", tabindex: -1 });
  const where = createWhere({ keys: ["←", "→"], step, discard });
  const foot = createFoot({ save, retry });
  const element = h("div", { class: "st-desk ss-desk" },
    h("div", { class: "st-stage" }, h("div", { class: "ss-head" }, where.element, title), story.element),
    h("aside", { class: "st-side", "aria-label": t("Questions") },
      h("div", { class: "st-sidehead" }, h("h2", { class: "cq-label", text: page.title }),
        h("button", { class: "cq-tool", type: "button", onclick: sheet }, icon("book"), h("span", { text: t("Guidelines") }), kbd("d"))),
      h("div", { class: "st-scroll" }, form.element), foot.element));

  function become(/** @type {SessionRatings} */ next) {
    answer = start(page, next);
    changed();
  }
  function point(/** @type {string} */ key) {
    active = key;
    form.draw(answer, active);
  }
  function give(/** @type {string} */ key, /** @type {number} */ rating) {
    if (!here()) return;
    before.push({ answer, active: key });
    const next = rate(answer, key, rating);
    active = following(page, next, key);
    become(next);
    say(`${titleOf(key)}: ${rating}.${active === key ? "" : ` ${titleOf(active)}?`}`);
  }
  function move(/** @type {number} */ by) {
    point(neighbour(page, active, by, answer.ratings) ?? active);
    form.lead(active);
    say(`${titleOf(active)}?`);
  }
  function undo() {
    const back = before.pop();
    if (!back) return;
    active = back.active;
    become(undone(back.answer, answer));
    form.lead(active);
    say(t("Undone"));
  }

  listen(keyTable(page, {
    move, step, save, sheet, map, undo, zoom: story.zoom, note: () => form.note.focus(),
    rate(rating) {
      give(active, rating);
      form.lead(active);
    },
  }), { here, leaving, save, leaveNote: () => title.focus({ preventScroll: true }) });

  return {
    element,
    title,
    get answer() { return answer; },
    same: (one, other) => same(page, one, other),
    missing: () => missing(page, answer),
    complain(lacks) {
      if (lacks && lacks.at !== "reason") point(lacks.at);
      form.complain(lacks);
    },
    begin(saved, draft, restored) {
      answer = start(page, restored ? draft : saved);
      [active, before] = [unrated(page, answer) ?? page.questions[0].key, []];
    },
    replace(saved) {
      before.push({ answer, active });
      become(start(page, saved));
    },
    open(item) {
      const { length } = item.turns;
      title.textContent = tn(length, "A search in one turn", "A search in {number} turns");
      story.open(item);
      form.element.parentElement?.scrollTo(0, 0);
    },
    show({ name, revision, restored, study }) {
      where.show({ name, revision, restored });
      foot.show(study);
    },
    draw(unchanged) {
      form.draw(answer, active);
      foot.draw(unchanged);
    },
    spoken: ({ turns }) => turns.map(({ text }, number) => t("Turn {number}: {text}", { number: number + 1, text })).join(". "),
    looked() {},
    accepting: foot.show,
    problem: foot.problem,
    sending: foot.sending,
  };
}
