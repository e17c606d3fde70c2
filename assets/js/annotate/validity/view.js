// The layout of an item: text and pictures with the found images below, the rubric beside them.
import { h, icon, kbd } from "../../shared/common.js";
import { createFoot, createWhere } from "../parts.js";

/** @param {{ form: Part, pictures: Part, panel: Part, save(): void, unsure(): void, sheet(): void, step(by: number): void, discard(): void, retry(): void }} of */
export function createView({ form, pictures, panel, save, unsure, sheet, step, discard, retry }) {
  const title = h("h1", { class: "st-text", tabindex: -1, dir: "auto" });
  const where = createWhere({ keys: ["←", "→"], step, discard });
  const doubt = h("button", { class: "cq-btn st-unsure", type: "button", hidden: true, "aria-pressed": "false", onclick: unsure }, "Unsure", kbd("u"));
  const offer = h("p", { class: "cq-quiet st-offer", hidden: true, text: "Not sure? You can leave it to an adjudicator." });
  const foot = createFoot({ save, retry, above: offer, beside: doubt });
  const element = h("div", { class: "st-desk" },
    h("div", { class: "st-stage" },
      h("div", { class: "st-head" }, where.element, title),
      pictures.element, panel.element),
    h("aside", { class: "st-side", "aria-label": "Rubric" },
      h("div", { class: "st-sidehead" }, h("h2", { class: "cq-label", text: "Is this a good query?" }),
        h("button", { class: "cq-tool", type: "button", onclick: sheet }, icon("book"), h("span", { text: "Definitions" }), kbd("d"))),
      h("div", { class: "st-scroll" }, form.element), foot.element));

  return {
    element,
    title,
    open(/** @type {Item} */ item) {
      title.textContent = item.text;
      title.classList.toggle("long", item.text.length > 90);
    },
    /** @param {{ name: string, revision: number, restored: boolean, study: DeskStudy }} what */
    show({ name, revision, restored, study }) {
      where.show({ name, revision, restored });
      foot.show(study);
      doubt.hidden = offer.hidden = true;
    },
    draw(/** @type {{ answer: Validity, unchanged: boolean }} */ { answer, unchanged }) {
      doubt.setAttribute("aria-pressed", String(answer.unsure));
      if (answer.unsure) doubt.hidden = false;
      foot.draw(unchanged);
    },
    late(/** @type {boolean} */ yes) {
      if (!yes) return;
      offer.hidden = doubt.getAttribute("aria-pressed") === "true";
      doubt.hidden = false;
    },
    accepting: foot.show,
    problem: foot.problem,
    sending: foot.sending,
  };
}
