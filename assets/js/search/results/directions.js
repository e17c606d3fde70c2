// The nearest of several places in a direction, on a map or in a list.
/** @typedef {{ x: number, y: number }} Place */
const WAYS = /** @type {Record<string, Place>} */ ({ ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } });

// Places within 45° of the direction come first; without one, any on that side counts, the less aside the better.
/** @type {<P extends Place>(from: Place, places: readonly P[], key: string) => P | undefined} */
export function nearest(from, places, key) {
  const way = WAYS[key];
  if (!way) return undefined;
  let best, least = Infinity;
  for (const place of places) {
    const ahead = (place.x - from.x) * way.x + (place.y - from.y) * way.y;
    const aside = Math.abs((place.x - from.x) * way.y) + Math.abs((place.y - from.y) * way.x);
    if (ahead <= 0) continue;
    const far = Math.hypot(ahead, aside) + (aside > ahead ? 1e6 + aside : 0);
    if (far < least) [best, least] = [place, far];
  }
  return best;
}

// The place below or above number ``from`` in a list in rows, any of which may be short: ``tops`` says where each begins. Beyond
// the first row it is the first place, beyond the last the last.
/** @type {(tops: readonly number[], from: number, down: boolean) => number} */
export function inNextRow(tops, from, down) {
  const rows = /** @type {number[][]} */ ([]);
  for (const [place, top] of tops.entries()) {
    const row = rows.at(-1);
    if (row && top <= tops[row[0]] + 4) row.push(place);
    else rows.push([place]);
  }
  const at = rows.findIndex((row) => row.includes(from));
  const next = rows[at + (down ? 1 : -1)];
  if (!next) return down ? tops.length - 1 : 0;
  return next[Math.min(rows[at].indexOf(from), next.length - 1)];
}

// Which places show a picture: each, best first, that keeps its distance from those before. ``size`` is a picture's edge.
/** @type {(places: readonly Place[], size: number) => boolean[]} */
export function uncrowded(places, size) {
  const taken = /** @type {Map<string, Place[]>} */ (new Map());
  const cell = (/** @type {number} */ value) => Math.floor(value / size);
  return places.map((place) => {
    const [column, row] = [cell(place.x), cell(place.y)];
    for (let x = column - 1; x <= column + 1; x += 1) {
      for (let y = row - 1; y <= row + 1; y += 1) {
        if (taken.get(`${x} ${y}`)?.some((other) => Math.abs(other.x - place.x) < size && Math.abs(other.y - place.y) < size)) return false;
      }
    }
    taken.set(`${column} ${row}`, [...(taken.get(`${column} ${row}`) ?? []), place]);
    return true;
  });
}
