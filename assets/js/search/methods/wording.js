// Texts of a turn that are edited in place, which ranks again: caption of the reference, query, rewritten queries of
// reflection, whose rounds can be gone back to.
import { on } from "../../shared/common.js";
import { onDraw, soon } from "../actions.js";
import { $, $$ } from "../page.js";
import { edit, isEditing } from "./editing.js";

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
