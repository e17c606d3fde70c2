// Which column of the table is what: proposed, and to be changed.
import { field, h } from "../../shared/common.js";

const SHOWN = 60; // characters of an example

/**
 * @param {NewKind} kind @param {DraftTable} table @param {Record<string, string[]>} columns is changed here
 * @param {() => void} changed
 */
export function columnFields(kind, table, columns, changed) {
  const example = (/** @type {string[]} */ names) => names.map((name) => (table.head[0]?.[table.names.indexOf(name) + 1] ?? "").slice(0, SHOWN)).join(" · ");
  return kind.fields.map(({ name, title, required, many, least }) => {
    const said = h("small", { class: "cq-quiet", dir: "auto", text: example(columns[name] ?? []) });
    const put = (/** @type {string[]} */ chosen) => {
      if (chosen.length) columns[name] = chosen;
      else delete columns[name];
      said.textContent = example(chosen);
      changed();
    };
    const label = `${title}${required ? "" : " (optional)"}`;
    if (many) {
      /** @type {HTMLInputElement[]} */
      const boxes = table.names.filter(Boolean).map((one) => h("input", { type: "checkbox", value: one, checked: (columns[name] ?? []).includes(one),
        onchange: () => { put(boxes.filter((box) => box.checked).map((box) => box.value)); } }));
      return h("fieldset", { class: "cq-stmany" }, h("legend", { text: `${label}${least > 1 ? `: ${least} columns or more` : ""}` }),
        boxes.map((box) => h("label", {}, box, h("span", { text: box.value, dir: "auto" }))), said);
    }
    const select = h("select", { onchange: () => { put(select.value ? [select.value] : []); } }, h("option", { value: "", text: "–" }),
      table.names.filter(Boolean).map((one) => h("option", { value: one, text: one, selected: columns[name]?.[0] === one })));
    return h("div", {}, field(label, select), said);
  });
}

// The first rows, as they were read.
export const firstRows = (/** @type {DraftTable} */ { names, head }) => h("div", { class: "cq-stscroll", tabindex: "0" }, h("table", { class: "cq-sttable" },
  h("thead", {}, h("tr", {}, h("th", {}), names.map((name) => h("th", { scope: "col", text: name, dir: "auto" })))),
  h("tbody", {}, head.map(([where, ...cells]) => h("tr", {}, h("th", { scope: "row", text: where }), cells.map((cell) => h("td", { text: cell.slice(0, SHOWN), dir: "auto" })))))));
