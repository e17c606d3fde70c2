// Before the first item: looking at a study takes nothing from it, only "Begin" does. And where one
// was, for a reload.
import { ApiProblem, api, createGuard, h, kbd, messageOf, tellIn } from "../shared/common.js";
import { ownGuidelines } from "./guide.js";
import { AHEAD } from "./work/stock.js";
import { around, t, tn } from "../shared/language.js";

// Which item this tab shows; none at the end. It stays with the page's place in the tab's history.
export const remember = (/** @type {string | null} */ item) => window.history.replaceState({ ...window.history.state, item }, "");
export const remembered = () => window.history.state?.item ?? null;

// The person's desk in the study: the item they were at when they left the page, else the first open one.
export async function deskOf(/** @type {string} */ name) {
  const path = /** @type {`study/at?${string}`} */ (`study/at?study=${encodeURIComponent(name)}&ahead=${AHEAD}`);
  const item = remembered();
  try {
    if (item) return await api("GET", `${path}&item=${encodeURIComponent(item)}`);
  } catch (problem) {
    if (!(problem instanceof ApiProblem) || problem.kind !== "not-yours") throw problem; // somebody else's tab before
  }
  return api("GET", path);
}

// What stands there until ``work`` has put something in its place; whatever comes of it, the page no longer waits then.
/** @template T @param {HTMLElement} body @param {Promise<T>} work @returns {Promise<T>} */
export async function loading(body, work) {
  body.replaceChildren(h("div", { class: "st-loading", role: "status", text: t("One moment …") }));
  body.setAttribute("aria-busy", "true");
  try {
    return await work;
  } finally {
    body.removeAttribute("aria-busy");
  }
}

// What the study is about and how much it is, for somebody who has not begun. ``join()`` begins.
// ``others`` leads to other studies; null where there are none for this person.
/** @param {Desk} desk @param {{ join(): Promise<unknown>, others: (() => void) | null }} how */
export async function beginScreen({ study: { name, one, many }, progress: { total } }, { join, others }) {
  const page = await api("GET", `study/rubric?study=${encodeURIComponent(name)}`);
  const justShown = createGuard();
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const begin = h("button", { class: "cq-btn primary", type: "button", onclick: async () => {
    if (begin.disabled || justShown.runs) return;
    begin.disabled = true;
    tellIn(problem, "");
    try {
      await join();
    } catch (error) {
      tellIn(problem, messageOf(error));
      begin.disabled = false;
    }
  } }, t("Begin"), kbd("Enter"));
  const element = h("section", { class: "st-page st-begin" }, h("h1", { text: name, dir: "auto" }),
    h("p", { class: "cq-lead", text: page.intro }), ownGuidelines(page),
    h("p", {}, total ? tn(total, "About {number} {one} for you.", "About {number} {many} for you.", { one: t(one), many: t(many) }) : "", " ", t("You can stop at any time and continue later: every answer is saved.")),
    h("p", { class: "cq-quiet st-forkeys" }, ...around(t("Everything works with the keyboard: {key} lists the keys."), kbd("?"))),
    problem, h("div", { class: "cq-row" }, begin, others ? h("button", { class: "cq-btn", type: "button", text: t("Other studies"), onclick: others }) : null));
  return { element, page, show() {
    justShown.start();
    begin.focus({ preventScroll: true });
  } };
}
