// A target study in the studies screen: what people say of the candidates, by data set.
import { api, h, messageOf } from "../shared/common.js";
import { count } from "../shared/words.js";
/** @import { Secret } from "./results.js" */

// Somebody who marks in the study sees nothing of it before they ask to: see ``secret`` in oneView.
/** @type {(query: string, secret: Secret) => { element: HTMLElement, again(): Promise<void> }} */
export function targetsPart(query, secret) {
  const body = h("div", {});
  const element = h("section", { "aria-label": "Targets" }, h("div", { class: "cq-sttitle" }, h("h2", { text: "Targets" })), body);
  async function again() {
    if (secret.kept) {
      return body.replaceChildren(h("div", { class: "cq-stcovered" },
        h("p", { text: "You mark images in this study. Its results show what others and the language model say, which people who mark should not see." }),
        h("button", { class: "cq-btn small", type: "button", text: "Show them anyway", onclick: () => { secret.tell(); again(); } })));
    }
    try {
      body.replaceChildren(...shown(await api("GET", `studies/targets?${query}`)));
    } catch (error) {
      body.replaceChildren(h("p", { class: "cq-inline", role: "alert", text: messageOf(error) }));
    }
  }
  return { element, again };
}

function shown(/** @type {TargetCounts} */ { threshold, rows }) {
  const cell = (/** @type {string} */ text) => h("td", { class: "num", text });
  const part = (/** @type {number} */ some, /** @type {number} */ of) => cell(of ? `${count(some)} of ${count(of)}` : "–");
  const heads = [["Marked queries", ""], ["Answers", ""], ["Yes", "Images with more yes than no"], ["No", "Images with more no than yes"],
    ["Undecided", "As many yes as no"], ["Confirmed", `Of the images with a confidence of ${threshold} or more, those with a yes`],
    ["Missed", `Images with a yes and a confidence below ${threshold}, or none`], ["Own target", "The data set’s own targets with a yes"]];
  return [h("div", { class: "cq-stscroll", tabindex: "0" }, h("table", { class: "cq-sttable" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "Data set" }), heads.map(([text, title]) => h("th", { scope: "col", class: "num", text, title })))),
    h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row", text: row.dataset ?? "All", dir: "auto" }),
      part(row.marked, row.queries), cell(count(row.answers)), cell(count(row.yes)), cell(count(row.no)), cell(count(row.undecided)),
      part(row.confirmed, row.by_model), cell(count(row.missed)), part(row.original_yes, row.original)))))),
  h("p", { class: "cq-quiet", text: `Images by the majority of yes and no. Confirmed: of the images with a confidence of ${threshold} or more, those with a yes. Missed: a yes, and a lower confidence or none.` })];
}
