// Menus: <details class="cq-menu">, made by pages and templates alike. Esc, a click beside them and leaving by Tab close them.
import { on } from "./elements.js";

/** @type {(but: (menu: HTMLElement) => boolean) => HTMLDetailsElement[]} */
const closeAll = (but) => [...document.querySelectorAll("details.cq-menu[open]")].filter((menu) => !but(menu))
  .map((menu) => { menu.open = false; return menu; });

on("click", (event) => closeAll((menu) => menu.contains(event.target)));
on("focusout", ({ target, relatedTarget }) => {
  if (relatedTarget) closeAll((menu) => !menu.contains(target) || menu.contains(relatedTarget));
});
on("keydown", (event) => {
  if (event.key !== "Escape") return;
  const closed = closeAll(() => false);
  if (closed.length) event.preventDefault(); // it does nothing else
  closed.find((menu) => menu.contains(document.activeElement))?.querySelector("summary")?.focus();
});
