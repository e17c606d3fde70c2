// The form that starts a construction: what it will take comes first.
import { api, closer, dialog, field, h, messageOf, once, say, tellIn } from "../shared/common.js";
import { count, plural } from "../shared/words.js";

const ESTIMATE_MS = 300000;
const SAID = { caption: "captions", merge: "merged texts", difference: "differences" };

// Resolves when it is closed; ``started`` hears of a construction that has begun.
export async function startForm(/** @type {() => void} */ started) {
  const choices = await api("GET", "benchmarks/choices").catch((error) => messageOf(error));
  if (typeof choices === "string") return void once(dialog({ class: "cq-small", "aria-label": "Construct sessions" }, h("header", {}, h("h2", { text: "Construct sessions" }), closer()),
    h("p", { role: "alert", text: choices })));
  const { datasets, galleries, models, connected, priced, max_turns: turns } = choices;
  const name = h("input", { type: "text", maxlength: 80, required: true, autocomplete: "off", dir: "auto" });
  const dataset = h("select", {}, datasets.map((one) => h("option", { value: one.name, text: one.name })));
  const gallery = h("select", {}, galleries.map((one) => h("option", { value: one.name, text: `${one.name} (${count(one.size)} images)` })));
  const subsets = h("div", { class: "cq-row" });
  const limit = h("input", { type: "number", min: 1, step: 1, placeholder: "all" });
  const most = h("input", { type: "number", min: 1, max: 50, step: 1, value: turns });
  const model = h("select", {}, models.map((one) => h("option", { value: one, text: one === "settings" ? connected : "built-in" })));
  const budget = h("input", { type: "number", min: 0, step: "any", placeholder: "none" }), calls = h("input", { type: "number", min: 1, step: 1, placeholder: "none" });
  const paid = h("div", { class: "cq-be-pair" }, priced ? field("Budget", budget, "It stops at this cost") : null, field("Requests at most", calls, "It stops at this many requests"));
  const estimateBox = h("div", { class: "cq-be-estimate", "aria-live": "polite" }), problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const estimate = h("button", { class: "cq-btn", type: "button", text: "Estimate", onclick: () => {
    run(estimate, "Estimating…", async () => shown(await api("POST", "benchmarks/estimate", sent(), { patience: ESTIMATE_MS })));
  } });
  const start = h("button", { class: "cq-btn primary", type: "submit", text: "Start", disabled: true });

  const chosen = () => datasets.find((one) => one.name === dataset.value);
  const number = (/** @type {HTMLInputElement} */ input) => (input.value === "" ? null : Number(input.value));
  const sent = () => ({ name: name.value, dataset: dataset.value, gallery: gallery.value, model: model.value, limit: number(limit), max_turns: number(most),
    subsets: subsets.querySelector("input:not(:checked)") ? [...subsets.querySelectorAll("input:checked")].map((box) => /** @type {HTMLInputElement} */ (box).value) : [],
    ...(model.value === "settings" ? { budget: number(budget), max_calls: number(calls) } : {}) });

  function data() {
    const one = chosen();
    subsets.replaceChildren(...(one?.subsets ?? []).map((subset) => h("label", { class: "cq-be-check" }, h("input", { type: "checkbox", value: subset, checked: true }), subset)));
    tellIn(problem, one?.problem || (galleries.length ? "" : "There is no gallery yet. Index one first, for example with cirque demo."));
  }
  // What was estimated is for other values now.
  function outdated() {
    start.disabled = true;
    estimateBox.replaceChildren();
    paid.hidden = model.value !== "settings";
  }
  async function run(/** @type {HTMLButtonElement} */ button, /** @type {string} */ busy, /** @type {() => Promise<void>} */ work) {
    tellIn(problem, "");
    button.disabled = true;
    const label = button.textContent;
    button.textContent = busy;
    try {
      await work();
    } catch (error) {
      tellIn(problem, messageOf(error));
    } finally {
      button.textContent = label;
      button.disabled = false;
    }
  }
  async function shown(/** @type {ConstructionEstimate} */ { sessions, calls: requests, time, cost, basis, roles, notes, model: answers }) {
    estimateBox.replaceChildren(
      h("p", {}, h("b", { text: `${plural(sessions, "session")}, ${time}${cost === null ? "" : `, cost about ${cost.toFixed(2)}`}` })),
      h("p", { class: "cq-quiet", text: `${plural(Math.round(requests), "answer")} of ${answers}: ${roles.map((one) => `${count(Math.round(one.calls))} ${SAID[/** @type {keyof typeof SAID} */ (one.role)] ?? one.role}`).join(", ")}. Basis: ${basis}.` }),
      ...notes.map((note) => h("p", { class: "cq-quiet", text: note })));
    start.disabled = false;
    say("The estimate is ready");
  }

  const form = h("form", { class: "cq-be-form", onsubmit: (event) => {
    event.preventDefault();
    if (start.disabled) return;
    run(start, "Starting…", async () => {
      await api("POST", "benchmarks/start", sent());
      asks.close("started");
      started();
    });
  }, oninput: outdated, onchange: outdated },
  h("header", {}, h("h2", { text: "Construct sessions" }), closer()),
  h("p", { class: "cq-quiet", text: "Makes a session from each query of a data set, as in CIRCLED. It runs in the background of this server, and can be stopped and resumed." }),
  field("Name", name), h("div", { class: "cq-be-pair" }, field("Data set", dataset), field("Gallery", gallery)),
  h("fieldset", {}, h("legend", { text: "Subsets" }), subsets),
  h("div", { class: "cq-be-pair" }, field("Queries of each subset", limit), field("Turns at most", most)),
  field("Language model", model), paid, estimateBox, problem,
  h("div", { class: "cq-row" }, estimate, start));
  const asks = dialog({ class: "cq-be-dialog", "aria-label": "Construct sessions" }, form);
  dataset.addEventListener("change", data);
  data();
  outdated();
  const closed = once(asks);
  name.focus();
  return closed;
}
