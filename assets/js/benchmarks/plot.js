// The rank by turn as a small plot, on a logarithmic scale.
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 132, HEIGHT = 44, EDGE = 6;

/** @param {string} tag @param {Record<string, string | number>} attributes */
function draw(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

// Places of ranks in the plot, best rank at the bottom; what has no rank is behind all others. Pure.
/** @param {(number | null)[]} ranks @param {number} shown images, among which a target is found */
export function placesOf(ranks, shown) {
  const known = ranks.map((rank) => rank ?? 0), worst = Math.max(shown * 10, ...known);
  const high = (/** @type {number} */ rank) => HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (Math.log10(rank) / Math.log10(worst));
  const step = ranks.length > 1 ? (WIDTH - 2 * EDGE) / (ranks.length - 1) : 0;
  return { hit: high(shown), places: ranks.map((rank, at) => ({ x: EDGE + at * step, y: high(rank === null ? worst : Math.max(1, rank)) })) };
}

/** @param {(number | null)[]} ranks @param {number} shown */
export function rankPlot(ranks, shown) {
  const { hit, places } = placesOf(ranks, shown);
  const label = `Rank of the target by turn: ${ranks.map((rank) => (rank === null ? "not in the gallery" : rank.toLocaleString("en"))).join(", ")}`;
  const plot = /** @type {SVGElement} */ (draw("svg", { class: "cq-be-plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": label }));
  plot.append(draw("line", { class: "ten", x1: 0, x2: WIDTH, y1: hit, y2: hit }));
  plot.append(draw("polyline", { points: places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ") }));
  places.forEach(({ x, y }, at) => {
    const rank = ranks[at];
    plot.append(draw("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 3, class: rank !== null && rank <= shown ? "hit" : "" }));
  });
  return plot;
}
