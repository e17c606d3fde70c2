// The numbers a reader looks for first, each with its interval and what it rests on.
import { h } from "../../shared/elements.js";
import { count, plural } from "../../studies/words.js";

const ONE = /** @type {Record<string, string>} */ ({ people: "person" });
const digits = (/** @type {number} */ value, /** @type {number} */ places) => value.toFixed(places).replace("-", "−");
const written = (/** @type {number} */ value, /** @type {string} */ kind) => (kind === "share" ? `${digits(100 * value, 1)} %`
  : kind === "count" ? count(value) : digits(value, 3));

// ``awaited``: intervals are being drawn; until then a card says so by its look.
/** @type {(headlines: Headline[], state: { awaited: boolean }) => HTMLElement} */
export const cards = (headlines, { awaited }) => h("ul", { class: "cq-an-cards" }, headlines.map((it) => card(it, awaited)));

function card(/** @type {Headline} */ { label, value, low, high, n, reason, kind, unit, note }, /** @type {boolean} */ awaited) {
  const there = value !== null, between = there && low !== null && high !== null;
  const why = awaited ? [note] : [...new Set([note, reason])]; // a reason beside a value is a remark on it
  const rests = n !== null && unit ? `${count(n)} ${n === 1 ? ONE[unit] ?? unit.replace(/s$/, "") : unit}` : "";
  return h("li", {},
    h("span", { class: "cq-an-label", text: label }),
    h("b", { class: there ? "num" : "num none", text: there ? written(value, kind) : "–" }),
    between ? [interval(value, low, high, kind, unit), h("span", { class: "num cq-an-range", text: `${written(low, kind)} to ${written(high, kind)}` })]
      : awaited && there && kind !== "count" ? h("span", { class: "cq-an-interval cq-shimmer", "aria-hidden": "true" }) : null,
    rests ? h("small", { class: "num", text: rests }) : null,
    why.filter(Boolean).map((text) => h("small", { class: "cq-an-why", text: text[0].toUpperCase() + text.slice(1), dir: "auto" })));
}

// The interval on a scale whose ends are written under it: 0 to 1, 1 to 5 of ratings, or the whole numbers around it.
/** @type {(value: number, low: number, high: number, kind: string, unit: string) => HTMLElement} */
function interval(value, low, high, kind, unit) {
  const rating = unit === "rated sets" && low > 1; // no correlation is that high
  const [least, most] = kind === "share" ? [0, 1] : rating ? [1, 5] : [Math.min(0, Math.floor(low)), Math.max(1, Math.ceil(high))];
  const place = (/** @type {number} */ at) => `${(100 * (at - least)) / (most - least)}%`;
  const ends = kind === "share" ? ["0", "100 %"] : [digits(least, 0), digits(most, 0)];
  return h("span", { class: "cq-an-interval", role: "img", "aria-label": `95 % interval, ${written(low, kind)} to ${written(high, kind)}` },
    h("i", { style: `left:${place(low)};width:calc(${place(high)} - ${place(low)})` }), h("em", { style: `left:${place(value)}` }),
    h("s", { text: ends[0] }), h("s", { text: ends[1] }));
}

export const answersWord = (/** @type {number} */ number) => plural(number, "new answer");
