// The studies a person may judge in, as cards.
import { h } from "../shared/common.js";
import { sampleStudy } from "../studies/sample-study.js";

/** @param {AnswerOf<"study/mine">["studies"]} studies @param {Me} me @param {(name: string) => void} open */
export function studyList(studies, me, open) {
  if (!studies.length) {
    return h("section", { class: "st-page st-none" }, h("h1", { text: "No study is open" }),
      h("p", { class: "cq-lead", text: "Open studies appear here. Come back later, or ask whoever invited you." }),
      me.may.includes("manage") ? [sampleStudy(),
        h("p", { class: "cq-quiet" }, "To create one from an audit: ", h("code", { text: "cirque study create validity NAME --from-audit AUDIT" }))] : null);
  }
  const card = (/** @type {AnswerOf<"study/mine">["studies"][number]} */ { name, accepting, joined, done, total }) => {
    const finished = joined && total > 0 && done >= total;
    const begin = !joined ? "Begin" : finished || !accepting ? "Review" : "Go on";
    const words = !joined ? "Not started" : `${done.toLocaleString("en")} of ${total.toLocaleString("en")} done`;
    return h("li", { class: "st-card" },
      h("h2", { text: name, dir: "auto" }),
      h("progress", { class: "st-bar", max: Math.max(1, total), value: joined ? done : 0, "aria-label": `Done in ${name}` }),
      h("p", { class: "cq-quiet", text: accepting ? words : `${words} · closed` }),
      h("button", { class: `cq-btn${finished || !accepting ? "" : " primary"}`, type: "button", text: begin, "aria-label": `${begin}: ${name}`, onclick: () => open(name) }));
  };
  return h("section", { class: "st-page" }, h("h1", { text: "Your studies" }), h("ul", { class: "st-cards" }, studies.map(card)));
}
