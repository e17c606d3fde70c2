// The layout of a question: what is looked for, the two sets, and which of them is better.
import { h, icon, kbd, stay, tellIn } from "../../shared/common.js";
import { createFoot, createWhere, createChoice } from "../parts.js";
import { enlarge, imageOf } from "../../shared/pictures.js";
import { KEY_OF_MARK } from "./keys.js";
import { SIDES, TIE, doubt } from "./answer.js";
import { t } from "../../shared/language.js";

/** @import { Lacks } from "./answer.js" */

// More on a question, below it.
const more = (/** @type {string} */ text) => (text ? h("small", { class: "sv-help", text, dir: "auto" }) : null);

/**
 * "rate" (side, rating), "active" (side), "prefer" (side or tie), "flip" (a mark), "reason" (text)
 * @typedef {(what: "rate" | "active" | "prefer" | "flip" | "reason", value: string, rating?: number) => void} Act
 */
/** @param {{ page: Survey, act: Act, save(): void, meant(yes: boolean): void, step(by: number): void, sheet(): void, discard(): void, retry(): void }} of */
export function createSurveyView({ page, act, save, meant, step, sheet, discard, retry }) {
  const [one, other] = page.set_names;
  const title = h("h1", { class: "st-text", tabindex: -1, dir: "auto" });
  const where = createWhere({ keys: ["Backspace", "Shift Backspace"], step, discard });
  const frame = h("button", { class: "st-frame sv-reference", type: "button", onclick: () => { if (item) large(item.reference); } });
  const sets = { A: createSet("A", page, act, (image) => large(image)), B: createSet("B", page, act, (image) => large(image)) };
  const marks = page.questions.marks.map(({ to, text }) => ({ to, button: h("button", { class: "sv-mark", type: "button", "aria-pressed": "false",
    onmousedown: stay, onclick: () => act("flip", to) },
  h("i", { "aria-hidden": "true" }, icon("check")), h("span", { text }), kbd(KEY_OF_MARK[to])) }));
  const better = createChoice({ class: "sv-better", label: page.questions.preferred, pick: (side) => act("prefer", side), options: [
    { value: "A", content: [kbd("←"), h("b", { text: one, dir: "auto" })] },
    ...(page.allow_tie ? [{ value: TIE, content: [h("b", { text: page.questions.tie }), kbd("=")] }] : []),
    { value: "B", content: [h("b", { text: other, dir: "auto" }), kbd("→")] }] });
  const reason = h("textarea", { class: "st-note", rows: 2, dir: "auto", "aria-label": page.questions.reason, oninput: () => { act("reason", reason.value); } });
  const why = h("label", { class: "sv-why", hidden: true }, h("span", {}, page.questions.reason, kbd("r")), more(page.help.reason), reason);
  const complaint = h("p", { class: "cq-inline sv-lacks", hidden: true });
  const asked = h("span", {});
  const asking = h("div", { class: "sv-doubt", role: "alertdialog", "aria-label": t("Is that what you meant?"), hidden: true }, asked, h("span", { class: "cq-row" },
    h("button", { class: "cq-btn small", type: "button", onclick: () => meant(true) }, `${t("Yes, keep it")} `, kbd("y")),
    h("button", { class: "cq-btn small", type: "button", onclick: () => meant(false) }, `${t("No, let me change it")} `, kbd("n"))));
  const foot = createFoot({ save, retry, above: h("div", { class: "sv-above" }, complaint, asking, why),
    beside: h("div", { class: "sv-prefer" }, h("span", { class: "sv-asks" }, page.questions.preferred, more(page.help.preferred)), better.element) });
  const element = h("div", { class: "sv-desk" },
    h("div", { class: "sv-query" }, h("div", { class: "sv-top" }, where.element, h("button", { class: "cq-tool", type: "button", title: `${t("Guidelines")} (d)`,
      "aria-label": t("Guidelines"), onclick: sheet }, icon("book"))),
    h("div", { class: "sv-asked" }, h("div", { class: "sv-looked" }, labelled("text"), title),
      h("div", { class: "sv-looked" }, labelled("image"), frame)), h("div", { class: "sv-marks", role: "group", "aria-label": t("The results of both sets") }, marks.map(({ button }) => button), more(page.help.irrelevant))),
    h("div", { class: "sv-sets" }, sets.A.element, sets.B.element), foot.element);
  /** What stands over the image, or the text. @param {"image" | "text"} of */
  function labelled(of) { return page.labels && h("p", { class: "sv-label", "data-of": of, text: page.labels[of] }); }
  let item = /** @type {Question | null} */ (null), locked = false;

  // Every picture there is, from this one on; the arrows lead through them.
  function large(/** @type {Picture} */ image) {
    if (!item) return;
    const { reference, sets: shown } = item;
    const all = [{ it: reference, name: t("Reference") }, ...SIDES.flatMap((side) => shown[side].map((it, number) =>
      ({ it, name: t("{name}, image {number}", { name: page.set_names[SIDES.indexOf(side)], number: number + 1 }) })))]
      .flatMap(({ it, name }) => (it.missing ? [] : [{ it, name, large: it.large }]));
    const at = all.findIndex(({ it }) => it === image);
    if (!all.length) return;
    const back = document.activeElement;
    enlarge(all, Math.max(0, at)).then(() => { if (back instanceof HTMLElement) back.focus({ preventScroll: true }); });
  }

  return {
    element, title, reason,
    // To where something is missing, on a screen that does not show all at once.
    lead: (/** @type {Side} */ side) => sets[side].element.scrollIntoView({ block: "center" }),
    /** @param {{ item: Question, name: string, revision: number, restored: boolean, study: DeskStudy, finished: boolean }} what */
    show({ item: next, name, revision, restored, study, finished }) {
      item = next;
      locked = finished || !study.accepting;
      title.textContent = item.text;
      title.classList.toggle("long", item.text.length > 90);
      const shown = item.reference.missing ? null : imageOf(item.reference.large, { alt: t("Reference image") });
      const none = h("span", { class: "st-missing", text: t("Image unavailable.") });
      frame.disabled = !shown;
      frame.setAttribute("aria-label", shown ? t("{name}: enlarge", { name: t("Reference image") }) : t("{name}: image unavailable", { name: t("Reference") }));
      frame.replaceChildren(shown ?? none);
      shown?.addEventListener("error", () => { frame.replaceChildren(none); frame.disabled = true; }, { once: true });
      for (const side of SIDES) sets[side].show(item.sets[side]);
      where.show({ name, revision, restored });
      foot.show(study);
      if (study.accepting && finished) foot.problem(t("This form is finished: you can view your answer, but not change it."));
      element.scrollTop = 0;
    },
    /** @param {{ answer: Preference, active: Side, unchanged: boolean, lacks: Lacks | null, asks: boolean, asksReason: boolean }} what */
    draw({ answer, active, unchanged, lacks, asks, asksReason }) {
      for (const side of SIDES) sets[side].draw(answer.ratings[side], { active: active === side, locked, text: lacks?.at === side ? lacks.text : "" });
      better.draw(answer.preferred, { disabled: locked });
      for (const { to, button } of marks) {
        button.setAttribute("aria-pressed", String(Boolean(answer.irrelevant[to])));
        button.disabled = locked;
      }
      why.hidden = !asksReason && !answer.reason;
      if (reason.value !== answer.reason) reason.value = answer.reason;
      reason.disabled = locked;
      reason.setAttribute("aria-invalid", String(lacks?.at === "reason"));
      tellIn(complaint, lacks?.at === "preferred" || lacks?.at === "reason" ? lacks.text : "");
      if (asks) asked.textContent = doubt(answer, page) ?? "";
      asking.hidden = !asks;
      foot.draw(unchanged || locked);
    },
    // The picture that has the focus, or the reference.
    zoom() {
      if (!item) return;
      const token = document.activeElement?.getAttribute("data-token");
      large([...item.sets.A, ...item.sets.B].find((image) => token && image.token === token) ?? item.reference);
    },
    get locked() { return locked; },
    problem: foot.problem,
    sending: foot.sending,
  };
}

