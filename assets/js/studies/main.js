// The studies screen: the list, or one study. Which one stands in the address, so Back works.
import { api, createViews, messageOf, openScreen, setKeys, toast } from "../shared/common.js";
import { listView } from "./list.js";
import { importView } from "./new/imported.js";
import { newView } from "./new/main.js";
import { oneView } from "./one.js";

const BEAT_MS = 15000;

setKeys([["?", "These keys"]]);

/**
 * What the parts of this screen ask of it.
 * @typedef {{ may(what: string): boolean, go(name: string, tab?: string): void, make(what: "table" | "judgements"): void, again(): void,
 *   does<Path extends string>(method: "GET" | "POST", path: Path, sent: object, done?: string | ((answer: AnswerOf<Path>) => string)): Promise<AnswerOf<Path> | null> }} Screen
 */
/** @typedef {{ element: HTMLElement, beat(): Promise<void> }} View */

const making = () => new URL(window.location.href).searchParams.get("new") ?? "";
const titled = (/** @type {string} */ what) => ({ title: `${what} · cirque`, announcement: what });
const chosen = () => new URL(window.location.href).searchParams.get("study") || "";

/** @param {HTMLElement} element */
export const mount = (element) => openScreen(element, { page: "studies", styles: ["study", "studies"], css: "cq-st" }, async (body, { me }) => {
  /** @type {Screen} */
  const screen = {
    may: (what) => me.may.includes(what),
    go: (name, tab) => goTo({ study: name, ...(name && tab ? { tab } : {}) }),
    make: (what) => goTo({ new: what }),
    again: () => views.show(),
    // An action of the page: says what went wrong and answers null then.
    async does(method, path, sent, done) {
      try {
        const answer = await api(method, path, sent);
        if (done) toast(typeof done === "function" ? done(answer) : done);
        return answer;
      } catch (error) {
        toast(messageOf(error));
        return null;
      }
    },
  };
  function goTo(/** @type {Record<string, string>} */ params) {
    const url = new URL(window.location.href);
    url.search = new URLSearchParams(Object.entries(params).filter(([, value]) => value)).toString();
    window.history.pushState(null, "", url);
    views.show();
    window.scrollTo(0, 0);
  }
  const views = createViews(body, { open: () => (making() ? (making() === "judgements" ? importView : newView)(screen) : chosen() ? oneView(screen, chosen()) : listView(screen)),
    named: () => (making() ? titled(making() === "judgements" ? "Import judgements" : "New study") : chosen() ? { title: `${chosen()} · cirque`, announcement: `Study ${chosen()}` } : titled("Studies")) });
  const beat = () => { if (!document.hidden) views.view()?.beat().catch(() => {}); }; // the next beat tries again
  setInterval(beat, BEAT_MS);
  document.addEventListener("visibilitychange", beat);
  await views.show();
});
