// The sections of a report, drawn once and then kept up to date in place: what is open stays open, and nothing jumps.
import { at, h } from "../../shared/common.js";
import { cards } from "./cards.js";
import { createFigure } from "./figure.js";
import { createTable } from "./table.js";

const NOTES = "notes"; // they stand over the report, all the time

// ``query()``: of the files that match what is shown. ``disputed({a, b, key}, from)`` shows where two people differ.
export function createSections({ query, fileName, disputed }) {
  const index = h("ol", {}), element = h("div", { class: "cq-an-sections" });
  const nav = h("nav", { class: "cq-an-index", "aria-label": "Sections" }, index);
  const known = new Map(); // key → section
  let seats = new Map(); // as people are called in this report → seat

  function section(key) {
    const title = h("h2", { id: `an-${key}`, tabindex: "-1" }), intro = h("p", { class: "cq-an-intro", dir: "auto" });
    const numbers = h("div", {}), figures = h("div", { class: "cq-an-figures" }), tables = h("div", {});
    const link = h("a", { href: `#an-${key}`, onclick: (event) => {
      event.preventDefault();
      own.goTo();
    } });
    const own = { element: h("section", { class: "cq-an-section", "aria-labelledby": `an-${key}`, "data-section": key }, title, intro, numbers, figures, tables),
      link: h("li", {}, link), anchor: link, drawn: new Map(), listed: new Map(), opening: new Map() };
    own.put = (next, state) => {
      for (const it of [title, link]) if (it.textContent !== next.title) it.textContent = next.title;
      intro.textContent = next.intro;
      numbers.replaceChildren(...(next.headlines.length ? [cards(next.headlines, state)] : []));
      own.opening = new Map(next.figures.map((figure) => [figure.key, Object.values(figure.cells ?? {})]).filter(([, cells]) => cells.length));
      keep(figures, own.drawn, next.figures, () => createFigure({ cell: disputed, fileName }));
      keep(tables, own.listed, next.tables.filter(({ key }) => key !== NOTES), () => createTable({ opens: disputed, pair: (row, table) => pairOf(row, table, own.opening),
        address: (table, form) => `${at("analysis/table")}?${query()}&table=${encodeURIComponent(table)}&form=${form}` }));
    };
    own.goTo = () => {
      title.focus({ preventScroll: true });
      own.element.scrollIntoView({ behavior: "smooth", block: "start" });
    };
    own.leave = () => { for (const it of [...own.drawn.values(), ...own.listed.values()]) it.leave(); };
    return own;
  }

  // Whose items a row stands for: it names two people between whom a cell opens something, in the figure of the same
  // key or in the section's only one.
  function pairOf(row, { key, columns }, opening) {
    const cells = opening.get(key) ?? (opening.size === 1 ? [...opening.values()][0] : []);
    const [a, b] = ["a", "b"].map((name) => seats.get(row[columns.findIndex((it) => it.key === name)]));
    if (a === undefined || b === undefined) return null;
    return cells.find((it) => (it.a === a && it.b === b) || (it.a === b && it.b === a)) ?? null;
  }

  const reading = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) target.inSight = isIntersecting;
    const first = [...known.values()].find((it) => it.element.inSight) ?? (window.scrollY < 200 ? [...known.values()][0] : null);
    for (const { anchor } of known.values()) {
      if (anchor === first?.anchor) anchor.setAttribute("aria-current", "true");
      else anchor.removeAttribute("aria-current");
    }
  }, { rootMargin: "-12% 0px -60% 0px" });

  return {
    element,
    nav,
    put({ sections, choices }, state) {
      seats = new Map((choices?.people ?? []).map(({ seat, name }) => [name, seat]));
      for (const [key, old] of known) {
        if (sections.some((it) => it.key === key)) continue;
        reading.unobserve(old.element);
        old.leave();
        known.delete(key);
      }
      for (const next of sections) {
        if (!known.has(next.key)) {
          known.set(next.key, section(next.key));
          reading.observe(known.get(next.key).element);
        }
      }
      inOrder(element, sections.map(({ key }) => known.get(key).element));
      inOrder(index, sections.map(({ key }) => known.get(key).link));
      for (const next of sections) known.get(next.key).put(next, state);
    },
    goTo: (key) => known.get(key)?.goTo(),
    clear() {
      for (const it of known.values()) it.leave();
      reading.disconnect();
      known.clear();
      element.replaceChildren();
      index.replaceChildren();
    },
  };
}

// One part for each of ``wanted``, by key: those that are there already are kept.
function keep(place, parts, wanted, make) {
  for (const [key, part] of parts) {
    if (wanted.some((it) => it.key === key)) continue;
    part.leave?.();
    parts.delete(key);
  }
  for (const next of wanted) if (!parts.has(next.key)) parts.set(next.key, make());
  inOrder(place, wanted.map(({ key }) => parts.get(key).element));
  for (const next of wanted) parts.get(next.key).put(next);
}

// Children in this order, moving none that stands right: what is moved loses the focus.
function inOrder(place, children) {
  for (const old of [...place.children]) if (!children.includes(old)) old.remove();
  children.forEach((child, number) => { if (place.children[number] !== child) place.insertBefore(child, place.children[number] ?? null); });
}
