// One of several, as buttons: nothing is chosen to begin with, and a click takes no focus, so the
// keys of the page go on working.
import { h, stay } from "../shared/common.js";

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
