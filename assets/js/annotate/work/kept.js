// What this browser keeps of items, one thing each: drafts, answers that are not sent yet.
import { kept } from "../../shared/elements.js";

export const sameItem = (/** @type {Of} */ one, /** @type {Of} */ other) => one.study === other.study && one.item === other.item;

/** @template {Of} Thing @param {string} key */
export function keptByItem(key) {
  const slot = (/** @type {Of} */ { study, item }) => `${study} ${item}`;
  /** @type {() => Record<string, Thing>} */
  const all = () => kept.read(key, {});
  function change(/** @type {(things: Record<string, Thing>) => void} */ how) {
    const things = all();
    how(things);
    kept.write(key, Object.keys(things).length ? things : null);
  }
  return {
    all: () => Object.values(all()),
    at: (/** @type {Of} */ one) => all()[slot(one)] ?? null,
    put: (/** @type {Thing} */ thing) => change((things) => { things[slot(thing)] = thing; }),
    drop: (/** @type {Of} */ one) => change((things) => { delete things[slot(one)]; }),
  };
}
