// What to look at: chips that are on or off, with how much there is of each. None on means all.
import { h, toggle } from "../shared/elements.js";
import { count } from "../shared/words.js";

const FEW = 14;

/** @template {string | number} Value @typedef {[value: Value, label: string, number: number | null]} Chip */
/**
 * @template {string | number} Value
 * @param {{ label: string, chosen(): Value[], change(values: Value[]): void, unit: string }} of ``chosen``: the values that are on; ``change`` hears of a
 * press
 * @returns {Part & { put(chips: Chip<Value>[]): void }}
 */
export function chipRow({ label, chosen, change, unit }) {
  const chips = h("div", { class: "cq-an-chips" });
  const element = h("div", { class: "cq-an-filter", role: "group", "aria-label": label, hidden: true }, h("span", { class: "cq-label", text: label }), chips);
  let known = "", all = false, options = /** @type {[...Chip<Value>, short: string][]} */ ([]);

  function draw() {
    const on = new Set(chosen());
    const shown = all || options.length <= FEW + 2 ? options : options.filter(([value], place) => place < FEW || on.has(value));
    const focus = element.contains(document.activeElement) ? document.activeElement?.getAttribute("data-value") ?? null : null;
    chips.replaceChildren(...shown.map(([value, name, number, short]) => {
      const chip = h("button", { type: "button", class: "cq-an-chip", "data-value": value, title: short === name ? null : name,
        "aria-label": short === name ? null : [name, number === null ? "" : count(number)].join(" ").trim(), onclick: () => {
        const now = new Set(chosen());
        if (!now.delete(value)) now.add(value);
        change([...now].sort());
        draw();
      } }, h("span", { text: short, dir: "auto" }), number === null ? null : h("small", { class: "num", text: count(number), title: `${count(number)} ${unit}` }));
      toggle(chip, on.has(value));
      return chip;
    }), ...(shown.length < options.length || all ? [h("button", { type: "button", class: "cq-an-chip more", "data-value": "more",
      text: all ? "Fewer" : `${count(options.length - shown.length)} more`, onclick: () => { all = !all; draw(); } })] : []));
    if (focus !== null) /** @type {HTMLElement[]} */ ([...chips.children]).find((it) => it.dataset.value === focus)?.focus({ preventScroll: true });
  }

  return {
    element,
    put(next) {
      const state = JSON.stringify([next, chosen()]);
      if (state === known) return;
      const short = shortened(next.map(([, name]) => name));
      known = state;
      options = next.map((option, place) => [...option, short[place]]);
      element.hidden = next.length < 2 && !chosen().length; // nothing to choose
      draw();
    },
  };
}

/** One of several, as buttons in a row. @param {{ label: string, options: string[][], value: string, change(value: string): void }} of */
export function choice({ label, options, value, change }) {
  const buttons = options.map(([of, name, title]) => h("button", { type: "button", text: name, title, "data-value": of,
    onclick: () => { mark(of); change(of); } }));
  const mark = (/** @type {string} */ now) => { for (const button of buttons) toggle(button, button.dataset.value === now); };
  mark(value);
  return { mark, element: h("div", { class: "cq-an-filter", role: "group", "aria-label": label },
    h("span", { class: "cq-label", text: label }), h("div", { class: "cq-adfilter" }, buttons)) };
}

// Long names, cut so that they stay apart: in the middle, or down to where those that look alike begin to differ.
const MOST = 26, TAIL = 10, LEAD = 4;

// One for each of ``names``, which are all different.
export function shortened(/** @type {string[]} */ names, most = MOST) {
  const letters = names.map((name) => [...name]);
  /** @param {string[]} of */
  const middle = (of) => (of.length <= most ? of.join("") : `${of.slice(0, most - TAIL - 1).join("")}…${of.slice(-TAIL).join("")}`);
  const short = letters.map(middle);
  for (const places of alike(short)) {
    const from = common(places.map((place) => letters[place]));
    for (const place of places) {
      const of = letters[place], begin = of.slice(0, LEAD).join(""), rest = of.slice(Math.max(LEAD, from - LEAD));
      short[place] = `${begin}…${rest.length > most - LEAD - 1 ? `${rest.slice(0, most - LEAD - 2).join("")}…` : rest.join("")}`;
    }
  }
  for (const places of alike(short)) places.forEach((place, number) => { short[place] += ` (${number + 1})`; });
  return short;
}

// Places of texts that are there more than once.
function alike(/** @type {string[]} */ texts) {
  const groups = /** @type {Map<string, number[]>} */ (new Map());
  texts.forEach((text, place) => groups.set(text, [...(groups.get(text) ?? []), place]));
  return [...groups.values()].filter((places) => places.length > 1);
}

// How many letters all begin with.
function common(/** @type {string[][]} */ words) {
  const [first] = words;
  const end = first.findIndex((letter, place) => words.some((word) => word[place] !== letter));
  return end === -1 ? first.length : end;
}
