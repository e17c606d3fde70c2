// Training and gold of a study: made of adjudicated items in one step, and what happens below the mark.
import { h } from "../shared/common.js";
import { count, plural } from "../shared/words.js";
/** @import { Screen } from "./main.js" */

const BELOW = { nothing: "do nothing", train: "repeat the training once", end: "end the study for the person" };
const WIDTH = 72, HEIGHT = 18;

// The mean score so far after each gold item, as a line from 0 to 1.
/** @param {number[]} outcomes */
function running(outcomes) {
  let sum = 0;
  return outcomes.map((score, number) => { sum += score; return sum / (number + 1); });
}

export function goldCell(/** @type {PersonQuality} */ { gold, outcomes, name }) {
  if (gold === null) return h("td", { class: "num", text: "–" });
  const means = running(outcomes), step = WIDTH / Math.max(1, means.length - 1);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  for (const [key, value] of Object.entries({ width: WIDTH, height: HEIGHT, class: "cq-stgoldline", role: "img", "aria-label": `Score of ${name} over time: ${means.map((mean) => Math.round(100 * mean)).join(", ")} %` })) svg.setAttribute(key, String(value));
  line.setAttribute("points", (means.length > 1 ? means : [...means, ...means]).map((mean, place) => `${(place * (means.length > 1 ? step : WIDTH)).toFixed(1)},${(1 + (HEIGHT - 2) * (1 - mean)).toFixed(1)}`).join(" "));
  svg.append(line);
  return h("td", { class: "num cq-stgold" }, `${Math.round(100 * gold)} % of ${count(outcomes.length)} `, svg);
}

/** @param {Screen} screen @param {string} name @param {() => unknown} again */
export function goldPart(screen, name, again) {
  const field = (/** @type {string} */ label, /** @type {Props} */ props) => h("input", { type: "number", class: "cq-strule", "aria-label": label, ...props });
  const training = field("Items for training", { min: 0, step: 1, value: 0 }), reach = field("Training: % that must be correct", { min: 0, max: 100, step: 1 });
  const mark = field("Gold: lowest score in %", { min: 0, max: 100, step: 1 }), least = field("Answered gold items before it counts", { min: 1, step: 1 });
  const below = h("select", { "aria-label": "Below the mark" }, Object.entries(BELOW).map(([value, text]) => h("option", { value, text })));
  const whose = h("select", { "aria-label": "Known answers", onchange: () => names() });
  const state = h("p", { class: "cq-quiet", role: "status" });
  const care = () => ({ training_mark: Number(reach.value) / 100, mark: Number(mark.value) / 100, least: Number(least.value), below: below.value });
  const send = async (/** @type {object} */ more, /** @type {string} */ done) => { if (await screen.does("POST", "studies/gold", { study: name, care: care(), ...more }, done)) await again(); };
  const make = h("button", { class: "cq-btn small", type: "button", onclick: () => send({ training: Number(training.value), ...(whose.value && { person: whose.value }) }, "Made, and mixed into open work") });
  const keep = h("button", { class: "cq-btn small", type: "button", text: "Save the settings", onclick: () => send({ most: 0 }, "Saved") });
  let ready = 0;
  function names() {
    make.textContent = whose.value ? `Make gold of ${whose.value}’s answers` : `Make gold of ${plural(ready, "adjudicated item")}`;
    make.disabled = !whose.value && !ready;
  }
  const form = h("div", {}, h("ul", { class: "cq-strules" },
    h("li", {}, "Correct answers: adjudicators’ decisions, and", whose),
    h("li", {}, "Show", training, "of them first, as training with feedback."),
    h("li", {}, "Below", reach, "% correct, training is repeated once; then the study ends for the person."),
    h("li", {}, "With a gold score below", mark, "% after", least, "gold items:", below)), h("p", { class: "cq-row" }, make, keep));
  let filled = false;
  return {
    element: h("div", {}, h("h3", { text: "Training and gold" }), state, form),
    draw(/** @type {Quality} */ { gold, care: set, people }) {
      form.hidden = !screen.may("manage");
      ready = gold.ready;
      const { value } = whose;
      whose.replaceChildren(h("option", { value: "", text: "nobody’s answers" }), ...people.filter(({ answers }) => answers).map((it) => h("option", { value: it.name, text: `${it.name}’s answers` })));
      whose.value = people.some((it) => it.name === value && it.answers) ? value : "";
      names();
      state.textContent = [gold.gold || gold.training ? `${plural(gold.gold, "gold item")}, ${plural(gold.training, "item")} for training.` : "None yet. Gold items have a known correct answer, and look like all others.",
        gold.ended.length ? `The study has ended for ${gold.ended.join(", ")}.` : ""].filter(Boolean).join(" ");
      if (filled) return;
      filled = true;
      [reach.value, mark.value, least.value, below.value] = [Math.round(100 * set.training_mark), Math.round(100 * set.mark), set.least, set.below].map(String);
    },
  };
}
