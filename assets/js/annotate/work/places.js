// All items of a person: what comes before and behind one, and a map to go to any of them.
import { api } from "../../shared/calls.js";
import { closer, dialog, once } from "../../shared/dialogs.js";
import { h } from "../../shared/elements.js";
import { kbd, meant } from "../../shared/key-table.js";
import { around, t } from "../../shared/language.js";
/** @typedef {ReturnType<typeof createPlaces>} Places */
/** @typedef {{ id: string, position: number }} At */

const STATES = { open: "open", done: "answered", unsure: "unsure", handed_on: "reassigned" };

/** What is before and behind an item, in the person's own order. @param {string} study @param {{ one: string, many: string }} how ``one``, ``many``: what items are called */
export function createPlaces(study, { one, many }) {
  let places = /** @type {Place[]} */ ([]);
  async function load() {
    const found = await api("GET", `study/overview?study=${encodeURIComponent(study)}`);
    places = found.places.sort((one, other) => one.position - other.position);
  }
  const indexOf = (/** @type {string} */ item) => places.findIndex((place) => place.item === item);
  return {
    load,
    has: (/** @type {string} */ item) => indexOf(item) >= 0,
    number: (/** @type {At} */ { id, position }) => (indexOf(id) < 0 ? position : indexOf(id)) + 1,
    // "Item 3", by the id; "" for one that is not there.
    nameOf: (/** @type {string} */ item) => (indexOf(item) < 0 ? "" : `${one[0].toUpperCase()}${one.slice(1)} ${indexOf(item) + 1}`),
    get last() { return places.at(-1)?.item; },
    // The id of the one before the first that is open; of the last where none is.
    before() {
      const open = places.findIndex(({ state }) => state === "open");
      return places[(open < 0 ? places.length : open) - 1]?.item;
    },
    // The id of the item ``by`` places on from ``item``; undefined beyond the ends.
    from(/** @type {At} */ { id, position }, /** @type {number} */ by) {
      if (indexOf(id) >= 0) return places[indexOf(id) + by]?.item;
      return (by > 0 ? places.find((place) => place.position > position) : places.findLast((place) => place.position < position))?.item;
    },
    note(/** @type {string} */ item, /** @type {Place["state"]} */ state, draft = false) {
      const place = places[indexOf(item)];
      if (place) Object.assign(place, { state, draft });
    },
    // Something was begun, or changed, and is not saved; or no longer.
    begun(/** @type {string} */ item, draft = true) {
      const place = places[indexOf(item)];
      if (place) place.draft = draft;
    },
    // [{item, name}] of answers that were changed, and the change is not saved.
    changed: () => places.filter(({ state, draft }) => draft && state !== "open")
      .map(({ item }) => ({ item, name: `${one} ${indexOf(item) + 1}` })),
    // A dialog with all of them, there at once; resolves to the id of the one to go to, or null.
    /** @type {(now?: string) => Promise<string | null>} */
    choose: (now) => map(places, now, one, many),
  };
}

/** @param {Place[]} sorted @param {string | undefined} now @param {string} one @param {string} many @returns {Promise<string | null>} */
async function map(sorted, now, one, many) {
  const name = `${one[0].toUpperCase()}${one.slice(1)}`;
  const count = (/** @type {string} */ state) => sorted.filter((place) => place.state === state).length;
  const changes = sorted.filter((place) => place.draft).length;
  const savedOf = (/** @type {Place} */ place) => (!place.draft ? t(STATES[place.state]) : place.state === "open" ? t("started, not saved") : t("{state}, a change is not saved", { state: t(STATES[place.state]) }));
  const stateOf = (/** @type {Place} */ place) => `${savedOf(place)}${place.discussed ? `, ${t("discussed")}` : ""}`, talks = sorted.filter((place) => place.discussed);
  const squares = sorted.map((place, number) => h("button", { class: "st-square", type: "button", "data-state": place.state, "data-draft": place.draft, "data-discussed": place.discussed, tabindex: -1,
    "aria-current": place.item === now ? "true" : null, "aria-label": `${name} ${number + 1}: ${stateOf(place)}`, title: `${number + 1}: ${stateOf(place)}`,
    onclick: () => map.close(place.item) }));
  const grid = h("div", { class: "st-squares", role: "group", "aria-label": t("{many} in your order", { many }) }, squares);
  const map = dialog({ class: "cq-small st-map", "aria-label": t("All {many}", { many }) },
    h("header", {}, h("h2", { text: t("All {many}", { many }) }), closer()),
    h("ul", { class: "st-legend" }, Object.entries(STATES).filter(([state]) => count(state)).map(([state, word]) =>
      h("li", {}, h("i", { class: "st-square", "data-state": state }), t("{number} {state}", { number: count(state), state: t(word) }))),
    changes ? h("li", {}, h("i", { class: "st-square", "data-draft": true }), t("{number} {state}", { number: changes, state: t("not saved") })) : null,
    talks.length ? h("li", {}, h("i", { class: "st-square", "data-discussed": true }), t("{number} {state}", { number: talks.length, state: t("discussed") })) : null),
    grid, h("p", { class: "cq-quiet" }, ...around(t("Arrow keys move, Enter goes there. {key} closes."), kbd("o"))));
  map.addEventListener("keydown", (event) => {
    const at = squares.findIndex((square) => square === document.activeElement);
    const columns = Math.max(1, getComputedStyle(grid).gridTemplateColumns.split(" ").length);
    /** @type {Record<string, number>} */
    const ways = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns, ArrowDown: at + columns, Home: 0, End: squares.length - 1 };
    if (event.key in ways && at >= 0) squares[Math.min(squares.length - 1, Math.max(0, ways[event.key]))].focus();
    else if (meant(event.key) === "o") map.close();
    else return;
    event.preventDefault();
  });
  grid.addEventListener("focusin", (event) => {
    for (const square of squares) square.tabIndex = square === event.target ? 0 : -1;
  });
  const closed = once(map);
  const first = squares[Math.max(0, sorted.findIndex((place) => place.item === now))];
  if (first) { first.tabIndex = 0; first.focus(); }
  return (await closed) || null;
}
