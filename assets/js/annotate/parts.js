// What every screen with items has: where one is, and the foot with the button that saves.
import { closer, dialog, h, icon, kbd, once, stay, tellIn } from "../shared/common.js";
import { t } from "../shared/language.js";

/** @param {{ keys: string[], step(by: number): void, discard(): void }} of ``keys``: of back and forward, as their buttons name them */
export function createWhere({ keys, step, discard }) {
  const number = h("span", { class: "st-number" });
  const state = h("span", { class: "st-state" });
  const draft = h("span", { class: "st-draft", hidden: true }, t("Draft restored"),
    h("button", { class: "st-link", type: "button", text: t("Discard"), onclick: discard }));
  /** @type {(name: "left" | "right", label: string, by: number, key: string) => HTMLElement} */
  const arrow = (name, label, by, key) => h("button", { class: "cq-icon", type: "button", "aria-label": label, title: `${label} (${key})`, onclick: () => step(by) }, icon(name));
  return {
    element: h("div", { class: "st-where" }, arrow("left", t("Back"), -1, keys[0]), number, arrow("right", t("Forward"), 1, keys[1]), state, draft),
    show(/** @type {{ name: string, revision: number, restored: boolean }} */ { name, revision, restored }) {
      number.textContent = name;
      state.textContent = revision ? (revision > 1 ? t("Answered · revision {revision}", { revision }) : t("Answered")) : "";
      draft.hidden = !restored;
    },
  };
}

/**
 * @param {{ save(): void, retry(): void, above?: HTMLElement | null, beside?: HTMLElement | null }} of ``above`` and ``beside``:
 * what stands above the button, and before it
 */
export function createFoot({ save, retry, above = null, beside = null }) {
  const words = h("span", {}, t("Save and continue"));
  const saves = h("button", { class: "cq-btn primary st-save", type: "button", onmousedown: stay,
    onclick: (event) => { if (event.detail <= 1) save(); } }, words, kbd("Enter"));
  const problem = h("p", { class: "cq-inline st-problem", role: "alert", hidden: true });
  const waiting = h("div", { class: "st-waiting", role: "status", hidden: true });
  let slow = 0;
  const say = (/** @type {string} */ text) => tellIn(problem, text);
  return {
    element: h("footer", { class: "st-foot" }, problem, waiting, above, h("div", { class: "st-buttons" }, beside, saves)),
    problem: say,
    show(/** @type {{ accepting: boolean }} */ { accepting }) {
      saves.classList.toggle("closed", !accepting); // pressed, it asks whether that is still so
      say(accepting ? "" : t("This study is closed: you can view it, but no longer answer."));
    },
    draw: (/** @type {boolean} */ unchanged) => { words.textContent = unchanged ? t("Go on") : t("Save and continue"); },
    sending(/** @type {{ state: string, text: string }} */ { state: now, text }) {
      clearTimeout(slow);
      saves.removeAttribute("aria-busy");
      if (now === "saving") slow = setTimeout(() => saves.setAttribute("aria-busy", "true"), 150);
      if (now === "saving" && !waiting.hidden) return; // another try: the sentence stays
      waiting.hidden = !text;
      waiting.replaceChildren(h("span", { text }),
        h("button", { class: "cq-btn small", type: "button", text: now === "signed-out" ? t("Sign in") : t("Try now"), onclick: retry }));
    },
  };
}

// Guidelines in a sheet at the side. d or Esc closes it.
/** @param {{ title?: string, class?: string, above?: Child }} of ``above``: between the title and the body @param {Child[]} content of the body */
export function openSheet({ title = t("Guidelines"), class: css = "", above = null }, ...content) {
  const body = h("div", { class: `st-sheetbody ${css}`, tabindex: 0 }, ...content);
  const sheet = dialog({ class: "cq-sheet", "aria-label": title }, h("header", {}, h("h2", { text: title }), closer()), above, body);
  sheet.addEventListener("keydown", (event) => {
    if (event.key !== "d" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    sheet.close();
  });
  once(sheet);
  body.focus({ preventScroll: true });
  return sheet;
}

/**
 * @template Value
 * @param {{ label: string, options: { value: Value, content: Child, label?: string }[], pick(value: Value): void, class?: string }} of
 * ``pick`` hears what is chosen
 * @returns {Choice}
 */
export function createChoice({ label, options, pick, ...props }) {
  const buttons = options.map(({ value, content, label: name }) => h("button", { type: "button", role: "radio", "aria-checked": "false",
    "aria-label": name, tabindex: -1, "data-value": value, onmousedown: stay, onclick: () => pick(value) }, content));
  const element = h("div", { role: "radiogroup", "aria-label": label, ...props }, buttons);

  element.addEventListener("keydown", (event) => {
    const at = buttons.findIndex((button) => button === document.activeElement);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const ways = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 });
    const step = ways[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const to = (at + step + buttons.length) % buttons.length;
    buttons[to].focus();
    pick(options[to].value);
  });

  return {
    element,
    draw(chosen, { disabled = false } = {}) {
      const at = options.findIndex(({ value }) => value === chosen);
      buttons.forEach((button, number) => {
        button.setAttribute("aria-checked", String(number === at));
        button.tabIndex = number === Math.max(0, at) ? 0 : -1;
        button.disabled = disabled;
      });
    },
  };
}
