// The screen of a validity study: two pictures, the images found for the query, and the rubric.
import { say, toast, h, kbd, icon } from "../../shared/common.js";
import { ownGuidelines } from "../guide.js";
import { meant } from "../../shared/key-table.js";
import { createPictures } from "../../shared/pictures.js";
import { asked, missing, orList, same, settled } from "./answer.js";
import { createEditing } from "./edit.js";
import { listen } from "../keys.js";
import { holdToZoom, keyTable } from "./keys.js";
import { createPanel } from "./panel.js";
import { createRubric } from "./rubric.js";
import { openSheet as open, createFoot, createWhere } from "../parts.js";
import { t } from "../../shared/language.js";

export { keysOf } from "./keys.js";

/** @param {Rubric} rubric @param {ScreenActions} does @returns {ItemScreen<Item, Validity>} */
export function createScreen(rubric, { here, changed, save, step, map, discard, retry, leaving }) {
  const pictures = createPictures();
  const panel = createPanel(rubric, act);
  const form = createRubric(rubric, act);
  const view = createView({ rubric, form, pictures, panel, save, unsure: () => act("unsure"), sheet, step, discard, retry });
  const edit = createEditing(rubric, changed);

  /** @param {string} what @param {string} [value] */
  function act(what, value) {
    if (!here()) return;
    if (what === "folded") return view.title.focus({ preventScroll: true });
    const said = edit.act(what, value);
    if (said) toast(said);
  }

  function reason(/** @type {string} */ key) {
    const code = edit.reasonOf(key);
    if (code) return act("reason", code);
    const keys = rubric.flags.filter((flag) => flag.reasons.length).map((flag) => flag.key);
    form.complain({ at: "flags", text: t("“{key}” belongs to a flag: press {keys} first.", { key, keys: orList(keys) }) }, { focus: false });
  }

  function sheet() { openSheet(rubric, edit.active ?? edit.answer.flags.at(-1)); }

  const zoomed = () => pictures.zoomed;
  listen(keyTable(rubric, {
    flag: (code) => { if (asked(rubric, edit.answer.flags).some((flag) => flag.code === code)) act("flag", code); }, valid: () => act("valid"), reason, unsure: () => act("unsure"), note: () => form.note.focus(), panel: () => panel.toggle(),
    save, step, sheet, map, undo: () => { if (edit.undo()) say(t("Undone")); }, zoom: holdToZoom({ zoom: pictures.zoom, zoomed }), zoomed,
    unzoom: () => pictures.zoom(false), pan: pictures.pan,
  }), { here, leaving, save, leaveNote: () => view.title.focus({ preventScroll: true }),
    theirs: (target) => !target.closest?.("[role=option]") && Boolean(target.closest?.("button, a, summary")) });

  return {
    element: view.element,
    title: view.title,
    get answer() { return settled(edit.answer, rubric); },
    same: (one, other) => same(one, other, rubric),
    missing: () => missing(edit.answer, rubric),
    complain: (lacks) => form.complain(lacks),
    // What was looked at goes on where it was left, whatever was answered.
    begin(answer, draft, restored) {
      edit.reset({ ...answer, ...(restored ? draft : {}), panel_opened: Boolean(answer?.panel_opened || draft?.panel_opened) });
    },
    replace: (answer) => { edit.replace({ ...answer, panel_opened: edit.answer.panel_opened }); },
    open(item) {
      pictures.show(item);
      panel.show(item.panel);
      view.open(item);
    },
    show: view.show,
    draw(unchanged) {
      form.draw(edit.answer, edit.active);
      panel.draw(edit.answer);
      view.draw({ answer: edit.answer, unchanged });
    },
    spoken: (item) => item.text,
    looked: (seconds) => view.late(seconds >= rubric.unsure_after),
    accepting: view.accepting,
    problem: view.problem,
    sending: view.sending,
  };
}

