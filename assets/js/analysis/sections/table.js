// A table of a report: sorted by a column, its files, and the items behind a row where people differ.
import { h, tellIn, toast } from "../../shared/common.js";
import { fileMenu } from "../../shared/files.js";
import { count, plural } from "../../shared/words.js";

const FORMS = [["csv", "CSV"], ["json", "JSON"], ["md", "Markdown"], ["tex", "LaTeX"]];
const FIRST_ROWS = 30, SPARE = 6; // of a long table, until all are asked for
const NONE = "–"; // of a cell without a value
const AT_ONCE = 12; // longer tables are folded until somebody opens them

/** @typedef {Column & { place: number, range: number[] | null }} Drawn ``range``: places of the bounds of its interval */

/**
 * @param {{ address(key: string, form: string): string, pair(row: Cell[], table: Table): Pair | null, opens(of: Pair, from: HTMLElement): void }} of
 * ``address``: of a table's file; ``pair``: whose items the row opens, if any; ``opens`` shows them
 */
export function createTable({ address, pair, opens }) {
  const title = h("h3", {}), size = h("small", { class: "num" }), caption = h("caption", { class: "sr" }), head = h("thead", {}), body = h("tbody", {});
  const table = h("table", { class: "cq-sttable cq-an-table" }, caption, head, body);
  const scroll = h("div", { class: "cq-stscroll", role: "region", tabindex: "0" }, table);
  const more = h("button", { class: "cq-btn small", type: "button", onclick: () => { all = !all; draw(); } });
  const remarks = h("ol", { class: "cq-an-remarks cq-quiet", dir: "auto" }), note = h("p", { class: "cq-quiet", dir: "auto" }), none = h("p", { class: "cq-quiet cq-an-empty" });
  let shown = /** @type {Table | null} */ (null), known = "", all = false, by = /** @type {{ key: string, falling: boolean } | null} */ (null);
  const menu = fileMenu("Download", FORMS.map(([form, what]) => ({ what, address: () => (shown ? address(shown.key, form) : "#") })), toast);
  const element = h("details", { class: "cq-an-tablebox" }, h("summary", {}, title, size), h("div", { class: "cq-an-tools" }, menu), none, scroll, more, remarks, note);

  function draw() {
    if (!shown) return;
    const table = shown, { rows, shown: texts } = table, columns = together(table.columns), said = remarksOf(table);
    if (!columns.some(({ key }) => key === by?.key)) by = null; // the column may be gone: other filters, another report
    const order = sorted(rows, columns.find(({ key }) => key === by?.key)?.place, by?.falling ?? false);
    const few = all || rows.length <= FIRST_ROWS + SPARE ? order : order.slice(0, FIRST_ROWS);
    const focus = element.contains(document.activeElement) ? document.activeElement?.getAttribute("data-focus") : null;
    const pairs = rows.map((row) => pair(row, table)), opening = pairs.some(Boolean);
    head.replaceChildren(h("tr", {}, columns.map(column), opening ? h("th", { scope: "col" }, h("span", { class: "sr", text: "Disputed items" })) : null));
    body.replaceChildren(...few.map((place) => h("tr", {}, columns.map((it) => cell(texts[place], it, said.of[place])),
      opening ? h("td", { class: "num" }, behindOf(pairs[place], place, texts[place])) : null)));
    remarks.replaceChildren(...said.all.map((text) => h("li", { text })));
    remarks.hidden = !said.all.length;
    more.hidden = rows.length <= FIRST_ROWS + SPARE;
    more.textContent = all ? "Show fewer rows" : `Show all ${count(rows.length)} rows`;
    if (focus) element.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  function column(/** @type {Drawn} */ { key, name, kind, range }) {
    const way = by?.key === key ? (by.falling ? "descending" : "ascending") : "none";
    return h("th", { scope: "col", class: kind === "text" ? "" : "num", "aria-sort": way === "none" ? null : way },
      h("button", { type: "button", class: "cq-an-sort", text: name, title: range ? "With its 95 % interval" : null, "data-focus": `sort ${key}`, onclick: () => {
        // Numbers begin with the largest. The third press brings the report's own order back.
        const first = kind !== "text";
        by = by?.key !== key ? { key, falling: first } : by.falling === first ? { key, falling: !first } : null;
        draw();
      } }));
  }

  function behindOf(/** @type {Pair | null} */ of, /** @type {number} */ place, /** @type {string[]} */ texts) {
    if (!of) return null;
    const [a, b] = ["a", "b"].map((name) => texts[shown?.columns.findIndex(({ key }) => key === name) ?? -1]);
    return h("button", { class: "cq-btn small", type: "button", text: "Disputed items", "aria-label": `Disputed items of ${a} and ${b}`, "data-focus": `row ${place}`,
      onclick: (event) => opens(of, event.currentTarget) });
  }
  const unmark = sideways(scroll);

  return {
    element,
    put(/** @type {Table} */ next) {
      const content = JSON.stringify(next);
      if (content === known) return;
      if (!shown) element.open = next.rows.length <= AT_ONCE;
      [shown, known] = [next, content];
      size.textContent = next.rows.length ? plural(next.rows.length, "row") : "";
      title.textContent = next.title;
      caption.textContent = next.title;
      scroll.setAttribute("aria-label", next.title);
      menu.firstElementChild?.setAttribute("aria-label", `Download: ${next.title}`);
      tellIn(note, next.note);
      none.textContent = next.empty ? next.empty[0].toUpperCase() + next.empty.slice(1) : "Nothing to show.";
      none.hidden = next.rows.length > 0;
      scroll.hidden = menu.hidden = !next.rows.length;
      draw();
    },
    leave: unmark,
  };
}

const LONG = 46;
// ``marks``: numbers of the row's remarks, beside its name.
function cell(/** @type {string[]} */ texts, /** @type {Drawn} */ { place, kind, range }, /** @type {number[]} */ marks) {
  const [low, high] = (range ?? []).map((at) => texts[at]), between = range && low !== NONE && high !== NONE;
  return h(place ? "td" : "th", { class: kind !== "text" ? "num" : texts[place].length > LONG ? "long" : "", scope: place ? null : "row", dir: kind === "text" ? "auto" : null },
    texts[place], between ? h("small", { text: ` [${low}, ${high}]` }) : null,
    place || !marks.length ? null : h("sup", {}, h("span", { class: "sr", text: " remark " }), marks.join(" ")));
}

// Sentences about rows stand under the table, each once; and for each row the numbers of its own.
function remarksOf(/** @type {Table} */ { columns, shown }) {
  const places = columns.flatMap(({ kind }, place) => (kind === "remark" ? [place] : []));
  const all = /** @type {string[]} */ ([]);
  const of = shown.map((texts) => places.map((place) => texts[place]).filter((text) => text && text !== NONE).map((text) => {
    if (!all.includes(text)) all.push(text);
    return all.indexOf(text) + 1;
  }));
  return { all, of };
}

// The bounds of an interval stand in the cell of their value; files keep them apart.
function together(/** @type {Column[]} */ columns) {
  /** @type {Map<string, number>} */
  const place = new Map(columns.map(({ key }, number) => [key, number]));
  const bounds = new Set(columns.flatMap(({ key }) => (place.has(`${key}_low`) && place.has(`${key}_high`) ? [`${key}_low`, `${key}_high`] : [])));
  return columns.filter(({ key, kind }) => !bounds.has(key) && kind !== "remark").map((column) => ({ ...column, place: place.get(column.key) ?? -1,
    range: bounds.has(`${column.key}_low`) ? [`${column.key}_low`, `${column.key}_high`].map((key) => place.get(key) ?? -1) : null }));
}

// Places of rows, by a column; what has no value comes last, whichever way.
function sorted(/** @type {Cell[][]} */ rows, /** @type {number | undefined} */ column, /** @type {boolean} */ falling) {
  const places = rows.map((_, place) => place);
  if (column === undefined) return places;
  const missing = (/** @type {Cell | undefined} */ value) => value === null || value === undefined || value === "";
  return places.sort((one, other) => {
    const [a, b] = [rows[one][column], rows[other][column]];
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
    return falling ? -order : order;
  });
}

// A box that scrolls sideways: its edge fades where there is more. Answers what ends that.
export function sideways(/** @type {HTMLElement} */ box) {
  const mark = () => {
    const beyond = box.scrollWidth - box.clientWidth;
    box.classList.toggle("more-before", beyond > 1 && box.scrollLeft > 1);
    box.classList.toggle("more-after", beyond - box.scrollLeft > 1);
  };
  box.addEventListener("scroll", mark, { passive: true });
  const sized = new ResizeObserver(mark);
  for (const it of [box, ...box.children]) sized.observe(it);
  return () => sized.disconnect();
}
