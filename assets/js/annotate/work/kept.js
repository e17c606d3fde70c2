// What this browser keeps of items, one thing each: drafts, answers that are not sent yet.
import { kept } from "../../shared/elements.js";
/** @import { Of } from "../../shared/types.js" */

/** @type {(one: Of, other: Of) => boolean} */
export const sameItem = (one, other) => one.study === other.study && one.item === other.item;

/** @template {Of} Thing @param {string} key */
export function keptByItem(key) {
  /** @type {(one: Of) => string} */
  const slot = ({ study, item }) => `${study} ${item}`;
  /** @type {() => Record<string, Thing>} */
  const all = () => kept.read(key, {});
  /** @param {(things: Record<string, Thing>) => void} how */
  function change(how) {
    const things = all();
    how(things);
    kept.write(key, Object.keys(things).length ? things : null);
  }
  return {
    all: () => Object.values(all()),
    /** @type {(one: Of) => Thing | null} */
    at: (one) => all()[slot(one)] ?? null,
    /** @param {Thing} thing */
    put: (thing) => change((things) => { things[slot(thing)] = thing; }),
    /** @param {Of} one */
    drop: (one) => change((things) => { delete things[slot(one)]; }),
  };
}
