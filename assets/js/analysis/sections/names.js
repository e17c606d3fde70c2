// Long names, cut so that they stay apart: in the middle, or down to where those that look alike begin to differ.

const MOST = 26, TAIL = 10, LEAD = 4;

// One for each of ``names``, which are all different.
export function shortened(/** @type {string[]} */ names, most = MOST) {
  const letters = names.map((name) => [...name]);
  /** @param {string[]} of */
  const middle = (of) => (of.length <= most ? of.join("") : `${of.slice(0, most - TAIL - 1).join("")}…${of.slice(-TAIL).join("")}`);
  const short = letters.map(middle);
  for (const places of alike(short)) {
    const from = common(places.map((place) => letters[place]));
    for (const place of places) {
      const of = letters[place], begin = of.slice(0, LEAD).join(""), rest = of.slice(Math.max(LEAD, from - LEAD));
      short[place] = `${begin}…${rest.length > most - LEAD - 1 ? `${rest.slice(0, most - LEAD - 2).join("")}…` : rest.join("")}`;
    }
  }
  for (const places of alike(short)) places.forEach((place, number) => { short[place] += ` (${number + 1})`; });
  return short;
}

// Places of texts that are there more than once.
function alike(/** @type {string[]} */ texts) {
  const groups = /** @type {Map<string, number[]>} */ (new Map());
  texts.forEach((text, place) => groups.set(text, [...(groups.get(text) ?? []), place]));
  return [...groups.values()].filter((places) => places.length > 1);
}

// How many letters all begin with.
function common(/** @type {string[][]} */ words) {
  const [first] = words;
  const end = first.findIndex((letter, place) => words.some((word) => word[place] !== letter));
  return end === -1 ? first.length : end;
}
