// The keys of a screen as one table, from which both the list that "?" shows and the dispatch come.
import { canBind, isChanged, meant, pressedFor } from "./key-bindings.js";

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