// Definitions and worked examples, in a sheet at the side.
/** @param {Rubric} rubric @param {string | undefined} code of the flag to begin at */
export function openSheet(rubric, code) {
  const categories = /** @type {Category[]} */ ([...rubric.flags, rubric.valid]);
  const name = (/** @type {string} */ verdict) => categories.find((one) => one.code === verdict)?.name ?? verdict;
  const example = (/** @type {Example} */ it) => h("li", { class: "st-example" },
    h("dl", {},
      it.reference && [h("dt", { text: t("Reference") }), h("dd", { text: it.reference })],
      h("dt", { text: t("Text") }), h("dd", { class: "said", text: `“${it.text}”` }),
      it.target && [h("dt", { text: t("Target") }), h("dd", { text: it.target })]),
    h("p", {}, h("b", { text: `${name(it.verdict)}${it.reasons?.length ? ` (${it.reasons.join(", ")})` : ""}. ` }), it.because ?? ""));
  const sections = new Map(categories.map((one) => [one.key, h("section", { id: `st-${one.code}`, tabindex: -1, "aria-label": one.name },
    h("h3", {}, kbd(one.key), one.name), h("p", { class: "st-code" }, h("code", { text: one.code })), one.question && h("p", { class: "st-asks", text: one.question }), h("p", { text: one.definition }),
    one.reasons?.length ? h("ul", { class: "st-why-list" }, one.reasons.map((reason) => h("li", {}, kbd(reason.key), h("span", { text: reason.name + (reason.needs_note ? ` (${t("with a note")})` : "") })))) : null,
    one.examples.length ? h("ol", {}, one.examples.map(example)) : null)]));
  const jump = (/** @type {string} */ key) => {
    sections.get(key)?.scrollIntoView({ block: "start" });
    sections.get(key)?.focus({ preventScroll: true });
  };
  const above = h("nav", { class: "st-jump", "aria-label": t("Categories") }, categories.map((one) =>
    h("button", { class: "cq-btn small", type: "button", onclick: () => jump(one.key) }, kbd(one.key), one.name)));
  const sheet = open({ title: t("Definitions and examples"), above }, h("p", { class: "st-intro", text: rubric.intro }), ownGuidelines(rubric), ...sections.values(),
    h("section", {}, h("h3", { text: t("Several flags") }), h("p", { text: rubric.about_severity })),
    h("section", {}, h("h3", {}, kbd("u"), t("Unsure")), h("p", { text: rubric.about_unsure })));
  sheet.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !sections.has(meant(event.key))) return;
    event.preventDefault();
    jump(meant(event.key));
  });
  const flag = rubric.flags.find((one) => one.code === code);
  if (flag) jump(flag.key);
}

// The layout of an item: text and pictures with the found images below, the rubric beside them.
/** @param {{ rubric: Rubric, form: Part, pictures: Part, panel: Part, save(): void, unsure(): void, sheet(): void, step(by: number): void, discard(): void, retry(): void }} of */
export function createView({ rubric, form, pictures, panel, save, unsure, sheet, step, discard, retry }) {
  const title = h("h1", { class: "st-text", tabindex: -1, dir: "auto" });
  const where = createWhere({ keys: ["←", "→"], step, discard });
  const doubt = h("button", { class: "cq-btn st-unsure", type: "button", hidden: true, "aria-pressed": "false", onclick: unsure }, t("Unsure"), kbd("u"));
  const offer = h("p", { class: "cq-quiet st-offer", hidden: true, text: t("Not sure? You can leave it to an adjudicator.") });
  const foot = createFoot({ save, retry, above: offer, beside: doubt });
  const element = h("div", { class: "st-desk" },
    h("div", { class: "st-stage" },
      h("div", { class: "st-head" }, where.element, title),
      pictures.element, panel.element),
    h("aside", { class: "st-side", "aria-label": t("Rubric") },
      h("div", { class: "st-sidehead" }, h("h2", { class: "cq-label", text: rubric.title }),
        h("button", { class: "cq-tool", type: "button", onclick: sheet }, icon("book"), h("span", { text: t("Definitions") }), kbd("d"))),
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
