// Search, which sessions, their order, and the pages.
import { PAGE } from "./address.js";
import { field, h, toggle } from "../shared/elements.js";
import { count, plural } from "../shared/words.js";

/**
 * @param {{ subsets: string[], shown: Record<string, string>, sorts: Record<string, string>, rising: string[], thing: [string, string] }} of ``rising``: orders whose lowest come first
 * @param {BenchmarkView} view @param {(changes: Partial<BenchmarkView>) => void} change
 */
export function createTools({ subsets, shown, sorts, rising, thing }, view, change) {
  let turn = (/** @type {number} */ page) => change({ page });
  const search = h("input", { type: "search", value: view.q, maxlength: 200, placeholder: "Words or ids", "aria-label": "Search in texts and ids", autocomplete: "off",
    spellcheck: "false", dir: "auto", oninput: () => { change({ q: search.value }); } });
  /** @type {(name: "show" | "subset" | "sort", choices: [string, string][]) => HTMLSelectElement} */
  const select = (name, choices) => {
    const element = h("select", { onchange: () => {
      change({ [name]: element.value, ...(name === "sort" ? { order: rising.includes(element.value) ? "up" : "down" } : {}) });
    } }, choices.map(([value, text]) => h("option", { value, text, selected: value === view[name] })));
    return element;
  };
  const show = select("show", Object.entries(shown));
  const subset = select("subset", [["", "All subsets"], ...subsets.map((name) => /** @type {[string, string]} */ ([name, name]))]);
  const sort = select("sort", Object.entries(sorts));
  const order = h("button", { class: "cq-btn small", type: "button", "aria-label": "Largest first", title: "Largest first", text: "↓", onclick: () => {
    change({ order: order.getAttribute("aria-pressed") === "true" ? "up" : "down" });
  } });
  const status = h("p", { class: "cq-quiet num", role: "status" });
  const before = h("button", { class: "cq-btn small", type: "button", text: "‹ Previous", onclick: () => turn(now - 1) });
  const after = h("button", { class: "cq-btn small", type: "button", text: "Next ›", onclick: () => turn(now + 1) });
  const where = h("span", { class: "cq-quiet num" });
  const pager = h("nav", { class: "cq-be-pager", "aria-label": "Pages" }, before, where, after);
  let now = view.page;
  return {
    element: h("div", { class: "cq-be-tools", role: "search" }, field("Search", search), field("Show", show), subsets.length > 1 ? field("Subset", subset) : null,
      h("div", { class: "cq-be-sort" }, field("Sort by", sort), order), status),
    search, pager,
    pages: (/** @type {(page: number) => void} */ to) => { turn = to; },
    /** @param {BenchmarkView} view @param {{ total: number, all: number }} page */
    put(view, { total, all }) {
      now = view.page;
      show.value = view.show in shown ? view.show : "all";
      sort.value = view.sort in sorts ? view.sort : "constructed";
      toggle(order, view.order === "down");
      status.textContent = total === all ? plural(total, ...thing) : `${count(total)} of ${plural(all, ...thing)}`;
      const pages = Math.max(1, Math.ceil(total / PAGE));
      pager.hidden = pages < 2;
      before.disabled = now <= 1;
      after.disabled = now >= pages;
      where.textContent = `Page ${count(now)} of ${count(pages)}`;
    },
  };
}
