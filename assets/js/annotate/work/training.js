// Training before the work: what the person is told of an answer.
import { dialog, once } from "../../shared/dialogs.js";
import { h } from "../../shared/elements.js";
import { kbd } from "../../shared/key-table.js";
import { createGuard } from "../../shared/rest.js";
import { t, told } from "../../shared/language.js";

/** A dialog until it is closed. @param {Feedback} feedback */
export async function tellFeedback({ right, expected, note, verdict }) {
  const justShown = createGuard(); // a second press of Enter was meant for saving
  const title = right ? t("Right") : t("Not quite");
  const go = h("button", { class: "cq-btn primary", type: "submit", autofocus: true }, verdict ? t("Go on") : t("Next"), kbd("Enter"));
  const shown = dialog({ class: "cq-small st-feedback", "aria-label": title },
    h("form", { method: "dialog", onsubmit: (event) => { if (justShown.runs) event.preventDefault(); } }, h("h2", { class: right ? "right" : "wrong", text: title }),
      h("p", {}, h("b", { text: `${t("The answer is:")} ` }), h("span", { text: told(expected), dir: "auto" })),
      note ? h("p", { class: "cq-quiet", text: note, dir: "auto" }) : null,
      verdict ? h("p", { class: "st-verdict", text: told(verdict) }) : null,
      h("div", { class: "cq-row" }, go)));
  const closed = once(shown);
  justShown.start();
  go.focus();
  await closed;
}

/** "Training 2 of 5", or "" for an item of the work. */
export const trainingName = (/** @type {{ training?: [number, number] } | null} */ desk) => (desk?.training ? t("Training {number} of {of}", { number: desk.training[0], of: desk.training[1] }) : "");
