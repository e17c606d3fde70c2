// The studies screen: the list, or one study. Which one stands in the address, so Back works.
import { api, createViews, messageOf, openScreen, setKeys, toast } from "../shared/common.js";
import { listView } from "./list.js";
import { oneView } from "./one.js";

const BEAT_MS = 15000;

setKeys([["?", "These keys"]]);

/**
 * What the parts of this screen ask of it.
 * @typedef {{ may(what: string): boolean, go(name: string): void, again(): void,
 *   does<Path extends string>(method: "GET" | "POST", path: Path, sent: object, done?: string | ((answer: AnswerOf<Path>) => string)): Promise<AnswerOf<Path> | null> }} Screen
 */
/** @typedef {{ element: HTMLElement, beat(): Promise<void> }} View */

const chosen = () => new URL(window.location.href).searchParams.get("study") || "";

/** @param {HTMLElement} element */
export const mount = (element) => openScreen(element, { page: "studies", styles: ["study", "studies"], css: "cq-st" }, async (body, { me }) => {
  /** @type {Screen} */
  const screen = {
    may: (what) => me.may.includes(what),
    go(name) {
      const url = new URL(window.location.href);
      if (name) url.searchParams.set("study", name);
      else url.searchParams.delete("study");
      window.history.pushState(null, "", url);
      views.show();
      window.scrollTo(0, 0);
    },
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
  const views = createViews(body, { open: () => (chosen() ? oneView(screen, chosen()) : listView(screen)),
    named: () => (chosen() ? { title: `${chosen()} · cirque`, announcement: `Study ${chosen()}` } : { title: "Studies · cirque", announcement: "Studies" }) });
  const beat = () => { if (!document.hidden) views.view()?.beat().catch(() => {}); }; // the next beat tries again
  setInterval(beat, BEAT_MS);
  document.addEventListener("visibilitychange", beat);
  await views.show();
});
