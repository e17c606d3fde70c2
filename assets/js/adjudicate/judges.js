// All judgements of one item side by side, without names.
import { at, h, kbd, stay } from "../shared/common.js";
import { lasting } from "../studies/words.js";

// "A" of "Judge A".
export const letterOf = (/** @type {Judgement} */ judgement) => judgement.label.split(" ").at(-1) ?? "";

/** @typedef {(judgement: Judgement) => void} Take */
/** @typedef {(letter: string) => boolean} Direct whether a letter takes that judge's answer without Shift */

/** @type {(rubric: Rubric, found: OpenCase, take: Take, direct: Direct) => HTMLElement} */
export function judgesPart(rubric, { judgements, item, judged_by_you: own }, take, direct) {
  const categories = /** @type {Category[]} */ ([...rubric.flags, rubric.valid]);
  return h("section", { class: "cq-adjudges", "aria-label": "Judgements" },
    h("div", { class: "cq-sttitle" }, h("h2", { text: judgements.length === 1 ? "One judgement" : `${judgements.length} judgements` }),
      own ? h("p", { class: "cq-quiet", text: "One of them is your own." }) : null),
    h("div", { class: "cq-adcards" }, judgements.map((judgement) => card(rubric, categories, judgement, item, take, direct))));
}

/** @type {(rubric: Rubric, categories: Category[], judgement: Judgement, item: { panel: Picture[] }, take: Take, direct: Direct) => HTMLElement} */
function card(rubric, categories, judgement, item, take, direct) {
  const { answer, label, seconds } = judgement, letter = letterOf(judgement);
  const hint = kbd(direct(letter) ? letter : `⇧${letter}`);
  hint.dataset.letter = letter;
  const verdict = answer.unsure ? h("p", { class: "cq-adv unsure", text: "Unsure" })
    : answer.validated ? h("p", { class: "cq-adv valid", text: rubric.valid.name })
      : answer.flags.length ? null
        : h("p", { class: "cq-adv", text: answer.validated === false ? "Not valid, no flags" : "No verdict" });
  const flags = categories.filter(({ code }) => answer.flags.includes(code)).toSorted((a, b) => (a.severity ?? 0) - (b.severity ?? 0));
  return h("article", { class: "cq-adcard", "aria-label": label },
    h("header", {}, h("h3", { text: label }), h("small", { class: "num", text: seconds ? lasting(seconds) : "" })),
    verdict,
    flags.length ? h("ul", { class: answer.unsure ? "cq-adset hint" : "cq-adset" }, flags.map((flag) => h("li", {}, h("b", { text: flag.name }),
      (flag.reasons || []).filter(({ code }) => answer.reasons.includes(code)).map(({ name }) => h("span", { text: name }))))) : null,
    answer.note ? h("blockquote", { text: answer.note, dir: "auto" }) : null,
    answer.alternatives?.length ? h("p", { class: "cq-quiet",
      text: `${answer.alternatives.length} of ${item.panel.length} others marked as equally good` }) : null,
    answer.unsure && !answer.flags.length ? null
      : h("button", { class: "cq-btn small", type: "button", onmousedown: stay, onclick: () => take(judgement) }, `Take ${letter}’s answer`, hint));
}

// The panel with what judges marked in it; one's own marks can be set too.
/** @param {OpenCase} found @param {() => string[]} marked @param {(token: string) => void} mark @param {() => void} opened */
export function panelPart({ item, judgements }, marked, mark, opened) {
  if (!item.panel?.length) return null;
  const tiles = item.panel.map((image, place) => {
    const by = judgements.filter(({ answer }) => answer.alternatives?.includes(image.token)).map(letterOf);
    const name = `Image ${place + 1}${by.length ? `, marked by ${by.join(", ")}` : ""}`;
    const tile = h("button", { class: "cq-adtile", type: "button", title: name, "aria-label": name, "data-image": image.token,
      "aria-pressed": String(marked().includes(image.token)), onmousedown: stay, onclick: () => mark(image.token) },
    image.missing ? h("span", { class: "cq-adgone", text: "unavailable" })
      : h("img", { src: at(image.small), alt: "", loading: "lazy", width: image.width, height: image.height }),
    by.length ? h("em", { text: by.join(" "), "aria-hidden": "true" }) : null);
    return tile;
  });
  const grid = h("div", { class: "cq-adpanel", role: "group", "aria-label": "Other images" }, tiles);
  const fold = h("details", { class: "cq-adfold", ontoggle: () => { if (fold.open) opened(); } },
    h("summary", {}, `Retrieved images (${item.panel.length})`, kbd("P")), grid);
  return {
    element: fold,
    draw: () => { for (const tile of tiles) tile.setAttribute("aria-pressed", String(marked().includes(tile.dataset.image ?? ""))); },
    toggle: () => { fold.open = !fold.open; },
  };
}
