// The benchmarks screen: all constructions, or the sessions or queries of one. What is looked at is in the address.
import { addressOf, readView } from "./address.js";
import { keyTable } from "./keys.js";
import { listView } from "./list.js";
import { sessionsView } from "./sessions.js";
import { targetsView } from "./targets/view.js";
import { ApiProblem, api, at, createViews, h, openScreen, setKeys } from "../shared/common.js";
import { listed } from "../shared/key-table.js";

setKeys(listed(keyTable({})));

/** What the parts of this screen ask of it. @typedef {{ may(what: string): boolean, go(name: string): void, put(view: BenchmarkView): void, again(): void }} Screen */
/** @typedef {{ element: HTMLElement, begin?: () => void, leave(): void }} Shown */

const titleOf = (/** @type {string} */ name) => (name ? `${name}: benchmark · cirque` : "Benchmarks · cirque");

/** @returns {Promise<Shown>} */
async function openView(/** @type {Screen} */ screen) {
  const view = readView();
  if (!view.name) return listView(screen);
  const { kind } = await api("GET", `benchmarks/run?name=${encodeURIComponent(view.name)}`);
  return kind === "targets" ? targetsView(screen, view) : sessionsView(screen, view);
}

/** @param {HTMLElement} element */
export const mount = (element) => openScreen(element, { page: "benchmarks", styles: ["study", "studies", "benchmarks"], css: "cq-st cq-be" }, (body, { me }) => {
  /** @type {Screen} */
  const screen = {
    may: (what) => me.may.includes(what),
    // Another benchmark, or the list ("").
    go(name) {
      window.history.pushState(null, "", addressOf({ ...readView("about:blank"), name }));
      views.show();
      window.scrollTo(0, 0);
    },
    // The same benchmark, looked at in another way: Back leads to the one before, not to every filter.
    put: (view) => window.history.replaceState(null, "", addressOf(view)),
    again: () => { views.show(); },
  };
  const views = createViews(body, {
    open: () => openView(screen),
    named() {
      const { name } = readView();
      return { title: titleOf(name), announcement: name ? `Benchmark ${name}` : "Benchmarks" };
    },
    more: (error) => (error instanceof ApiProblem ? h("a", { class: "cq-btn", href: at("benchmarks"), text: "All benchmarks" }) : null),
  });
  return views.show();
});
