// What came of a study so far: CIRCUS's Table 2, the categories of each data set, the reasons.
import { api, h, messageOf, toggle } from "../shared/common.js";
import { count, percent, plural } from "../shared/words.js";
/** @import { Screen } from "./main.js" */

/** @type {Record<string, [string, string]>} */
const RULES = {
  majority: ["Majority", "Valid if more than half of the votes say so; a tie is undecided until it is adjudicated."],
  single_kept: ["First answer only", "One judgement per item counts, the first by seat, as in CIRCUS’s released code."],
};
/** @typedef {(row: SubsetRow, key: string) => number} Of how many of a category a row has */
const REST = /** @type {["undecided" | "unlabelled", string][]} */ ([["undecided", "Undecided (tie)"], ["unlabelled", "Not judged yet"]]);

/** @typedef {{ kept: boolean, tell(): void }} Secret */
/** @typedef {Exclude<keyof SubsetRow, "dataset" | "primary">} Count */

// ``rule.value`` is shared with the downloads. Judges of the study see nothing before they ask to: see ``secret`` in oneView.
/** @type {(screen: Screen, query: string, rule: { value: string }, secret: Secret) => { element: HTMLElement, again(): Promise<void> }} */
export function resultsPart(screen, query, rule, secret) {
  const body = h("div", {}), buttons = Object.keys(RULES).map((value) => h("button", { type: "button", text: RULES[value][0], "data-rule": value,
    onclick: () => { rule.value = value; again(); } }));
  const explained = h("p", { class: "cq-quiet" });
  const element = h("section", { "aria-label": "Results" },
    h("div", { class: "cq-sttitle" }, h("h2", { text: "Results" }), h("div", { class: "cq-adfilter", role: "group", "aria-label": "Label of an item" }, buttons)),
    explained, body);
  async function again() {
    for (const button of buttons) toggle(button, button.dataset.rule === rule.value);
    explained.textContent = RULES[rule.value][1];
    if (secret.kept) {
      return body.replaceChildren(h("div", { class: "cq-stcovered" },
        h("p", { text: "You are a judge in this study. Its results show what judges should not see." }),
        h("button", { class: "cq-btn small", type: "button", text: "Show them anyway", onclick: () => { secret.tell(); again(); } })));
    }
    try {
      body.replaceChildren(...shown(await api("GET", `studies/results?${query}&rule=${rule.value}`)));
    } catch (error) {
      body.replaceChildren(h("p", { class: "cq-inline", role: "alert", text: messageOf(error) }));
    }
  }
  return { element, again };
}

function shown(/** @type {Results} */ { rows, total, categories, reasons, flags }) {
  const all = rows.length > 1 ? [...rows, total] : rows;
  const kinds = [...categories.map(({ code, name }) => [code, name]), ...REST.filter(([key]) => total[key])];
  /** @type {Of} */
  const of = (row, key) => row.primary[key] ?? row[/** @type {"undecided"} */ (key)];
  return [table2(rows, total),
    h("div", { class: "cq-sttitle" }, h("h3", { text: "Categories" }), codesButton(categories.map(({ code }) => code))), h("div", { class: "cq-stbars" }, all.map((row) => stacked(row, kinds, of, row === total))),
    h("div", { class: "cq-stscroll", tabindex: "0" }, h("table", { class: rows.length > 2 ? "cq-sttable" : "cq-sttable cq-stcategories" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "Category" }), all.map((row) => h("th", { scope: "col", class: "num", text: row.dataset })))),
      h("tbody", {}, kinds.map(([key, name]) => h("tr", {}, h("th", { scope: "row" }, h("i", { class: "cq-swatch", "data-category": key }), name,
          h("code", { class: "cq-stcode", text: key, hidden: !codes || REST.some(([rest]) => rest === key) })),
        all.map((row) => h("td", { class: "num", text: count(of(row, key)) }))))))),
    ...reasonPart(reasons, flags, total)];
}

let codes = false; // whether categories also show the codes that they have in files; kept while the page is open

