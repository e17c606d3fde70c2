// Numbers and times of the studies screen, in words.
import { h } from "./elements.js";

export const count = (/** @type {number | string | null} */ number) => Number(number).toLocaleString("en");
/** "queries" of "query". @type {(one: string) => string} */
export const several = (one) => (/[^aeiou]y$/.test(one) ? `${one.slice(0, -1)}ies` : `${one}s`);
/** @type {(number: number, one: string, many?: string) => string} */
export const plural = (number, one, many = several(one)) => `${count(number)} ${number === 1 ? one : many}`;
// 100 only when all is done
/** @type {(part: number, whole: number) => number} */
export const percent = (part, whole) => (!whole ? 0 : part >= whole ? 100 : Math.min(99, Math.round((100 * part) / whole)));

export function lasting(/** @type {number | null | undefined} */ seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  const hours = Math.round(minutes / 6) / 10;
  return `${hours.toLocaleString("en")} h`;
}

export function ago(/** @type {string | null} */ time) {
  if (!time) return "–";
  const seconds = (Date.now() - new Date(time).getTime()) / 1000;
  if (seconds < 90) return "just now";
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

export const day = (/** @type {string} */ time) => new Date(time).toLocaleDateString("en", { year: "numeric", month: "short", day: "numeric" });

/** Done of total, with the unsure part told apart by its hatching. @param {number} done @param {number} unsure @param {number} total @param {string} label */
export function bar(done, unsure, total, label) {
  /** @type {(name: string, number: number) => HTMLElement | null} */
  const part = (name, number) => (number ? h("i", { class: name, style: `width:${(100 * number) / total}%` }) : null);
  return h("span", { class: "cq-stbar", role: "img", "aria-label": label },
    total ? [part("done", done - unsure), part("unsure", unsure)] : null);
}

export const chip = (/** @type {string} */ text, kind = "") => h("span", { class: `cq-chip ${kind}`, text });
