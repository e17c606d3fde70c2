// What this browser keeps of items, one thing each: drafts, answers that are not sent yet.
import { kept } from "../../shared/common.js";

export const sameItem = (one, other) => one.study === other.study && one.item === other.item;

// Of objects with ``study`` and ``item``.
export function keptByItem(key) {
  const slot = ({ study, item }) => `${study} ${item}`;
  const all = () => kept.read(key, {});
  function change(how) {
    const things = all();
    how(things);
    kept.write(key, Object.keys(things).length ? things : null);
  }
  return {
    all: () => Object.values(all()),
    at: (one) => all()[slot(one)] ?? null,
    put: (thing) => change((things) => { things[slot(thing)] = thing; }),
    drop: (one) => change((things) => { delete things[slot(one)]; }),
  };
}
