// One query: its reference and text, then its scored candidates, those with the highest confidence first.
import { createPicture } from "../strip.js";
import { GROUPS, confidence, placeOf, targetsAt } from "../words.js";
import { h, icon } from "../../shared/common.js";
import { enlarge } from "../../shared/pictures.js";
import { chip, count, plural } from "../../shared/words.js";

/**
 * @param {TargetedQuery} query
 * @param {import("../view.js").Open<TargetedQuery>} open
 * @returns {import("../view.js").Strip<TargetedQuery>}
 */
export function createQuery(query, open) {
  const { id, subset, reference, text, sentences, original, original_confidence, candidates, more, unscored, confidences } = query;
  const alone = original_confidence === null;    // the data set's own target was not scored
  const verdict = h("span", { class: "cq-be-verdict" }), cut = h("li", { class: "cq-be-cut" }, h("span", {}));
  const pictures = [{ image: reference, name: `Reference: ${reference.id}` },
    ...candidates.map((one) => ({ image: one.image, name: nameOf(one) })), ...(alone ? [{ image: original, name: `Original target: ${original.id}` }] : [])];
  const shown = pictures.filter(({ image }) => image.full).map(({ image, name }) => ({ name, large: image.full }));
  const picture = (/** @type {BenchmarkPicture} */ image, /** @type {string} */ name, /** @type {HTMLElement | null} */ said) => createPicture(image, name, said,
    () => enlarge(shown, shown.findIndex((one) => one.name === name)));
  const button = open && h("button", { class: "cq-btn small", type: "button", "aria-label": `Open in search: query ${id}`,
    onclick: () => { if (button) open(query, button); } }, icon("loupe"), "Open in search");

  const items = candidates.map((one) => {
    const mark = h("span", { class: "mark" }), said = h("span", { class: "sr" });
    const item = h("li", { class: `cq-be-candidate${one.original ? " original" : ""}` }, picture(one.image, nameOf(one), h("figcaption", {},
      h("span", { class: "sure" }, mark, h("b", { class: "num", text: confidence(one.confidence) }), said),
      one.original ? h("span", { class: "own", text: "original target" }) : null, one.reference ? h("span", { class: "own", text: "reference" }) : null,
      one.found.map((place) => h("small", { text: placeOf(place), title: `Rank ${count(place.rank)} among the results of the ${GROUPS[place.group] ?? place.group}; confidence there: ${confidence(place.confidence)}` })))));
    return { one, item, mark, said };
  });
  const lost = alone ? h("li", { class: "cq-be-candidate original" }, picture(original, `Original target: ${original.id}`,
    h("figcaption", {}, h("span", { class: "own", text: "original target" }), h("small", { text: "no confidence" })))) : null;
  const rest = [more ? `${plural(more, "more candidate")} with lower confidences` : "", unscored ? `${count(unscored)} found but not scored` : ""].filter(Boolean);
  const row = h("ol", { class: "cq-be-candidates", tabindex: "0", "aria-label": `Candidates of query ${id}` }, items.map(({ item }) => item), lost,
    rest.length ? h("li", { class: "cq-be-rest cq-quiet", text: rest.join(", ") }) : null);

  const element = h("li", { class: "cq-be-strip cq-be-query", tabindex: "-1", "data-key": query.key, "aria-label": `Query ${id}` },
    h("header", {}, h("div", { class: "cq-be-name" }, h("h3", { text: id, dir: "auto" }),
      h("small", { text: [subset, `${plural(confidences.length, "candidate")} scored`].filter(Boolean).join(" · ") })), verdict, button),
    h("div", { class: "cq-be-asked" }, picture(reference, `Reference: ${reference.id}`, h("figcaption", { text: "Reference" })),
      h("div", { class: "cq-be-said" }, h("p", { text: text || "(no text)", dir: "auto" }),
        sentences.map((sentence, place) => (sentence ? h("small", { dir: "auto" }, h("b", { text: place ? "Kept: " : "Change: " }), sentence) : null)))),
    row);
  function put(/** @type {TargetedQuery} */ _, /** @type {BenchmarkView} */ view) {
    const threshold = Number(view.threshold);
    const number = targetsAt(confidences, threshold), lowest = confidences[confidences.length - number];
    let targets = 0;
    for (const { one, item, mark, said } of items) {
      const target = one.confidence >= threshold;
      if (target) targets += 1;
      if (target === item.classList.contains("target")) continue;
      item.classList.toggle("target", target);
      mark.replaceChildren(...(target ? [icon("check")] : []));
      said.textContent = target ? " target" : "";
    }
    cut.firstElementChild?.replaceChildren(`below ${confidence(threshold)}`);
    const after = items[targets]?.item ?? null;
    if (!after) cut.remove();
    else if (cut.nextElementSibling !== after) after.before(cut);
    verdict.replaceChildren(number ? chip(plural(number, "target"), "on") : chip("No target", "warn"),
      h("small", { class: "num", text: [number ? `lowest confidence ${confidence(lowest)}` : "", alone ? "original target not scored"
        : original_confidence < threshold ? `original target at ${confidence(original_confidence)}` : ""].filter(Boolean).join(" · ") }));
  }
  return { element, put };
}

const nameOf = (/** @type {ScoredCandidate} */ { image, confidence: sure, original, found }) =>
  `${original ? "Original target" : "Candidate"}: ${image.id}, confidence ${confidence(sure)}, ${found.map(placeOf).join(", ")}`;
