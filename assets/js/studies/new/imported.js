// Judgements that were made elsewhere: their files come in, what they contain is shown, and they become a closed study.
import { api, at, field, h, keptInTab, messageOf, tellIn } from "../../shared/common.js";
import { plural } from "../../shared/words.js";
import { draftOf, fileBox } from "./files.js";
/** @import { Screen } from "../main.js" */

const KEPT = "cirque.import", LONG_MS = 3600000;

export async function importView(/** @type {Screen} */ screen) {
  const typed = { draft: "", name: "", ...keptInTab.read(KEPT, {}) };
  const keep = () => keptInTab.write(KEPT, typed);
  const { draft, during, ended, uploaded, drop } = draftOf(typed, keep);
  let asked = 0, there = false, making = false;
  const problem = h("p", { class: "cq-inline cq-stlines", role: "alert", hidden: true }), facts = h("p", { class: "cq-quiet cq-stlines", role: "status" });
  const name = h("input", { type: "text", maxlength: 80, value: typed.name, required: true, oninput: () => { typed.name = name.value; keep(); } });
  const endProblem = h("p", { class: "cq-inline cq-stlines", role: "alert", hidden: true });
  const imports = h("button", { class: "cq-btn primary", type: "button", text: "Import", disabled: true, onclick: make });
  const box = fileBox({ part: "judgements", label: "Files of judgements", many: true, accept: ".json", draft, during, changed: read,
    hint: "Annotator files of CIRCUS, one per person, or hpfiq.json of HP-FashionIQ." });
  const draw = () => { imports.disabled = !there || making; };

  async function read(/** @type {DraftFiles} */ files) {
    const mine = ++asked;
    there = false;
    draw();
    tellIn(problem, "");
    facts.textContent = files.judgements.length ? "Reading …" : "";
    if (!files.judgements.length) return;
    try {
      const found = await during(draft().then((it) => api("GET", `studies/new/judgements?draft=${it}`, undefined, { patience: LONG_MS })));
      if (mine !== asked) return;
      facts.textContent = [`${found.title} study: ${plural(found.judgements, "judgement")} of ${plural(found.items, found.one, found.many)} by ${plural(found.people, "person", "people")}.`, ...found.notes].join(" ");
      there = true;
    } catch (error) {
      if (mine !== asked) return;
      facts.textContent = "";
      tellIn(problem, messageOf(error));
    }
    draw();
  }
  async function make() {
    tellIn(endProblem, "");
    if (!typed.name.trim()) {
      name.focus();
      return tellIn(endProblem, "Give the study a name.");
    }
    making = true;
    draw();
    try {
      await ended(() => {});
      const made = await api("POST", "studies/new/import", { draft: await draft(), name: typed.name }, { patience: LONG_MS });
      keptInTab.write(KEPT, null);
      return screen.go(made.name);
    } catch (error) {
      tellIn(endProblem, messageOf(error));
    }
    making = false;
    draw();
  }
  const discard = async () => {
    await drop();
    keptInTab.write(KEPT, null);
    screen.go("");
  };

  const before = await uploaded(problem);
  if (before) {
    box.show(before);
    await read(before);
  }
  const step = (/** @type {string} */ title, /** @type {Child[]} */ ...parts) => h("section", { "aria-label": title }, h("h2", { text: title }), ...parts);
  const element = h("div", { class: "cq-stnew" },
    h("nav", { class: "cq-stcrumb", "aria-label": "Where" }, h("a", { href: at("studies"), text: "Studies", onclick: (event) => { event.preventDefault(); screen.go(""); } })),
    h("header", { class: "cq-sthead" }, h("h1", { text: "Import judgements" }), h("span", { class: "cq-grow" }), h("button", { class: "cq-btn small", type: "button", text: "Discard", onclick: discard })),
    h("p", { class: "cq-quiet", text: "Answers that were collected elsewhere become a closed study: for its results, its analysis and its exports. Pictures are not needed." }),
    step("Files", box.element, facts, problem),
    step("Import", h("div", { class: "cq-stform" }, field("Name of the study", name)), endProblem, h("div", { class: "cq-row" }, imports)));
  return { element, beat: async () => {} };
}