// One of the two sets: its pictures in a row, and the scale on which it is rated as a whole.
const SHARP = 1.3; // pixels of the screen for one of the page, from which on small pictures are not enough

/**
 * @param {Side} side
 * @param {Survey} page
 * @param {(what: "rate" | "active", side: Side, rating?: number) => void} act
 * @param {(image: ShownPicture) => void} large shows one large
 */
export function createSet(side, page, act, large) {
  const place = side === "A" ? 0 : 1;
  const name = page.set_names[place];
  const scale = createChoice({ class: "sv-scale", label: page.questions.ratings[place], pick: (rating) => act("rate", side, rating),
    options: page.scale.map(({ value, name: words }) => ({ value, label: `${value}: ${words}`, content: [h("b", { text: value }), h("small", { text: words })] })) });
  const complaint = h("p", { class: "cq-inline", hidden: true, id: `sv-lacks-${side}` });
  const row = h("div", { class: "sv-row" });
  const element = h("section", { class: "sv-set", "aria-label": name, "data-side": side },
    h("div", { class: "sv-sethead" }, h("div", { class: "sv-name" }, h("h2", {}, h("span", { text: name, dir: "auto" }), kbd(side.toLowerCase())),
      h("p", { class: "sv-rates", id: `sv-rates-${side}`, text: page.questions.ratings[place], dir: "auto" }), more(page.help.rating), complaint), scale.element),
    row);
  scale.element.addEventListener("focusin", () => act("active", side));

  return {
    element,
    show(/** @type {Picture[]} */ images) {
      row.replaceChildren(...images.map((image, number) => {
        const label = t("{name}, image {number} of {of}", { name, number: number + 1, of: images.length });
        if (image.missing) return h("div", { class: "sv-picture", role: "img", "aria-label": t("{name}: unavailable", { name: label }) }, missing());
        const shown = imageOf(sharp(image.small), { width: image.width, height: image.height });
        const button = h("button", { class: "sv-picture", type: "button", "aria-label": t("{name}: enlarge", { name: label }), "data-token": image.token,
          onclick: () => large(image) }, shown);
        shown.addEventListener("error", () => { button.replaceChildren(missing()); button.disabled = true; }, { once: true });
        return button;
      }));
    },
    draw(/** @type {number | null} */ rating, /** @type {{ active: boolean, locked: boolean, text: string }} */ { active, locked, text }) {
      scale.draw(rating, { disabled: locked });
      element.classList.toggle("active", active && !locked);
      tellIn(complaint, text);
    },
  };
}

// The address of a picture, or of its larger file where this screen shows more than the small one has.
export const sharp = (/** @type {string} */ small) => (window.devicePixelRatio > SHARP ? small.replace(/-s\.webp$/, "-l.webp") : small);
const missing = () => h("span", { class: "st-missing", text: t("Image unavailable.") });
