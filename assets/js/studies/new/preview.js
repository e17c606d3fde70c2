// The first items on the screen that judges have, over the whole window, as theirs is. Nothing of it is saved.
import { closer, dialog, h, once } from "../../shared/common.js";
import { screenOf } from "../../annotate/kinds.js";

const nothing = () => {};

/** @param {Kind} kind @param {DraftLook} look @returns {Promise<{ element: HTMLElement, show(desk: DraftLook["desks"][number], number: number): void }>} */
async function lookOf(kind, { page }) {
  const module = await screenOf(kind);
  const screen = module.createScreen(page, { here: () => true, changed: () => screen.draw(false), save: nothing, step: nothing, map: nothing, discard: nothing,
    retry: nothing, leaving: () => false });
  return { element: screen.element, show({ item, study }, number) {
    if (!item) return;
    screen.begin(null, null, false);
    screen.open(item);
    screen.show({ name: `${study.one[0].toUpperCase()}${study.one.slice(1)} ${number + 1}`, revision: 0, restored: false, study });
    screen.draw(false);
  } };
}

/** @param {Kind} kind @param {DraftLook} look */
export async function openPreview(kind, look) {
  const { desks } = look, screen = await lookOf(kind, look);
  let number = 0;
  const where = h("b", {});
  const show = (/** @type {number} */ to) => {
    number = (to + desks.length) % desks.length;
    where.textContent = `As a judge sees it: ${number + 1} of the first ${desks.length}`;
    screen.show(desks[number], number);
  };
  const element = dialog({ class: "cq-stpreview", "aria-label": "As a judge sees it" },
    h("header", {}, where, h("span", { class: "cq-row" },
      h("button", { class: "cq-btn small", type: "button", text: "Before", disabled: desks.length < 2, onclick: () => show(number - 1) }),
      h("button", { class: "cq-btn small", type: "button", text: "Next", disabled: desks.length < 2, onclick: () => show(number + 1) }), closer())),
    h("div", { class: "cq-panel st-screen" }, screen.element));
  const closed = once(element);
  show(0);
  await closed;
}
