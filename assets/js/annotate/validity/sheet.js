// Definitions and worked examples, in a sheet at the side.
import { h, kbd } from "../../shared/common.js";
import { openSheet as open } from "../parts.js";

/** @param {Rubric} rubric @param {string | undefined} code of the flag to begin at */
export function openSheet(rubric, code) {
  const categories = /** @type {Category[]} */ ([...rubric.flags, rubric.valid]);
  const name = (/** @type {string} */ verdict) => categories.find((one) => one.code === verdict)?.name ?? verdict;
  const example = (/** @type {Example} */ it) => h("li", { class: "st-example" },
    h("dl", {},
      it.reference && [h("dt", { text: "Reference" }), h("dd", { text: it.reference })],
      h("dt", { text: "Text" }), h("dd", { class: "said", text: `“${it.text}”` }),
      it.target && [h("dt", { text: "Target" }), h("dd", { text: it.target })]),
    h("p", {}, h("b", { text: `${name(it.verdict)}${it.reasons?.length ? ` (${it.reasons.join(", ")})` : ""}. ` }), it.because ?? ""));
  const sections = new Map(categories.map((one) => [one.key, h("section", { id: `st-${one.code}`, tabindex: -1, "aria-label": one.name },
    h("h3", {}, kbd(one.key), one.name), h("p", { class: "st-code" }, h("code", { text: one.code })), one.question && h("p", { class: "st-asks", text: one.question }), h("p", { text: one.definition }),
    one.reasons?.length ? h("ul", { class: "st-why-list" }, one.reasons.map((reason) => h("li", {}, kbd(reason.key), h("span", { text: reason.name + (reason.needs_note ? " (with a note)" : "") })))) : null,
    h("ol", {}, one.examples.map(example)))]));
  const jump = (/** @type {string} */ key) => {
    sections.get(key)?.scrollIntoView({ block: "start" });
    sections.get(key)?.focus({ preventScroll: true });
  };
  const above = h("nav", { class: "st-jump", "aria-label": "Categories" }, categories.map((one) =>
    h("button", { class: "cq-btn small", type: "button", onclick: () => jump(one.key) }, kbd(one.key), one.name)));
  const sheet = open({ title: "Definitions and examples", above }, h("p", { class: "st-intro", text: rubric.intro }), ...sections.values(),
    h("section", {}, h("h3", { text: "Several flags" }), h("p", { text: rubric.about_severity })),
    h("section", {}, h("h3", {}, kbd("u"), "Unsure"), h("p", { text: rubric.about_unsure })));
  sheet.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !sections.has(event.key)) return;
    event.preventDefault();
    jump(event.key);
  });
  const flag = rubric.flags.find((one) => one.code === code);
  if (flag) jump(flag.key);
}