function codesButton(/** @type {string[]} */ known) {
  const button = h("button", { class: "cq-btn small", type: "button", text: "Codes", title: "Show the codes that the categories have in files", onclick: () => {
    codes = !codes;
    draw();
    for (const each of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".cq-stcode"))) each.hidden = !codes || !known.includes(each.textContent ?? "");
  } });
  const draw = () => toggle(button, codes);
  draw();
  return button;
}

function table2(/** @type {SubsetRow[]} */ rows, /** @type {SubsetRow} */ total) {
    /** @type {[string, Count, Count][]} */
  const pairs = [["Composition required", "audited_required", "validated_solved"], ["Unresolved", "audited_unresolved", "validated_unsolved"],
    ["Other", "audited_other", "validated_other"]];
  const groups = pairs.filter(([, audited], place) => total[audited] || (place < 2 && !total.audited_other));
  /** @type {(row: SubsetRow, head?: boolean) => HTMLElement} */
  const line = (row, head) => h("tr", { class: head ? "total" : "" }, h("th", { scope: "row", text: row.dataset, dir: "auto" }),
    groups.map(([, audited, valid]) => [h("td", { class: "num", text: count(row[audited]) }), h("td", { class: "num", text: count(row[valid]) })]),
    h("td", { class: "num" }, h("b", { text: count(row.validated) })), h("td", { class: "num", text: `${percent(row.validated, row.audited)} %` }));
  return h("div", { class: "cq-stscroll", tabindex: "0" }, h("table", { class: "cq-sttable cq-sttwo" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", rowspan: 2, text: "Data set" }),
      groups.map(([name]) => h("th", { scope: "colgroup", colspan: 2, text: name })),
      h("th", { scope: "colgroup", colspan: 2, text: "All" })),
    h("tr", {}, groups.map(() => [h("th", { scope: "col", class: "num", text: "audited" }), h("th", { scope: "col", class: "num", text: "valid" })]),
      h("th", { scope: "col", class: "num", text: "valid" }), h("th", { scope: "col", class: "num", text: "of audited" }))),
    h("tbody", {}, rows.map((row) => line(row)), rows.length > 1 ? line(total, true) : null)));
}

/** @type {(row: SubsetRow, kinds: string[][], of: Of, total: boolean) => HTMLElement} */
function stacked(row, kinds, of, total) {
  const said = kinds.filter(([key]) => of(row, key)).map(([key, name]) => `${name} ${count(of(row, key))}`).join(", ");
  return h("div", { class: total ? "total" : "" }, h("span", { text: row.dataset, dir: "auto" }),
    h("div", { class: "cq-ststack", role: "img", "aria-label": `${row.dataset}: ${said || "nothing judged"}` },
      kinds.map(([key, name]) => {
        const number = of(row, key);
        return number ? h("i", { "data-category": key, style: `flex-grow:${number}`, title: `${name}: ${count(number)}` },
          number / row.audited > 0.06 ? h("b", { text: count(number) }) : null) : null;
      })),
    h("small", { class: "num", text: plural(row.audited, "item") }));
}

function reasonPart(/** @type {Counted[]} */ reasons, /** @type {Counted[]} */ flags, /** @type {SubsetRow} */ total) {
  const most = Math.max(1, ...reasons.map((it) => it.count), ...flags.map((it) => it.count));
  /** @type {(it: Counted, name: string, kind: string) => HTMLElement} */
  const line = (it, name, kind) => h("tr", { class: kind }, h("th", { scope: "row", text: name }),
    h("td", {}, h("i", { style: `width:${(100 * it.count) / most}%` })), h("td", { class: "num", text: count(it.count) }));
  const lines = flags.flatMap((flag) => [line(flag, flag.name, "flag"),
    ...reasons.filter((it) => it.flag === flag.name).map((it) => line(it, it.name, "reason"))]);
  return [h("h3", { text: "Flags and reasons" }),
    h("p", { class: "cq-quiet", text: `An item can have several.${total.adjudicated ? ` ${plural(total.adjudicated, "label comes", "labels come")} from an adjudicator.` : ""}` }),
    h("table", { class: "cq-sttable cq-streasons" }, h("tbody", {}, lines))];
}
