// The keys of a screen as one table, from which both the list that "?" shows and the dispatch come.

/**
 * ``keys``: as ``event.key`` has them, with "Ctrl " and "Shift " before. ``shown``: in the list, two blanks between keys,
 * instead of ``keys``; without ``text`` the row is not listed. The first row counts that has the key and whose ``when`` holds.
 * @typedef {{ keys: string[], text?: string, shown?: string, does?: (key: string) => unknown, when?: () => boolean }} KeyRow
 */

/** @param {KeyRow[]} rows @returns {[string, string][]} */
export const listed = (rows) => rows.flatMap(({ keys, shown = keys.join("  "), text }) => (text ? [/** @type {[string, string]} */ ([shown, text])] : []));

/** @param {KeyboardEvent} event */
export function nameOf({ key, ctrlKey, metaKey, shiftKey }) {
  const control = ctrlKey || metaKey, letter = key.length === 1;
  return `${control ? "Ctrl " : ""}${shiftKey && (control || !letter) ? "Shift " : ""}${control && letter ? key.toLowerCase() : key}`;
}

/** @template {KeyRow} Row @param {Row[]} rows @param {KeyboardEvent} event @returns {Row | undefined} */
export const rowOf = (rows, event) => rows.find(({ keys, does, when }) => does && keys.includes(nameOf(event)) && (!when || when()));
