// The analysis screen: all studies, or the report of one. What is looked at stands in the address.
import { addressOf, readView } from "./address.js";
import { listView } from "./list.js";
import { oneView } from "./one.js";
import { ApiProblem, at, h, messageOf, mountNav, say, setKeys, style } from "../shared/common.js";

setKeys([["?", "These keys"], ["Esc", "Close what is open"]]);

/**
 * What the parts of this screen ask of it.
 * @typedef {{ may(what: string): boolean, go(study: string): void, put(view: View): void }} Screen
 */
/** @typedef {{ element: HTMLElement, begin?: () => void, leave(): void }} Shown */

const titleOf = (/** @type {string} */ study) => (study ? `${study}: analysis · cirque` : "Analysis · cirque");

export async function mount(/** @type {HTMLElement} */ element) {
  await Promise.all([style("study"), style("studies"), style("analysis")]);
  const bar = h("div", {});
  const body = h("main", { class: "cq-st cq-an", "aria-busy": "true" });
  element.replaceChildren(bar, body);
  const problem = (/** @type {unknown} */ error) => body.replaceChildren(h("div", { class: "cq-none" },
    h("h2", { text: "This cannot be shown" }), h("p", { text: messageOf(error), dir: "auto" }),
    h("div", { class: "cq-row" }, h("button", { class: "cq-btn", type: "button", text: "Try again", onclick: () => show() }),
      error instanceof ApiProblem && error.kind === "unknown" ? h("a", { class: "cq-btn", href: at("analysis"), text: "All studies" }) : null)));
  let me = /** @type {Me | null} */ (null);
  try {
    ({ me } = await mountNav(bar, { page: "analysis" }));
  } catch (error) {
    return problem(error);
  }
  let shown = /** @type {Shown | null} */ (null), asked = 0;

  /** @type {Screen} */
  const screen = {
    may: (what) => Boolean(me?.may.includes(what)),
    // Another study, or the list ("").
    go(study) {
      window.history.pushState(null, "", addressOf({ ...readView("about:blank"), study }));
      show();
      window.scrollTo(0, 0);
    },
    // The same study, looked at in another way: Back leads to the study before, not to every filter.
    put(view) {
      window.history.replaceState(null, "", addressOf(view));
      document.title = titleOf(view.study);
    },
  };

  async function show() {
    const mine = ++asked, view = readView();
    shown?.leave();
    shown = null;
    body.setAttribute("aria-busy", "true");
    try {
      const next = await (view.study ? oneView(screen, view) : listView(screen));
      if (mine !== asked) return next.leave();
      shown = next;
      document.title = titleOf(view.study);
      body.replaceChildren(shown.element);
      shown.begin?.();
      say(view.study ? `Analysis of ${view.study}` : "Analysis");
    } catch (error) {
      if (mine === asked) problem(error);
    } finally {
      if (mine === asked) body.removeAttribute("aria-busy");
    }
  }

  window.addEventListener("popstate", show);
  await show();
}
