// The texts of the screens of judges and participants in the language of a study. The English text is the key; the
// catalogues are assets/languages/*.json.
import { OWN } from "./elements.js";

/** @typedef {Record<string, string>} Catalogue */
let catalogue = /** @type {Catalogue} */ ({}), spoken = "en";
let withValues = /** @type {{ parts: string[], names: string[], text: string }[] | null} */ (null);

/** As this language writes it. */
export const number = (/** @type {number} */ value) => value.toLocaleString(spoken);

const PATIENCE_MS = 10000;
const LEAST = 12; // characters beside the values: a shorter text would fit nearly anything; as in web/ui/languages.py
const HOLE = /\{(\w+)\}/g;
/** @type {(text: string, values: Record<string, unknown>) => string} */
const filled = (text, values) => text.replace(HOLE, (hole, name) => (!(name in values) ? hole
  : typeof values[name] === "number" ? number(values[name]) : String(values[name])));

/** From now on texts are those of ``texts``, numbers those of the language. @param {string} language @param {Catalogue} texts */
export function use(language, texts) {
  [catalogue, spoken, withValues] = [texts, language, null];
}

/** From now on the page speaks this language; English where its texts cannot be fetched. @param {string} [language] */
export async function speak(language = "en") {
  if (language === spoken) return;
  const texts = language === "en" ? {} : await fetch(new URL(`languages/${language}.json`, OWN), { signal: AbortSignal.timeout(PATIENCE_MS) })
    .then(async (answer) => (answer.ok ? (await answer.json()).texts : null)).catch(() => null);
  if (texts) use(language, texts);
  document.documentElement.lang = spoken;
}

/** An English text of the page, in its language; ``{name}`` becomes the value of that name. */
export const t = (/** @type {string} */ english, /** @type {Record<string, unknown>} */ values = {}) => filled(catalogue[english] ?? english, values);
/** One of two texts, by a number that they may name ``{number}``. @type {(number: number, one: string, many: string, values?: Record<string, unknown>) => string} */
export const tn = (number, one, many, values = {}) => t(number === 1 ? one : many, { number, ...values });

/** A text with an element where ``{key}`` stands. @type {(text: string, element: HTMLElement) => Child[]} */
export const around = (text, element) => [text.split("{key}")[0], element, text.split("{key}")[1]];

/** A message that the server has made, with its values in it. @param {string} sentence @returns {string} */
export function told(sentence) {
  if (catalogue[sentence]) return catalogue[sentence];
  withValues ??= Object.entries(catalogue).map(([english, text]) => ({ text, parts: english.split(/\{\w+\}/), names: [...english.matchAll(HOLE)].map(([, name]) => name) }))
    .filter(({ parts, names }) => names.length && parts.join("").length > LEAST);
  for (const { parts, names, text } of withValues) {
    const values = valuesIn(sentence, parts);
    if (values) return filled(text, Object.fromEntries(names.map((name, place) => [name, values[place]])));
  }
  // Some messages are put together from sentences.
  const several = sentence.split(/(?<=[.!?]) /), found = several.length > 1 ? several.map(told) : [];
  return found.length && found.every((one, place) => one !== several[place]) ? found.join(" ") : sentence;
}

/** What stands between ``parts`` in the sentence, each as short as it can be, the last one the rest; null if it does not consist of them.
 * @param {string} sentence @param {string[]} parts @returns {string[] | null} */
function valuesIn(sentence, [first, ...rest]) {
  const last = rest.pop() ?? "", end = sentence.length - last.length, values = [];
  let at = first.length;
  if (!sentence.startsWith(first) || !sentence.endsWith(last)) return null;
  for (const part of rest) {
    const to = sentence.indexOf(part, at);
    if (to < 0) return null;
    values.push(sentence.slice(at, to));
    at = to + part.length;
  }
  return end < at ? null : [...values, sentence.slice(at, end)];
}
