// What stands on the search page. The server draws its panels (web/search/screen.py) and says in the top one what they show.
export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

// {beat, session, turn, reference, gallery, problem, notice, loaded}, all of them text.
export const shown = () => $(".cq-top")?.dataset ?? {};
export const targetOpen = () => $("#results .cq-grid")?.dataset.target === "open";
export const narrow = (width) => window.matchMedia(`(max-width: ${width}px)`);
