// The sections of a report, drawn once and then kept up to date in place: what is open stays open, and nothing jumps.
import { at, h } from "../../shared/common.js";
import { createFigure } from "./figure.js";
import { createTable } from "./table.js";
import { count, plural } from "../../shared/words.js";

const NOTES = "notes"; // they stand over the report, all the time

/** @template Of @typedef {{ element: HTMLElement, put(of: Of): void, leave?: () => void }} Kept a part that is kept up to date in place */
/** @typedef {{ element: HTMLElement, link: HTMLElement, anchor: HTMLElement, put(next: Section, state: { awaited: boolean }): void, goTo(): void, leave(): void }} Own */

/**
 * @param {{ query(): URLSearchParams, disputed(of: Pair, from: HTMLElement): void }} of ``query``: of the files that match what
 * is shown; ``disputed`` shows where two people differ
 */
export function createSections({ query, disputed }) {
  const index = h("ol", {}), element = h("div", { class: "cq-an-sections" });
  const nav = h("nav", { class: "cq-an-index", "aria-label": "Sections" }, index);
  const known = /** @type {Map<string, Own>} */ (new Map());
  let seats = /** @type {Map<string, number>} */ (new Map()); // as people are called in this report → seat

  const fileOf = (/** @type {string} */ what) => (/** @type {string} */ key, /** @type {string} */ form) =>
    `${at(`analysis/${what}`)}?${query()}&${what}=${encodeURIComponent(key)}&form=${form}`;

  /** @param {string} key @returns {Own} */
  function section(key) {
    const title = h("h2", { id: `an-${key}`, tabindex: "-1" }), intro = h("p", { class: "cq-an-intro", dir: "auto" });
    const numbers = h("div", {}), figures = h("div", { class: "cq-an-figures" }), tables = h("div", {});
    const link = h("a", { href: `#an-${key}`, onclick: (event) => {
      event.preventDefault();
      goTo();
    } });
    const own = h("section", { class: "cq-an-section", "aria-labelledby": `an-${key}`, "data-section": key }, title, intro, numbers, figures, tables);
    const drawn = new Map(), listed = new Map();
    let opening = /** @type {Map<string, Pair[]>} */ (new Map());
    /** @type {Own["put"]} */
    const put = (next, state) => {
      for (const it of [title, link]) if (it.textContent !== next.title) it.textContent = next.title;
      intro.textContent = next.intro;
      numbers.replaceChildren(...(next.headlines.length ? [cards(next.headlines, state)] : []));
      opening = new Map(next.figures.filter(({ cells }) => Object.keys(cells ?? {}).length).map(({ key: of, cells }) => [of, Object.values(cells ?? {})]));
      keep(figures, drawn, next.figures, () => createFigure({ cell: disputed, address: fileOf("figure") }));
      keep(tables, listed, next.tables.filter(({ key }) => key !== NOTES), () => createTable({ opens: disputed, pair: (row, table) => pairOf(row, table, opening), address: fileOf("table") }));
    };
    const goTo = () => {
      title.focus({ preventScroll: true });
      own.scrollIntoView({ behavior: "smooth", block: "start" });
    };
    const leave = () => { for (const it of [...drawn.values(), ...listed.values()]) it.leave(); };
    return { element: own, link: h("li", {}, link), anchor: link, put, goTo, leave };
  }

  // Whose items a row stands for: it names two people between whom a cell opens something, in the figure of the same
  // key or in the section's only one.
  function pairOf(/** @type {Cell[]} */ row, /** @type {Table} */ { key, columns }, /** @type {Map<string, Pair[]>} */ opening) {
    const cells = opening.get(key) ?? (opening.size === 1 ? [...opening.values()][0] : []);
    const [a, b] = ["a", "b"].map((name) => seats.get(String(row[columns.findIndex((it) => it.key === name)])));
    if (a === undefined || b === undefined) return null;
    return cells.find((it) => (it.a === a && it.b === b) || (it.a === b && it.b === a)) ?? null;
  }

  const inSight = /** @type {Set<Element>} */ (new Set());
  const reading = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (isIntersecting) inSight.add(target);
      else inSight.delete(target);
    }
    const first = [...known.values()].find((it) => inSight.has(it.element)) ?? (window.scrollY < 200 ? [...known.values()][0] : null);
    for (const { anchor } of known.values()) {
      if (anchor === first?.anchor) anchor.setAttribute("aria-current", "true");
      else anchor.removeAttribute("aria-current");
    }
  }, { rootMargin: "-12% 0px -60% 0px" });

  return {
    element,
    nav,
    put(/** @type {{ sections: Section[], choices?: Choices }} */ { sections, choices }, /** @type {{ awaited: boolean }} */ state) {
      seats = new Map((choices?.people ?? []).map(({ seat, name }) => [name, seat]));
      for (const [key, old] of known) {
        if (sections.some((it) => it.key === key)) continue;
        reading.unobserve(old.element);
        old.leave();
        known.delete(key);
      }
      for (const next of sections) {
        const own = known.get(next.key) ?? section(next.key);
        if (!known.has(next.key)) reading.observe(own.element);
        known.set(next.key, own);
      }
      const own = sections.flatMap(({ key }) => known.get(key) ?? []);
      inOrder(element, own.map((it) => it.element));
      inOrder(index, own.map((it) => it.link));
      own.forEach((it, place) => it.put(sections[place], state));
    },
    goTo: (/** @type {string} */ key) => known.get(key)?.goTo(),
    clear() {
      for (const it of known.values()) it.leave();
      reading.disconnect();
      known.clear();
      element.replaceChildren();
      index.replaceChildren();
    },
  };
}

/**
 * One part for each of ``wanted``, by key: those that are there already are kept.
 * @template {{ key: string }} Of
 * @param {HTMLElement} place
 * @param {Map<string, Kept<Of>>} parts
 * @param {Of[]} wanted
 * @param {() => Kept<Of>} make
 */
function keep(place, parts, wanted, make) {
  for (const [key, part] of parts) {
    if (wanted.some((it) => it.key === key)) continue;
    part.leave?.();
    parts.delete(key);
  }
  const all = wanted.map((next) => {
    const part = parts.get(next.key) ?? make();
    parts.set(next.key, part);
    return part;
  });
  inOrder(place, all.map(({ element }) => element));
  all.forEach((part, number) => part.put(wanted[number]));
}

// Children in this order, moving none that stands right: what is moved loses the focus.
function inOrder(/** @type {Element} */ place, /** @type {Element[]} */ children) {
  for (const old of [...place.children]) if (!children.includes(old)) old.remove();
  children.forEach((child, number) => { if (place.children[number] !== child) place.insertBefore(child, place.children[number] ?? null); });
}

// The numbers a reader looks for first, each with its interval and what it rests on.
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
