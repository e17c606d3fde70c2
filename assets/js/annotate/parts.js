// What every screen with items has: where one is, and the foot with the button that saves.
import { h, icon, kbd, stay, tellIn } from "../shared/common.js";

/** @param {{ keys: string[], step(by: number): void, discard(): void }} of ``keys``: of back and forward, as their buttons name them */
export function createWhere({ keys, step, discard }) {
  const number = h("span", { class: "st-number" });
  const state = h("span", { class: "st-state" });
  const draft = h("span", { class: "st-draft", hidden: true }, "Draft restored",
    h("button", { class: "st-link", type: "button", text: "Discard", onclick: discard }));
  /** @type {(name: "left" | "right", label: string, by: number, key: string) => HTMLElement} */
  const arrow = (name, label, by, key) => h("button", { class: "cq-icon", type: "button", "aria-label": label, title: `${label} (${key})`, onclick: () => step(by) }, icon(name));
  return {
    element: h("div", { class: "st-where" }, arrow("left", "Back", -1, keys[0]), number, arrow("right", "Forward", 1, keys[1]), state, draft),
    show(/** @type {{ name: string, revision: number, restored: boolean }} */ { name, revision, restored }) {
      number.textContent = name;
      state.textContent = revision ? (revision > 1 ? `Answered · revision ${revision}` : "Answered") : "";
      draft.hidden = !restored;
    },
  };
}

/**
 * @param {{ save(): void, retry(): void, above?: HTMLElement | null, beside?: HTMLElement | null }} of ``above`` and ``beside``:
 * what stands above the button, and before it
 */
export function createFoot({ save, retry, above = null, beside = null }) {
  const words = h("span", {}, "Save and continue");
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
      say(accepting ? "" : "This study is closed: you can view it, but no longer answer.");
    },
    draw: (/** @type {boolean} */ unchanged) => { words.textContent = unchanged ? "Go on" : "Save and continue"; },
    sending(/** @type {{ state: string, text: string }} */ { state: now, text }) {
      clearTimeout(slow);
      saves.removeAttribute("aria-busy");
      if (now === "saving") slow = setTimeout(() => saves.setAttribute("aria-busy", "true"), 150);
      if (now === "saving" && !waiting.hidden) return; // another try: the sentence stays
      waiting.hidden = !text;
      waiting.replaceChildren(h("span", { text }),
        h("button", { class: "cq-btn small", type: "button", text: now === "signed-out" ? "Sign in" : "Try now", onclick: retry }));
    },
  };
}
