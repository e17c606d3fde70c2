// What stands between the questions: guidelines, consent, small tasks, and the code at the end.
// Every page is {element, focus()}; ``pass(answer)`` answers a sentence if it goes no further.
import { copy, h, kbd, tellIn, ApiProblem, api, createGuard, messageOf, say, token } from "../../shared/common.js";
import { ownGuidelines } from "../guide.js";
import { createChoice, openSheet } from "../parts.js";
import { AHEAD } from "../work/stock.js";
import { t, told } from "../../shared/language.js";

/** @typedef {(answer?: unknown) => string | Promise<string>} Pass */

const paragraphs = (/** @type {string} */ text) => text.split(/\n\s*\n/).map((part) => h("p", { class: "sv-prose", text: part.trim(), dir: "auto" }));

// The words that explain the study; the same on its first page and in the sheet.
const guide = (/** @type {Survey} */ page) => [h("p", { class: "sv-prose sv-intro", text: page.intro, dir: "auto" }), ownGuidelines(page),
  h("h2", { text: t("The scale") }),
  h("ol", { class: "sv-anchors" }, page.scale.map(({ value, name }) => h("li", {}, h("b", { text: value }), h("span", { text: name })))),
  h("h2", { text: t("Good to know") }),
  h("ul", { class: "sv-lines" }, page.guidelines.map((line) => h("li", { text: line, dir: "auto" })))];

// A form with one button: a press is on its way, or its sentence is shown.
/** @param {string} title @param {Pass} pass @param {{ content: Child, button: string, more?: Child, value?: () => unknown }} parts */
function formOf(title, pass, { content, button, more = null, value = () => undefined }) {
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const heading = h("h1", { tabindex: -1, text: title });
  let busy = false;
  const element = h("form", { class: "st-page sv-page", novalidate: true, onsubmit: async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    tellIn(problem, "");
    const said = await pass(value());
    busy = false;
    tellIn(problem, said);
  } }, heading, content, problem, h("div", { class: "cq-row" }, h("button", { class: "cq-btn primary", type: "submit" }, button, kbd("Enter")), more));
  element.addEventListener("keydown", (event) => { // where a browser sends no form by itself
    if (event.key !== "Enter" || event.repeat || event.isComposing || !(/** @type {Element} */ (event.target)).matches("h1, div, [type=checkbox], [role=radio]")) return;
    event.preventDefault();
    element.requestSubmit();
  });
  return { element, heading };
}

/** @type {(page: Survey, pass: Pass) => { element: HTMLElement, focus(): void }} */
export function guidelinesPage(page, pass) {
  const form = formOf(t("Before you begin"), pass, { button: `${t("I have read this")} `, content: [
    h("p", { class: "sv-hint", text: t("On this screen the two sets are shown one below the other. A larger screen makes comparing easier: you can continue there at any time.") }),
    guide(page)] });
  return { element: form.element, focus: () => form.heading.focus() };
}

/** @type {(text: string, pass: Pass, others: () => void) => { element: HTMLElement, focus(): void }} */
export function consentPage(text, pass, others) {
  const agree = h("input", { type: "checkbox", id: "sv-agree" });
  const form = formOf(t("Your consent"), pass, { button: `${t("Go on")} `, value: () => agree.checked, content: [
    h("div", { class: "sv-consent", tabindex: 0, role: "region", "aria-label": t("What you agree to") }, paragraphs(text)),
    h("label", { class: "sv-agree" }, agree, h("span", { text: t("I have read this and agree to participate.") }))],
  more: h("button", { class: "cq-btn", type: "button", text: t("I do not agree"), onclick: others }) });
  return { element: form.element, focus: () => agree.focus({ preventScroll: true }) };
}

