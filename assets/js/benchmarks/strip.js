// One session as a strip: picture, words, picture, words, …, target.
import { rankPlot } from "./plot.js";
import { STAGES, decimals } from "./words.js";
import { at, h, icon } from "../shared/common.js";
import { enlarge } from "../shared/pictures.js";
import { chip, count, plural } from "../shared/words.js";

/** One picture; an image that is gone is a box with its id. @param {BenchmarkPicture} image @param {string} name @param {HTMLElement | null} said @param {() => void} open */
export function createPicture(image, name, said, open) {
  if (!image.thumb) return h("figure", { class: "cq-be-picture missing" }, h("div", { title: "This image is not in the gallery", text: image.id, dir: "auto" }), said);
  return h("figure", { class: "cq-be-picture" },
    h("button", { type: "button", "aria-label": `${name}: enlarge`, onclick: open },
      h("img", { src: at(image.thumb), alt: "", loading: "lazy", decoding: "async", width: 112, height: 140 })), said);
}

const rankText = (/** @type {number | null} */ rank) => (rank === null ? "not ranked" : `rank ${count(rank)}`);

/**
 * @param {BenchmarkSession} session
 * @param {{ open: import("./view.js").Open<BenchmarkSession>, dimensions: string[], k: number }} of
 * @returns {import("./view.js").Strip<BenchmarkSession>}
 */
export function createStrip(session, { open, dimensions, k }) {
  const { id, subset, turns, targets, scores } = session;
  const verdict = h("span", { class: "cq-be-verdict" });
  const pictures = [...turns.map(({ image }, turn) => ({ image, name: `Turn ${turn + 1}: ${image.id}` })),
    ...targets.map((image) => ({ image, name: `Target: ${image.id}` }))];
  const shown = pictures.filter(({ image }) => image.full).map(({ image, name }) => ({ name, large: image.full }));
  const button = open && h("button", { class: "cq-btn small", type: "button", "aria-label": `Open in search: session ${id}`,
    onclick: () => { if (button) open(session, button); } }, icon("loupe"), "Open in search");

  const last = turns.at(-1)?.rank ?? null, found = last !== null && last <= k;
  const steps = turns.map(({ image, text, rank, similarity, similar }, turn) => h("li", { class: "cq-be-step" },
    picture(image, `Turn ${turn + 1}: ${image.id}`, turn ? "" : "Reference"),
    h("div", { class: "cq-be-said" },
      h("p", { text: text || "(no text)", dir: "auto" }),
      h("small", { class: rank !== null && rank <= k ? "hit" : "" }, rank !== null && rank <= k ? icon("check") : null, rankText(rank)),
      similarity === null ? null : h("small", { text: `cosine ${decimals(similarity, 2)} with turn ${similar}` }))));
  const ends = h("li", { class: `cq-be-step target${found ? " found" : ""}` },
    targets.map((image, place) => picture(image, `Target: ${image.id}`, place ? "" : targets.length > 1 ? "Targets" : "Target")));

  function picture(/** @type {BenchmarkPicture} */ image, /** @type {string} */ name, /** @type {string} */ label) {
    return createPicture(image, name, label ? h("figcaption", { text: label }) : null, () => enlarge(shown, shown.findIndex((one) => one.name === name)));
  }

  const element = h("li", { class: "cq-be-strip", tabindex: "-1", "data-key": session.key, "aria-label": `Session ${id}` },
    h("header", {},
      h("div", { class: "cq-be-name" }, h("h3", { text: id, dir: "auto" }),
        h("small", { text: [subset, plural(turns.length, "turn")].filter(Boolean).join(" · ") })),
      verdict, rankPlot(turns.map(({ rank }) => rank), k), button),
    h("ol", { class: "cq-be-steps", tabindex: "0", "aria-label": `Turns of session ${id}` }, steps, ends),
    scores && h("dl", { class: "cq-be-scores" }, dimensions.map((name) => h("div", {}, h("dt", { text: name === "redundancy" ? "low redundancy" : name }), h("dd", { text: scores.of[name] }))),
      h("div", { class: "why" }, h("dt", { class: "sr", text: "reason" }), h("dd", { text: scores.reason, dir: "auto" }))));
  const put = (/** @type {BenchmarkSession} */ { dropped }) => {
    element.classList.toggle("dropped", Boolean(dropped));
    verdict.replaceChildren(dropped ? chip(`Dropped: ${(STAGES[dropped.stage] ?? dropped.stage).toLowerCase()}`, "warn") : chip("Kept", "on"),
      h("small", { text: dropped ? dropped.why : "", dir: "auto" }));
  };
  return { element, put };
}
