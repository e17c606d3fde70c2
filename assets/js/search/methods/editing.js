// Editing a text of the page where it stands. One at a time. A drawing may take the text away or
// write over it, so what is typed and the caret are kept here, and put back before the next key
// arrives.
import { on } from "../../shared/common.js";
import { $, $$ } from "../page.js";
import { onDraw, soon } from "../actions.js";

/**
 * @typedef Edit
 * @property {(now: HTMLElement) => HTMLElement | null | undefined} find where the text stands now, if it is anywhere
 * @property {(text: string, element: HTMLElement) => unknown} done is called with a changed text,
 * @property {(byKey: boolean, element: HTMLElement) => unknown} [gone] when it was left as it was
 */
/** @typedef {Required<Edit> & { element: HTMLElement, before: string, text: string, caret: [number, number] }} Editing */
let editing = /** @type {Editing | null} */ (null);
const intact = (/** @type {HTMLElement} */ element) => element.isConnected && element.isContentEditable && element.classList.contains("editing");
const release = (/** @type {HTMLElement} */ element) => {
  element.contentEditable = "false";
  element.classList.remove("editing");
};

export function edit(/** @type {HTMLElement} */ element, /** @type {Edit} */ { find, done, gone = () => {} }) {
  if (editing?.element === element) return;
  finishEdit(true);
  const text = element.textContent;
  editing = { element, find, done, gone, before: text, text, caret: [0, text.length] };
  hold(editing, element);
  drawings.observe($("#results") ?? document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["class", "contenteditable"] });
}
function hold(/** @type {Editing} */ editing, /** @type {HTMLElement} */ element) {
  if (element !== editing.element) release(editing.element);
  editing.element = element;
  element.contentEditable = "plaintext-only";
  if (!element.isContentEditable) element.contentEditable = "true";
  element.classList.add("editing");
  if (element.textContent !== editing.text) element.textContent = editing.text;
  const caret = editing.caret; // focusing moves it
  element.focus();
  editing.caret = caret;
  const node = element.firstChild;
  if (node instanceof Text) window.getSelection()?.setBaseAndExtent(node, Math.min(caret[0], node.length), node, Math.min(caret[1], node.length));
}
export function restoreEdit() {
  if (!editing) return;
  if (intact(editing.element) && document.activeElement === editing.element) return;
  const element = editing.find(editing.element);
  if (element) hold(editing, element);
  else {
    editing = null;
    drawings.disconnect();
  }
}
const drawings = new MutationObserver(restoreEdit);
export function finishEdit(/** @type {boolean} */ keep, byKey = false) {
  if (!editing) return;
  const { element, before, done, gone } = editing;
  editing = null;
  drawings.disconnect();
  release(element);
  const text = element.textContent.replace(/\s+/g, " ").trim();
  element.textContent = keep ? text : before;
  if (keep && text !== before) done(text, element);
  else gone(byKey, element);
  if (byKey) element.focus();
}
function follow() {
  if (!editing || !intact(editing.element)) return;
  const { element } = editing;
  editing.text = element.textContent;
  const selection = window.getSelection();
  if (!selection || !element.contains(selection.anchorNode)) return;
  const range = selection.getRangeAt(0);
  const before = range.cloneRange();
  before.selectNodeContents(element);
  before.setEnd(range.startContainer, range.startOffset);
  const start = before.toString().length;
  editing.caret = [start, start + range.toString().length];
}
on("input", follow, true);
on("selectionchange", follow);
on("keydown", (event) => {
  if (!editing) return;
  if (document.activeElement === document.body) restoreEdit();
  if (!editing || document.activeElement !== editing.element) return;
  event.stopPropagation();
  if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); finishEdit(true, true); }
  if (event.key === "Escape" && !event.isComposing) { event.preventDefault(); finishEdit(false, true); }
}, true);
// Not at "blur": a drawing that takes the text away blurs it too, and is no leaving.
on("pointerdown", (event) => { if (editing && !editing.element.contains(event.target)) finishEdit(true); }, true);
on("focusin", (event) => { if (editing && event.target !== editing.element) finishEdit(true); });

export const isEditing = () => Boolean(editing);

// Texts of a turn that are edited in place, which ranks again: caption of the reference, query, rewritten queries of
// reflection, whose rounds can be gone back to.
let last = ""; // the text that was edited: the keyboard goes on from it

// By the attribute that names a text.
const SEND = /** @type {Record<string, (name: string, text: string) => void>} */ ({
  reword(name, text) {
    last = name;
    soon("reword", { [name]: text });
  },
  rewrite: (round, text) => soon("adjust", { rounds: Number(round), rewritten: text }),
});
const ANY = "[data-reword], [data-rewrite]";

function rewrite(/** @type {HTMLElement} */ started) {
  const kind = "reword" in started.dataset ? "reword" : "rewrite", name = started.dataset[kind] ?? "";
  edit(started, {
    find: () => $(`[data-${kind}="${name}"]`),
    done: (text, element) => (text ? SEND[kind](name, text) : drawText(element)),
  });
}
function drawText(/** @type {HTMLElement} */ element) { element.textContent = element.dataset.text ?? ""; }

on("click", ({ target }) => {
  const back = target.closest("[data-rounds]"), text = target.closest(ANY);
  if (back) soon("adjust", { rounds: Number(back.dataset.rounds), rewritten: null });
  else if (text) rewrite(text);
});
on("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.isContentEditable) return;
  if (!event.target.matches?.(ANY) || (event.key !== "Enter" && event.key !== "F2")) return;
  event.preventDefault();
  rewrite(event.target);
});

// The reasoning of all rounds is read together.
on("toggle", ({ target }) => {
  if (!(target instanceof HTMLDetailsElement) || target.dataset.keep !== "reasons") return;
  for (const other of $$("details[data-keep=reasons]")) if (other.open !== target.open) other.open = target.open;
}, true);

onDraw(({ action }) => {
  for (const text of $$(ANY)) if (!text.isContentEditable && text.textContent !== text.dataset.text) drawText(text);
  if (action === "reword" && last && !isEditing() && document.activeElement === document.body) $(`[data-reword="${last}"]`)?.focus({ preventScroll: true });
});