/** @param {Gate} gate @param {Pass} pass @param {{ said: string, back: (() => void) | null }} how ``said``: what to say of an answer before */
export function checkPage(gate, pass, { said, back }) {
  const sum = gate.check === "sum";
  const label = sum ? `${gate.question} =` : told(gate.instruction ?? ""), options = gate.options ?? [];
  let chosen = /** @type {number | null} */ (null);
  const input = h("input", { class: "sv-sum", type: "text", inputmode: "numeric", autocomplete: "off", maxlength: 9, "aria-label": label });
  /** @type {Choice | null} */
  const choice = sum ? null : createChoice({ class: "sv-scale sv-options", label, options: options.map((value) =>
    ({ value, label: String(value), content: h("b", { text: value }) })), pick: (value) => { chosen = value; choice?.draw(value); } });
  choice?.draw(null);
  const form = formOf(said ? t("One more") : t("Attention check"), pass, { button: `${t("Go on")} `, value: () => (sum ? input.value : chosen), content: [
    h("p", { class: "cq-lead", text: said || t("A small task to check that people are still reading.") }),
    h("div", { class: "sv-task" }, h("p", { class: "sv-question", text: label, id: "sv-task" }), choice?.element ?? input)],
  more: back ? h("button", { class: "cq-btn", type: "button", text: t("Review"), onclick: back }) : null });
  form.element.classList.add("sv-check");
  if (!sum) {
    form.element.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const value = options.find((option) => String(option) === event.key);
      if (value !== undefined) choice?.draw(chosen = value);
    });
  }
  return { element: form.element, focus: () => (sum ? input : form.heading).focus({ preventScroll: true }) };
}

// The code that proves it, to be copied.
export function codeBox(/** @type {string} */ code) {
  const shown = h("output", { class: "sv-code", tabindex: 0, "aria-label": t("Completion code"), text: code });
  const button = h("button", { class: "cq-btn", type: "button", text: t("Copy"), onclick: () => copy(code, { shown }) });
  return h("div", { class: "sv-codebox" }, h("p", { class: "cq-label", text: t("Your completion code") }), h("div", { class: "cq-row" }, shown, button));
}

export const openGuidelines = (/** @type {Survey} */ page) => openSheet({ class: "sv-sheet" }, guide(page));

// What stands before the next question, and going past it.

// ``joined``: whether the person has a seat; if not, going past the first gate takes one.
// ``show(desk, {said})`` shows what comes next; ``back`` leads to the answer before.
/**
 * @param {{ name: string, joined: boolean, page: Survey, body: HTMLElement, show(desk: SurveyDesk, how?: { said: string }): void, others(): void, back(): void }} of
 */
export function createGates({ name, joined, page, body, show, others, back }) {
  const justShown = createGuard();

  /** @param {Gate} gate @param {unknown} answer @param {string} press its token */
  async function pass(gate, answer, press) {
    const { kind, number, attempt } = gate;
    try {
      if (!joined) await api("POST", "study/join", { study: name });
      joined = true;
      const done = await api("POST", "study/gate", { study: name, kind, token: press, ahead: AHEAD,
        ...(kind === "check" ? { number, attempt, answer } : kind === "consent" ? { answer } : {}) });
      show(done.desk, { said: done.passed ? "" : t("That was not correct. Take your time: here is another one.") });
      return "";
    } catch (problem) {
      if (!(problem instanceof ApiProblem) || problem.kind !== "incomplete") return messageOf(problem);
      const now = /** @type {SurveyDesk | null} */ (await api("GET", `study/at?study=${encodeURIComponent(name)}&ahead=${AHEAD}`).catch(() => null));
      if (!now || JSON.stringify(now.gate) === JSON.stringify(gate)) return problem.message;
      show(now); // passed in another window
      return "";
    }
  }

  return {
    /** @param {Gate} gate @param {boolean} some whether anything is answered @param {string} said what to say of an answer before */
    show(gate, some, said) {
      justShown.start();
      const press = { token: token(), answer: /** @type {unknown} */ (undefined) };
      /** @type {(answer?: unknown) => string | Promise<string>} */
      const passes = (answer) => {
        if (justShown.runs) return "";
        // Another answer is another press; the same again, where nobody answered, is the same one.
        if (press.answer !== answer) Object.assign(press, { token: token(), answer });
        return pass(gate, answer, press.token);
      };
      const pages = {
        guidelines: () => guidelinesPage(page, passes), consent: () => consentPage(gate.text ?? "", passes, others),
        check: () => checkPage(gate, passes, { said, back: some ? back : null }),
      };
      if (gate.kind === "finished") return;
      const there = pages[gate.kind]();
      body.replaceChildren(there.element);
      window.scrollTo(0, 0);
      there.focus();
      if (said) say(said);
    },
  };
}
