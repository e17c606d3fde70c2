// What is shown on the search page. The server draws its panels (web/search/screen.py) and says in a hidden one what they show.
/** @type {<S extends string>(selector: S, root?: ParentNode) => Found<S> | null} */
export const $ = (selector, root = document) => root.querySelector(selector);
/** @type {<S extends string>(selector: S, root?: ParentNode) => Found<S>[]} */
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

export const shown = () => $(".cq-state")?.dataset ?? {};
/** @type {() => string[]} */
export const further = () => JSON.parse(shown().further || "[]"); // references beside the first
export const queryField = () => $("textarea#cq-text");
export const targetOpen = () => $("#results .cq-grid")?.dataset.target === "open";
/** A part of a panel that the server fills later. @type {(place: HTMLElement, html: string) => void} */
export const fillIn = (place, html) => {
  place.innerHTML = html; // eslint-disable-line no-restricted-properties -- a template of the server, escaped there
};
export const narrow = (/** @type {number} */ width) => window.matchMedia(`(max-width: ${width}px)`);
