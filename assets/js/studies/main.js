// The studies screen: the list, or one study. Which one stands in the address, so Back works.
import { api, h, messageOf, mountNav, say, setKeys, style, toast } from "../shared/common.js";
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

export async function mount(/** @type {HTMLElement} */ element) {
  await Promise.all([style("study"), style("studies")]);
  const bar = h("div", {});
  const body = h("main", { class: "cq-st", "aria-busy": "true" });
  element.replaceChildren(bar, body);
  const problem = (/** @type {unknown} */ error) => body.replaceChildren(h("div", { class: "cq-none" },
    h("h2", { text: "This cannot be shown" }), h("p", { text: messageOf(error), dir: "auto" }),
    h("button", { class: "cq-btn", type: "button", text: "Try again", onclick: () => show() })));
  let me = /** @type {Me | null} */ (null);
  try {
    ({ me } = await mountNav(bar, { page: "studies" }));
  } catch (error) {
    return problem(error);
  }
  let view = /** @type {View | null} */ (null), asked = 0;

  const chosen = () => new URL(window.location.href).searchParams.get("study") || "";
  /** @type {Screen} */
  const screen = {
    may: (what) => Boolean(me?.may.includes(what)),
    go(name) {
      const url = new URL(window.location.href);
      if (name) url.searchParams.set("study", name);
      else url.searchParams.delete("study");
      window.history.pushState(null, "", url);
      show();
      window.scrollTo(0, 0);
    },
    again: () => show(),
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

  async function show() {
    const mine = ++asked, name = chosen();
    body.setAttribute("aria-busy", "true");
    try {
      const next = await (name ? oneView(screen, name) : listView(screen));
      if (mine !== asked) return;
      view = next;
      document.title = name ? `${name} · cirque` : "Studies · cirque";
      body.replaceChildren(view.element);
      say(name ? `Study ${name}` : "Studies");
    } catch (error) {
      if (mine === asked) problem(error);
    } finally {
      if (mine === asked) body.removeAttribute("aria-busy");
    }
  }

  window.addEventListener("popstate", show);
  const beat = () => { if (!document.hidden) view?.beat().catch(() => {}); }; // the next beat tries again
  setInterval(beat, BEAT_MS);
  document.addEventListener("visibilitychange", beat);
  await show();
}
