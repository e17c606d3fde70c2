// The texts of the screens of judges and participants in the language of a study. The English text is the key; the
// catalogues are assets/languages/*.json.
import { OWN } from "./elements.js";

/** @typedef {Record<string, string>} Catalogue */
let catalogue = /** @type {Catalogue} */ ({}), spoken = "en";
let patterns = /** @type {{ pattern: RegExp, names: string[], text: string }[] | null} */ (null);

/** As this language writes it. */
export const number = (/** @type {number} */ value) => value.toLocaleString(spoken);

const LEAST = 12; // characters beside the values: a shorter text would fit nearly anything
const HOLE = /\{(\w+)\}/g;
/** @type {(text: string, values: Record<string, unknown>) => string} */
const filled = (text, values) => text.replace(HOLE, (hole, name) => (!(name in values) ? hole
  : typeof values[name] === "number" ? number(values[name]) : String(values[name])));

/** From now on texts are those of ``texts``, numbers those of the language. @param {string} language @param {Catalogue} texts */
export function use(language, texts) {
  [catalogue, spoken, patterns] = [texts, language, null];
}

/** From now on the page speaks this language; English where its texts cannot be fetched. @param {string} [language] */
export async function speak(language = "en") {
  if (language === spoken) return;
  const texts = language === "en" ? {} : await fetch(new URL(`languages/${language}.json`, OWN))
    .then(async (answer) => (answer.ok ? (await answer.json()).texts : null)).catch(() => null);
  if (texts) use(language, texts);
  document.documentElement.lang = spoken;
}

/** An English text of the page, in its language; ``{name}`` becomes the value of that name. */
export const t = (/** @type {string} */ english, /** @type {Record<string, unknown>} */ values = {}) => filled(catalogue[english] ?? english, values);
/** One of two texts, by a number that they may name ``{number}``. @type {(number: number, one: string, many: string, values?: Record<string, unknown>) => string} */
export const tn = (number, one, many, values = {}) => t(number === 1 ? one : many, { number, ...values });

/** A sentence that the server has made, with its values in it. */
export function told(/** @type {string} */ sentence) {
  if (catalogue[sentence]) return catalogue[sentence];
  patterns ??= Object.entries(catalogue).flatMap(([english, text]) => {
    const names = [...english.matchAll(HOLE)].map(([, name]) => name);
    const parts = english.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return english.replace(HOLE, "").length > LEAST && names.length ? [{ pattern: new RegExp(`^${parts.join("(.*)")}$`, "s"), names, text }] : [];
  });
  for (const { pattern, names, text } of patterns) {
    const values = pattern.exec(sentence)?.slice(1);
    if (values) return filled(text, Object.fromEntries(names.map((name, place) => [name, values[place]])));
  }
  return sentence;
}
