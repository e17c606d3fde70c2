// A whole screen: its style sheets, the bar, and below it what the screen shows, or why it cannot be shown.
import { ApiProblem, messageOf } from "./calls.js";
import { h, say, style } from "./elements.js";
import { mountNav } from "./nav.js";
import { until } from "./rest.js";

// What stands where nothing can be shown. ``more``: another way out.
/** @type {(error: unknown, again: () => unknown, more?: HTMLElement | null) => HTMLElement} */
const cannot = (error, again, more = null) => h("div", { class: "cq-none" }, h("h2", { text: "This cannot be shown" }),
  h("p", { text: messageOf(error), dir: "auto" }),
  h("div", { class: "cq-row" }, h("button", { class: "cq-btn", type: "button", text: "Try again", onclick: () => again() }), more));

/**
 * @param {HTMLElement} element
 * @param {{ page: string, styles: string[], css: string }} of ``page`` is its name in the bar, ``css`` the class of its body
 * @param {(body: HTMLElement, of: { me: Me, slot: HTMLElement }) => unknown} fill draws it
 */
async function opened(element, { page, styles, css }, fill) {
  await Promise.all(styles.map(style));
  const bar = h("div", {}), body = h("main", { class: css, "aria-busy": "true" });
  element.replaceChildren(bar, body);
  try {
    await fill(body, await mountNav(bar, { page }));
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    body.replaceChildren(cannot(error, () => window.location.reload()));
  } finally {
    body.removeAttribute("aria-busy");
  }
}
/** @type {typeof opened} */
export const openScreen = (...given) => until(opened(...given));

/**
 * One view after the other in a screen, whichever the address names. Answers what shows that one, and which is shown.
 * @template {{ element: HTMLElement, begin?: () => void, leave?: () => void }} View
 * @param {HTMLElement} body
 * @param {{ open(): Promise<View>, named(): { title: string, announcement: string }, more?: (error: unknown) => HTMLElement | null }} of
 * ``more``: another way out of an error
 */
export function createViews(body, { open, named, more }) {
  let view = /** @type {View | null} */ (null), asked = 0;
  async function show() {
    const mine = ++asked;
    view?.leave?.();
    view = null;
    body.setAttribute("aria-busy", "true");
    try {
      const next = await open();
      if (mine !== asked) return next.leave?.();
      view = next;
      const { title, announcement } = named();
      document.title = title;
      body.replaceChildren(next.element);
      next.begin?.();
      say(announcement);
    } catch (error) {
      if (mine === asked) body.replaceChildren(cannot(error, show, more?.(error)));
    } finally {
      if (mine === asked) body.removeAttribute("aria-busy");
    }
  }
  window.addEventListener("popstate", show);
  return { show, view: () => view };
}
