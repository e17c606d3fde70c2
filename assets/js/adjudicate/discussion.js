// The discussion on an item, between adjudicators and, where the study includes them, its judges.
import { api, h, messageOf, tellIn, token } from "../shared/common.js";

/** @param {{ study: string, item: string, messages: Said[] }} of */
export function discussionPart({ study, item, messages }) {
  const list = h("ol", { class: "cq-adtalk" });
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const text = h("textarea", { class: "st-note", rows: 2, dir: "auto", maxlength: 4000, "aria-label": "Message",
    onkeydown: (event) => event.stopPropagation() }); // Enter makes a line
  let press = /** @type {{ text: string, token: string } | null} */ (null);
  const draw = (/** @type {Said[]} */ said) => list.replaceChildren(...said.map((one) => h("li", {}, h("b", { text: one.label }), h("span", { text: one.text, dir: "auto" }))));
  async function send() {
    if (press?.text !== text.value) press = { text: text.value, token: token() }; // sent again after a failure, it stays the same
    tellIn(problem, "");
    try {
      draw((await api("POST", "adjudicate/say", { study, item, ...press })).messages);
      [text.value, press] = ["", null];
    } catch (error) {
      tellIn(problem, messageOf(error));
    }
  }
  draw(messages);
  return h("details", { class: "cq-adfold", open: messages.length > 0 }, h("summary", { text: "Discussion" }), list, text, problem,
    h("p", { class: "cq-row" }, h("button", { class: "cq-btn small", type: "button", text: "Send", onclick: send })));
}
