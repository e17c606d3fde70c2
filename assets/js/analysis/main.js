// The analysis screen: all studies, or the report of one. What is looked at stands in the address.
import { addressOf, readView } from "./address.js";
import { listView } from "./list.js";
import { oneView } from "./one.js";
import { ApiProblem, at, createViews, h, openScreen, setKeys } from "../shared/common.js";

setKeys([["?", "These keys"], ["Esc", "Close what is open"]]);

/** What the parts of this screen ask of it. @typedef {{ may(what: string): boolean, go(study: string): void, put(view: View): void }} Screen */
/** @typedef {{ element: HTMLElement, begin?: () => void, leave(): void }} Shown */

const titleOf = (/** @type {string} */ study) => (study ? `${study}: analysis · cirque` : "Analysis · cirque");

/** @param {HTMLElement} element */
export const mount = (element) => openScreen(element, { page: "analysis", styles: ["study", "studies", "analysis"], css: "cq-st cq-an" }, (body, { me }) => {
  /** @type {Screen} */
  const screen = {
    may: (what) => me.may.includes(what),
    // Another study, or the list ("").
    go(study) {
      window.history.pushState(null, "", addressOf({ ...readView("about:blank"), study }));
      views.show();
      window.scrollTo(0, 0);
    },
    // The same study, looked at in another way: Back leads to the study before, not to every filter.
    put(view) {
      window.history.replaceState(null, "", addressOf(view));
      document.title = titleOf(view.study);
    },
  };
  const views = createViews(body, {
    open() {
      const view = readView();
      return view.study ? oneView(screen, view) : listView(screen);
    },
    named() {
      const { study } = readView();
      return { title: titleOf(study), announcement: study ? `Analysis of ${study}` : "Analysis" };
    },
    more: (error) => (error instanceof ApiProblem && error.kind === "unknown" ? h("a", { class: "cq-btn", href: at("analysis"), text: "All studies" }) : null),
  });
  return views.show();
});
