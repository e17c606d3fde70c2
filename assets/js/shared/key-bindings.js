// Keys that somebody has changed in this browser: which one is pressed instead of another. Two keys change places, so that
// no key is lost and none means two things.
import { kept } from "./elements.js";

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
export const bindUsual = () => kept.write(KEPT, null);
