// A whole screen: its style sheets, the bar, and below it what the screen shows, or why it cannot be shown.
import { ApiProblem } from "./calls.js";
import { h, style } from "./elements.js";
import { mountNav } from "./nav.js";

/**
 * @param {HTMLElement} element
 * @param {{ page: string, styles: string[], css: string }} of ``page`` is its name in the bar, ``css`` the class of its body
 * @param {(body: HTMLElement, of: { me: Me, slot: HTMLElement }) => unknown} fill draws it
 */
export async function openScreen(element, { page, styles, css }, fill) {
  await Promise.all(styles.map(style));
  const bar = h("div", {}), body = h("main", { class: css, "aria-busy": "true" });
  element.replaceChildren(bar, body);
  try {
    await fill(body, await mountNav(bar, { page }));
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    body.replaceChildren(h("div", { class: "cq-none" }, h("h2", { text: "This cannot be shown" }), h("p", { text: error.message, dir: "auto" }),
      h("button", { class: "cq-btn", type: "button", text: "Try again", onclick: () => window.location.reload() })));
  } finally {
    body.removeAttribute("aria-busy");
  }
}
