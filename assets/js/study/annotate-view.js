// The layout of an item: text and pictures with the found images below, the rubric beside them.
import { h, icon, kbd } from "./common.js";

export function createView({ rubric, form, pictures, panel, save, unsure, sheet, step, discard, retry }) {
  const title = h("h1", { class: "st-text", tabindex: -1, dir: "auto" });
  const number = h("span", { class: "st-number" });
  const state = h("span", { class: "st-state" });
  const draft = h("span", { class: "st-draft", hidden: true }, "Draft restored",
    h("button", { class: "st-link", type: "button", text: "Discard", onclick: discard }));
  const arrow = (name, label, by) => h("button", { class: "cq-icon", type: "button", "aria-label": label, title: `${label} (${by < 0 ? "←" : "→"})`, onclick: () => step(by) }, icon(name));
  const doubt = h("button", { class: "cq-btn st-unsure", type: "button", hidden: true, "aria-pressed": "false", onclick: unsure }, "Unsure", kbd("u"));
  const offer = h("p", { class: "cq-quiet st-offer", hidden: true, text: "Still open? You may leave it to an adjudicator." });
  const words = h("span", {}, "Save and go on");
  const saves = h("button", { class: "cq-btn primary st-save", type: "button", onmousedown: (event) => event.preventDefault(),
    onclick: (event) => event.detail > 1 || save() }, words, kbd("Enter"));
  const problem = h("p", { class: "cq-inline st-problem", role: "alert", hidden: true });
  const waiting = h("div", { class: "st-waiting", role: "status", hidden: true });
  const element = h("div", { class: "st-desk" },
    h("div", { class: "st-stage" },
      h("div", { class: "st-head" },
        h("div", { class: "st-where" }, arrow("left", "Back", -1), number, arrow("right", "Forward", 1), state, draft), title),
      pictures.element, panel.element),
    h("aside", { class: "st-side", "aria-label": "Rubric" },
      h("div", { class: "st-sidehead" }, h("h2", { class: "cq-label", text: "Is this a good query?" }),
        h("button", { class: "cq-tool", type: "button", onclick: sheet }, icon("book"), h("span", { text: "Definitions" }), kbd("d"))),
      h("div", { class: "st-scroll" }, form.element),
      h("footer", { class: "st-foot" }, problem, waiting, offer, h("div", { class: "st-buttons" }, doubt, saves))));
  let slow = 0;

  return {
    element,
    title,
    show({ item, number: which, revision, restored, study }) {
      title.textContent = item.text;
      title.classList.toggle("long", item.text.length > 90);
      number.textContent = `Item ${which}`;
      state.textContent = revision ? (revision > 1 ? `Answered · revision ${revision}` : "Answered") : "";
      draft.hidden = !restored;
      saves.disabled = !study.accepting;
      problem.hidden = study.accepting;
      problem.textContent = study.accepting ? "" : "This study is closed. You can look, but answers are no longer taken.";
      doubt.hidden = offer.hidden = true;
    },
    draw({ answer, unchanged }) {
      doubt.setAttribute("aria-pressed", String(answer.unsure));
      if (answer.unsure) doubt.hidden = false;
      words.textContent = unchanged ? "Go on" : "Save and go on";
    },
    late(yes) {
      if (!yes) return;
      offer.hidden = doubt.getAttribute("aria-pressed") === "true";
      doubt.hidden = false;
    },
    problem(text) {
      problem.textContent = text;
      problem.hidden = !text;
    },
    sending({ state: now, text }) {
      clearTimeout(slow);
      saves.removeAttribute("aria-busy");
      if (now === "saving") slow = setTimeout(() => saves.setAttribute("aria-busy", "true"), 150);
      if (now === "saving" && !waiting.hidden) return; // another try: the sentence stays
      waiting.hidden = !text;
      waiting.replaceChildren(h("span", { text }),
        h("button", { class: "cq-btn small", type: "button", text: now === "signed-out" ? "Sign in" : "Try now", onclick: retry }));
    },
  };
}
