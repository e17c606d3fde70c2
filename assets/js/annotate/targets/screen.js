// The screen of a target study: reference and text, the candidates as a grid, the answer beside them.
import { h, icon, kbd, say } from "../../shared/common.js";
import { ownGuidelines } from "../guide.js";
import { enlarge } from "../../shared/pictures.js";
import { createFoot, createWhere, openSheet } from "../parts.js";
import { mark, markRest, missing, nameOf, neighbour, same, start, tally, undone, unmarked } from "./answer.js";
import { createGrid, frameOf } from "./grid.js";
import { listen } from "../keys.js";
import { keyTable } from "./keys.js";
import { createPanel } from "./panel.js";
import { t, tn } from "../../shared/language.js";

export { keysOf } from "./keys.js";

/** @param {TargetPage} page @param {ScreenActions} does @returns {ItemScreen<TargetItem, TargetMarks>} */
export function createScreen(page, { here, changed, save, step, map, discard, retry, leaving }) {
  let answer = start(), tokens = /** @type {string[]} */ ([]), active = 0, reference = /** @type {Picture | null} */ (null);
  let before = /** @type {{ answer: TargetMarks, active: number }[]} */ ([]);
  const grid = createGrid(page, { mark: (token, given) => give(tokens.indexOf(token), given, false), active: (place) => point(place) });
  const panel = createPanel(page, { rest, note: (text) => become({ ...answer, note: text }) });
  const named = (/** @type {string} */ given) => page.choices.find((one) => one.mark === given)?.name ?? given;
  const sheet = () => openSheet({}, h("p", { class: "st-intro", text: page.intro }), ownGuidelines(page),
    [...page.choices.filter(({ help }) => help).map(({ mark: of, help }) => ({ title: nameOf(page.choices, of), text: help })), ...page.guide].map(({ title: name, text }) => h("section", { "aria-label": name }, h("h3", { text: name }), h("p", { text }))));
  const title = h("h1", { class: "st-text", tabindex: -1, dir: "auto" });
  const where = createWhere({ keys: ["Shift ←", "Shift →"], step, discard });
  const foot = createFoot({ save, retry });
  const figure = h("div", { class: "tg-reference" });
  const stage = h("div", { class: "st-stage" },
    h("div", { class: "tg-head" }, figure, h("div", { class: "tg-words" }, where.element, title)), grid.element);
  const element = h("div", { class: "st-desk tg-desk" }, stage,
    h("aside", { class: "st-side", "aria-label": t("Answer") },
      h("div", { class: "st-sidehead" }, h("h2", { class: "cq-label", text: page.title }),
        h("button", { class: "cq-tool", type: "button", onclick: sheet }, icon("book"), h("span", { text: t("Guidelines") }), kbd("d"))),
      h("div", { class: "st-scroll" }, panel.element), foot.element));

  function become(/** @type {TargetMarks} */ next) {
    answer = next;
    changed();
  }
  function point(/** @type {number} */ place) {
    active = place;
    grid.draw(answer, active);
  }
  // ``on``: whether the next image without a mark is marked next. Who points at images chooses for themselves.
  function give(/** @type {number} */ place, /** @type {string} */ given, /** @type {boolean} */ on) {
    if (!here() || place < 0 || place >= tokens.length) return;
    before.push({ answer, active });
    const next = mark(answer, tokens[place], given), open = unmarked(next, tokens, place);
    active = on && open >= 0 ? open : place;
    become(next);
    say(`${grid.name(place)}: ${named(given)}.${active === place ? "" : ` ${grid.name(active)}?`}`);
  }
  function rest() {
    const open = tally(answer, tokens)[""] ?? 0;
    if (!here() || !open) return;
    before.push({ answer, active });
    become(markRest(answer, tokens, "no"));
    say(t("{number} marked {name}.", { number: open, name: named("no") }));
  }
  function move(/** @type {string} */ key) {
    point(neighbour(active, key, grid.columns, tokens.length));
    grid.lead(active);
    say(`${grid.name(active)}${answer.marks[tokens[active]] ? `: ${named(answer.marks[tokens[active]])}` : "?"}`);
  }
  function undo() {
    const back = before.pop();
    if (!back) return;
    active = back.active;
    become(undone(back.answer, answer));
    grid.lead(active);
    say(t("Undone"));
  }
  function large() {
    if (!reference || reference.missing) return;
    const back = document.activeElement;
    enlarge([{ name: t("Reference"), large: reference.large }]).then(() => { if (back instanceof HTMLElement) back.focus({ preventScroll: true }); });
  }

  listen(keyTable(page, {
    move, step, save, sheet, map, undo, rest, zoom: () => grid.large(active), reference: large, note: () => panel.note.focus(),
    mark(given) {
      give(active, given, true);
      grid.lead(active);
    },
  }), { here, leaving, save, leaveNote: () => title.focus({ preventScroll: true }) });

  return {
    element,
    title,
    get answer() { return answer; },
    same,
    missing: () => missing(page, answer, tokens),
    complain(lacks) {
      grid.complain(Boolean(lacks && lacks.at !== "note"));
      if (lacks && lacks.at !== "note") {
        point(tokens.indexOf(lacks.at));
        grid.lead(active);
      }
      panel.complain(lacks);
    },
    begin(saved, draft, restored) {
      [answer, before] = [start(restored ? draft : saved), []];
    },
    replace(saved) {
      before.push({ answer, active });
      become(start(saved));
    },
    open(item) {
      tokens = item.candidates.map(({ token }) => token);
      active = Math.max(0, unmarked(answer, tokens));
      reference = item.reference;
      title.textContent = item.text;
      title.classList.toggle("long", item.text.length > 90);
      figure.replaceChildren(frameOf(item.reference, t("Reference"), "large", large), h("p", { class: "cq-label", text: t("Reference") }));
      grid.open(item.candidates);
      stage.scrollTop = 0;
    },
    show({ name, revision, restored, study }) {
      where.show({ name, revision, restored });
      foot.show(study);
    },
    draw(unchanged) {
      grid.draw(answer, active);
      panel.draw(answer, tokens);
      foot.draw(unchanged);
    },
    spoken: ({ text, candidates }) => `${text}. ${tn(candidates.length, "One image", "{number} images")}.`,
    looked() {},
    accepting: foot.show,
    problem: foot.problem,
    sending: foot.sending,
  };
}
