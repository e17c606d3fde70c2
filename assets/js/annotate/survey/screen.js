// A question of a preference study by itself, without a survey around it.
import { listen } from "../keys.js";
import { SIDES, doubt, flip, missing, prefer, rate, same, settled, start, unrated } from "./answer.js";
import { keyTable } from "./keys.js";
import { openGuidelines } from "./pages.js";
import { createSurveyView } from "./view.js";
/** @import { Lacks } from "./answer.js" */

export { keysOf } from "./keys.js";

/** @param {Survey} page @param {ScreenActions} does @returns {ItemScreen<Question, Preference>} */
export function createScreen(page, { here, changed, save, step, map, discard, retry, leaving }) {
  let answer = start(), active = /** @type {Side} */ ("A"), lacks = /** @type {Lacks | null} */ (null), asks = false;
  let item = /** @type {Question | null} */ (null);
  const sheet = () => { openGuidelines(page); };
  const view = createSurveyView({ page, act, save: sure, meant, step, sheet, discard, retry });
  const draw = (/** @type {boolean} */ unchanged) => view.draw({ answer, active, lacks, asks, asksReason: Boolean(item?.ask_reason), unchanged });

  function become(/** @type {Preference} */ next) {
    [answer, lacks, asks] = [next, null, false];
    changed();
  }
  /** @type {import("./view.js").Act} */
  function act(what, value, more = 0) {
    const side = /** @type {Side} */ (value);
    if (!here()) return;
    if (what === "active") active = side;
    if (what === "active") return draw(false);
    if (what === "prefer" && !SIDES.includes(side) && !page.allow_tie) return;
    if (what === "rate") {
      active = side;
      const next = rate(answer, side, more);
      if (side === "A" && unrated(next) === "B") active = "B";
      return become(next);
    }
    if (what === "prefer") become(prefer(answer, side));
    else if (what === "flip") become(flip(answer, /** @type {Mark} */ (value)));
    else become({ ...answer, reason: value });
  }
  // A preference for the set with the lower rating is asked about first.
  function sure() {
    asks = !answer.confirmed && !missing(answer, page, Boolean(item?.ask_reason)) && doubt(answer, page) !== null;
    if (!asks) return save();
    draw(false);
  }
  function meant(/** @type {boolean} */ yes) {
    asks = false;
    if (yes) answer = { ...answer, confirmed: true };
    draw(false);
    if (yes) save();
  }

  listen(keyTable(page, {
    asking: () => asks, save: sure, meant, step, sheet, map, zoom: view.zoom, note: () => view.reason.focus(),
    rate: (rating) => act("rate", active, rating), active: (side) => act("active", side), prefer: (side) => act("prefer", side), flip: (to) => act("flip", to),
  }), { here, leaving, save: sure, away: false, leaveNote: () => view.title.focus({ preventScroll: true }) });

  return {
    element: view.element,
    title: view.title,
    get answer() { return settled(answer); },
    same,
    missing: () => missing(answer, page, Boolean(item?.ask_reason)),
    complain(found) {
      lacks = /** @type {Lacks | null} */ (found);
      if (lacks?.at === "A" || lacks?.at === "B") active = lacks.at;
      draw(false);
    },
    begin(saved, draft, restored) {
      [answer, lacks, asks] = [start(restored ? draft : saved), null, false];
      active = unrated(answer) ?? "A";
    },
    replace: (saved) => become(start(saved)),
    open(next) { item = next; },
    show: ({ name, revision, restored, study }) => { if (item) view.show({ item, study, name, revision, restored, finished: false }); },
    draw,
    spoken: ({ text }) => text,
    looked() {},
    accepting() {},
    problem: view.problem,
    sending: view.sending,
  };
}
