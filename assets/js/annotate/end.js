// What stands there when nothing is left to answer.
import { h } from "../shared/common.js";
import { several } from "../studies/words.js";

const MOST_NAMED = 12;

// ``back`` and ``others`` lead elsewhere; ``more`` asks for more and answers a sentence if there is none.
// ``one`` is what an item is called here, ``below`` stands under the figures.
// ``change``: what may still be done to the answers.
// ``changed``: [{item, name}] of changes that are not saved; ``go(item)`` leads to one of them.
/**
 * @param {Pick<Desk, "study" | "progress">} desk
 * @param {{ more(): Promise<string>, back(): void, others(): void, go(item: string): void, changed?: { item: string, name: string }[], one?: string, change?: string, below?: HTMLElement | null }} how
 */
export function endScreen({ study, progress }, { more, back, others, go, changed = [], one = "item", change = "go back and change an answer", below = null }) {
  const said = h("p", { class: "cq-quiet", role: "status" });
  const { done, total, unsure, median_seconds: pace } = progress;
  /** @type {(string | number)[][]} */
  const figures = [[done, `${done === 1 ? one : several(one)} answered`], unsure ? [unsure, "left to an adjudicator"] : [],
    pace === null ? [] : [`${Math.round(pace)} s`, "each, about"]].filter(({ length }) => length);
  const take = h("button", { class: "cq-btn primary", type: "button", text: "Get more", onclick: async () => {
    take.disabled = true;
    said.textContent = (await more()) || "";
    take.disabled = false;
  } });
  const title = h("h1", { tabindex: -1, text: total ? "That was the last one. Thank you." : "Nothing to annotate yet" });
  const element = h("section", { class: "st-page st-end" }, title,
    h("p", { class: "cq-lead", text: total
      ? `All your items are answered and saved. You can still ${study.accepting ? change : "look at your answers"}.`
      : `All ${several(one)} of this study are assigned to others. Ask for more below, or come back later.` }),
    total ? h("dl", { class: "st-figures" }, figures.map(([value, name]) => h("div", {}, h("dd", { text: value.toLocaleString("en") }), h("dt", { text: name })))) : null,
    unsaved(changed, go),
    below,
    h("div", { class: "cq-row" },
      study.accepting ? take : null,
      total ? h("button", { class: "cq-btn", type: "button", text: "Review", onclick: back }) : null,
      h("button", { class: "cq-btn", type: "button", text: "Other studies", onclick: others })), said);
  return { element, title };
}

function unsaved(/** @type {{ item: string, name: string }[]} */ changed, /** @type {(item: string) => void} */ go) {
  if (!changed.length) return null;
  const some = changed.slice(0, MOST_NAMED);
  return h("p", { class: "st-unsaved", role: "status" }, changed.length === 1 ? "1 change is not saved: " : `${changed.length.toLocaleString("en")} changes are not saved: `,
    some.map(({ item, name }, number) => [number ? ", " : "", h("button", { class: "st-link", type: "button", text: name, onclick: () => go(item) })]),
    changed.length > some.length ? " …" : ".");
}
