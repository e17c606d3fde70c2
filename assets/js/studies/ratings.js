// A session study in the studies screen: the means of its five questions by source and subset.
import { api, h, messageOf } from "../shared/common.js";
import { count } from "./words.js";
/** @import { Secret } from "./results.js" */

// Somebody who rates in the study sees nothing of it before they ask to: see ``secret`` in oneView.
/** @type {(query: string, secret: Secret) => { element: HTMLElement, again(): Promise<void> }} */
export function ratingsPart(query, secret) {
  const body = h("div", {});
  const element = h("section", { "aria-label": "Ratings" }, h("div", { class: "cq-sttitle" }, h("h2", { text: "Ratings" })), body);
  async function again() {
    if (secret.kept) {
      return body.replaceChildren(h("div", { class: "cq-stcovered" },
        h("p", { text: "You rate sessions in this study. Its results show where they come from, which raters should not see." }),
        h("button", { class: "cq-btn small", type: "button", text: "Show them anyway", onclick: () => { secret.tell(); again(); } })));
    }
    try {
      body.replaceChildren(...shown(await api("GET", `studies/ratings?${query}`)));
    } catch (error) {
      body.replaceChildren(h("p", { class: "cq-inline", role: "alert", text: messageOf(error) }));
    }
  }
  return { element, again };
}

function shown(/** @type {SessionMeans} */ { questions, rows }) {
  const cell = (/** @type {string} */ text) => h("td", { class: "num", text });
  return [h("div", { class: "cq-stscroll" }, h("table", { class: "cq-sttable" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "Source" }), h("th", { scope: "col", class: "num", text: "Rated sessions" }), h("th", { scope: "col", class: "num", text: "Answers" }),
      questions.map(({ name, text }) => h("th", { scope: "col", class: "num", text: name, title: text })))),
    h("tbody", {}, rows.map(({ source, subset, sessions, rated, ratings, means }) => h("tr", { class: subset ? "cq-stpart" : "" },
      h("th", { scope: "row", text: subset ?? source, dir: "auto" }), cell(`${count(rated)} of ${count(sessions)}`), cell(count(ratings)),
      questions.map(({ key }) => { const mean = means[key]; return cell(mean === null ? "–" : mean.toFixed(2)); })))))),
  h("p", { class: "cq-quiet", text: "Means of 1 to 5, every session counting the same." })];
}
