// The discussion on an item, between adjudicators and, where the study includes them, its judges.
import { openSheet } from "../parts.js";
import { api, h, messageOf, tellIn, token } from "../../shared/common.js";
import { t } from "../../shared/language.js";

/** @param {{ study: string, item: string, messages: Said[], path?: "adjudicate/say" | "study/say", heard?(messages: Said[]): void }} of */
function discussionPart({ study, item, messages, path = "adjudicate/say", heard = () => {} }) {
  const list = h("ol", { class: "cq-adtalk" });
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const text = h("textarea", { class: "st-note", rows: 2, dir: "auto", maxlength: 4000, "aria-label": t("Message"),
    onkeydown: (event) => event.stopPropagation() }); // Enter makes a line
  let press = /** @type {{ text: string, token: string } | null} */ (null);
  const draw = (/** @type {Said[]} */ said) => list.replaceChildren(...said.map((one) => h("li", {}, h("b", { text: one.label }), h("span", { text: one.text, dir: "auto" }))));
  async function send() {
    if (press?.text !== text.value) press = { text: text.value, token: token() }; // sent again after a failure, it stays the same
    tellIn(problem, "");
    try {
      const said = (await api("POST", path, { study, item, ...press })).messages;
      draw(said);
      heard(said);
      [text.value, press] = ["", null];
    } catch (error) {
      tellIn(problem, messageOf(error));
    }
  }
  draw(messages);
  return h("div", { class: "cq-adsaid" }, list, text, problem, h("p", { class: "cq-row" }, h("button", { class: "cq-btn small", type: "button", text: t("Send"), onclick: send })));
}

/** An adjudicator's, folded away until somebody has said something. @param {{ study: string, item: string, messages: Said[] }} of */
export const discussionFold = (of) => h("details", { class: "cq-adfold", open: of.messages.length > 0 }, h("summary", { text: t("Discussion") }), discussionPart(of));

/** A judge's way to it: a button beside items that they have answered and that are discussed. @param {string} study */
export function createTalk(study) {
  let here = /** @type {string | null} */ (null), messages = /** @type {Said[]} */ ([]);
  const heard = (/** @type {Said[]} */ said) => {
    messages = said;
    element.hidden = !said.length;
    element.textContent = t("Discussion ({number})", { number: said.length });
  };
  const element = h("button", { class: "cq-btn small", type: "button", hidden: true, onclick: () => {
    if (here) openSheet({ title: t("Discussion") }, discussionPart({ study, item: here, messages, path: "study/say", heard }));
  } });
  return {
    element,
    /** @param {Pick<DeskStudy, "discussed">} of @param {{ id: string } | null | undefined} item @param {number} revision */
    async show({ discussed }, item, revision) {
      const asked = here = discussed && item && revision ? item.id : null;
      heard([]);
      if (!asked) return;
      const found = await api("GET", `study/discussion?study=${encodeURIComponent(study)}&item=${encodeURIComponent(asked)}`).catch(() => null);
      if (found && here === asked) heard(found.messages);
    },
  };
}
