// The keys of a screen as one table, from which both the list that "?" shows and the dispatch come.
import { h, kept } from "./elements.js";

/**
 * ``keys``: as ``event.key`` has them, with "Ctrl " and "Shift " before. ``shown``: in the list, two blanks between keys,
 * instead of ``keys``; without ``text`` the row is not listed. The first row counts that has the key and whose ``when`` holds.
 * @typedef {{ keys: string[], text?: string, shown?: string, does?: (key: string) => unknown, when?: () => boolean }} KeyRow
 */

/** What the list shows of each row, what it does, and those of its keys that can be changed.
 * @param {KeyRow[]} rows @returns {[string, string, string[]][]} */
export const listed = (rows) => rows.flatMap(({ keys, shown, text }) => (text ? [/** @type {[string, string, string[]]} */ ([
  isChanged(keys) ? keys.map(pressedFor).join("  ") : shown ?? keys.join("  "), text, keys.filter(canBind)])] : []));

/** By the key that is meant. @param {KeyboardEvent} event */
export function nameOf({ key: pressed, ctrlKey, metaKey, shiftKey }) {
  const control = ctrlKey || metaKey, letter = pressed.length === 1, key = control ? pressed : meant(pressed);
  return `${control ? "Ctrl " : ""}${shiftKey && (control || !letter) ? "Shift " : ""}${control && letter ? key.toLowerCase() : key}`;
}

/** @template {KeyRow} Row @param {Row[]} rows @param {KeyboardEvent} event @returns {Row | undefined} */
export const rowOf = (rows, event) => rows.find(({ keys, does, when }) => does && keys.includes(nameOf(event)) && (!when || when()));

// --- keys that somebody has changed in this browser ------------------------------------------

// Two keys change places, so that no key is lost and none means two things.
const KEPT = "cirque.keys";
/** @type {() => Record<string, string>} by the usual key, the one that is pressed */
const bound = () => kept.read(KEPT, {});

export const pressedFor = (/** @type {string} */ key) => bound()[key] ?? key;
export const meant = (/** @type {string} */ pressed) => Object.entries(bound()).find(([, now]) => now === pressed)?.[0] ?? pressed;
export const isChanged = (/** @type {string[]} */ keys) => keys.some((key) => key in bound());
// Letters, digits and signs; the others have the same use everywhere.
export const canBind = (/** @type {string} */ key) => key.length === 1 && key !== " " && key !== "?";

/** Have ``key`` done by ``pressed``; what that did is done by what ``key`` had. @param {string} key @param {string} pressed */
export function bind(key, pressed) {
  const other = meant(pressed), now = { ...bound(), [key]: pressed, [other]: pressedFor(key) };
  if (other === key) return;
  const changed = Object.entries(now).filter(([usual, of]) => usual !== of);
  kept.write(KEPT, changed.length ? Object.fromEntries(changed) : null);
}
/** Whether that changed anything. */
export const bindUsual = () => Object.keys(bound()).length > 0 && kept.write(KEPT, null);

// The key to press, as it stands on buttons.
export const kbd = (/** @type {string} */ text) => h("kbd", { text: pressedFor(text), "aria-hidden": "true" });
