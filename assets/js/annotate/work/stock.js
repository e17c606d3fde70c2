// The items that come next, whole and with their pictures, and those that were here: work goes on with them while the
// server does not answer.
import { fetchAhead } from "../../shared/pictures.js";
/** @import { At } from "./places.js" */

export const AHEAD = 20; // asked for at a time, so that not every save brings some
const LEAST = 10, KEPT = 60, SOON = 2;

/** @template A @typedef {ReturnType<typeof createStock<A>>} Stock */
/**
 * @template A
 * @param {{ pending(item: string): unknown, sharp?: (address: string) => string }} of ``pending``: the answer that is not sent yet
 */
export function createStock({ pending, sharp = (address) => address }) {
  const desks = /** @type {Map<string, DeskOf<At, A>>} */ (new Map());
  const images = /** @type {Map<string, string[]>} */ (new Map());
  let all = false; // the server has no more that may be answered now
  const placeOf = (/** @type {DeskOf<At, A>} */ { item }) => item?.position ?? 0;
  const open = () => [...desks.values()].filter(({ item, revision }) => item && !revision && !pending(item.id))
    .sort((one, other) => placeOf(one) - placeOf(other));
  // Without an answer, those behind this item before the others.
  function behind(/** @type {At} */ { id, position }) {
    const there = open().filter(({ item }) => item?.id !== id);
    return [...there.filter((desk) => placeOf(desk) > position), ...there.filter((desk) => placeOf(desk) <= position)];
  }
  const fetchOne = (/** @type {string[]} */ addresses, /** @type {number} */ place) => fetchAhead(addresses.map(sharp), { soon: place < SOON });

  return {
    // How many of the next items to ask for.
    get wants() { return all || open().length > LEAST ? 0 : AHEAD; },
    /** @param {DeskOf<At, A>} desk as the server sent it @param {number} asked how many of the next it was asked for */
    put(desk, asked) {
      const { item, ahead, gate } = desk;
      if (gate) desks.clear(); // what comes behind it is not known
      if (asked) all = ahead.length < asked || ahead.some(({ item: next }) => !next);
      for (const { item: next, draft = null, images: addresses } of ahead) {
        if (!next) continue;
        desks.set(next.id, { ...desk, item: next, draft, answer: null, revision: 0, seconds: 0, ahead: [] });
        images.set(next.id, addresses);
      }
      if (!item) return ahead.forEach((next, place) => fetchOne(next.images, place));
      desks.delete(item.id);
      desks.set(item.id, { ...desk, ahead: [] }); // the latest is the last to go
      behind(item).forEach((next, place) => fetchOne(images.get(next.item?.id ?? "") ?? [], place));
      for (const [id, { revision }] of desks) {
        if (desks.size > KEPT && revision && id !== item.id) desks.delete(id);
      }
    },
    /** The item is answered. @type {(sent: Sent<A>, revision: number) => void} */
    answered({ item, answer, seconds }, revision) {
      const desk = desks.get(item);
      if (desk) desks.set(item, { ...desk, answer, seconds, revision, draft: null });
      images.delete(item);
    },
    at: (/** @type {string} */ item) => desks.get(item) ?? null,
    next: (/** @type {At} */ item) => behind(item)[0] ?? null,
  };
}
