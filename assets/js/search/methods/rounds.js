// Rounds of reflection: back to one of them, or rewrite what it asked for.
import { on } from "../../shared/common.js";
import { onDraw, soon } from "../actions.js";
import { $, $$ } from "../page.js";
import { edit } from "./editing.js";

// The reasoning of all rounds is read together.
on("toggle", ({ target }) => {
  if (!(target instanceof HTMLDetailsElement) || target.dataset.keep !== "reasons") return;
  for (const other of $$("details[data-keep=reasons]")) if (other.open !== target.open) other.open = target.open;
}, true);

const rewrite = (/** @type {HTMLElement} */ started) => edit(started, {
  find: () => $(`[data-rewrite="${started.dataset.rewrite}"]`),
  done: (text, element) => {
    if (!text) { element.textContent = element.dataset.text ?? ""; return; }
    soon("adjust", { rounds: Number(element.dataset.rewrite), rewritten: text });
  },
});

on("click", (event) => {
  const back = event.target.closest("[data-rounds]"), text = event.target.closest("[data-rewrite]");
  if (back) soon("adjust", { rounds: Number(back.dataset.rounds), rewritten: null });
  else if (text) rewrite(text);
});
on("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.isContentEditable) return;
  if (!event.target.matches?.("[data-rewrite]") || (event.key !== "Enter" && event.key !== "F2")) return;
  event.preventDefault();
  rewrite(event.target);
});

onDraw(() => {
  for (const text of $$("[data-rewrite]")) if (!text.isContentEditable && text.textContent !== text.dataset.text) text.textContent = text.dataset.text ?? "";
});
