// Caption of the reference and query of the turn: edited in place, which ranks again.
import { on } from "../../shared/common.js";
import { onDraw, soon } from "../actions.js";
import { $, $$ } from "../page.js";
import { edit, isEditing } from "./editing.js";

let last = ""; // the text that was edited: the keyboard goes on from it
const rewrite = (/** @type {HTMLElement} */ started) => edit(started, {
  find: () => $(`[data-reword="${started.dataset.reword}"]`),
  done: (text, element) => {
    const name = element.dataset.reword ?? "";
    if (!text) { element.textContent = element.dataset.text ?? ""; return; }
    last = name;
    soon("reword", { [name]: text });
  },
});

on("click", ({ target }) => {
  const text = target.closest("[data-reword]");
  if (text) rewrite(text);
});
on("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.isContentEditable) return;
  if (!event.target.matches?.("[data-reword]") || (event.key !== "Enter" && event.key !== "F2")) return;
  event.preventDefault();
  rewrite(event.target);
});

onDraw(({ action }) => {
  for (const text of $$("[data-reword]")) if (!text.isContentEditable && text.textContent !== text.dataset.text) text.textContent = text.dataset.text ?? "";
  if (action === "reword" && last && !isEditing() && document.activeElement === document.body) $(`[data-reword="${last}"]`)?.focus({ preventScroll: true });
});
