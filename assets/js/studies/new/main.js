// A new study of a table, or of what the installation has: first items, design, guidelines; and only then it is opened.
import { api, at, createDelay, field, h, keptInTab, messageOf, tellIn } from "../../shared/common.js";
import { count, plural } from "../../shared/words.js";
import { columnFields, firstRows } from "./columns.js";
import { designPart, TABLE_ORDER } from "./design.js";
import { draftOf, fileBox } from "./files.js";
import { draftGuide, guideEditor } from "./guidelines.js";
import { openPreview } from "./preview.js";
import { ownQuestions, questionsPart } from "./questions.js";
/** @import { Screen } from "../main.js" */

const KEPT = "cirque.new-study", WAIT_MS = 300, LONG_MS = 3600000;
const TABLES = ".csv,.tsv,.txt,.xlsx,.xls,.ods,.json,.jsonl,.ndjson,.parquet", PICTURES = "image/*,.zip,.heic,.heif,.avif,.jfif";
/** @typedef {{ draft: string, name: string, kind: string, columns: Record<string, Record<string, string[]>>, source: string, sample: string, gallery: string, skip: boolean, design: Record<string, Record<string, number>>, questions: Record<string, DraftQuestions>, guidelines: string }} Typed */

export async function newView(/** @type {Screen} */ screen) {
  const { kinds, galleries, sources, most_mb: most } = await api("GET", "studies/new/choices");
  /** @type {Typed} */
  const typed = { draft: "", name: "", kind: "", columns: {}, source: "", sample: "", gallery: "", skip: false, design: {}, questions: {}, guidelines: "", ...keptInTab.read(KEPT, {}) };
  const keep = () => keptInTab.write(KEPT, typed);
  let table = /** @type {DraftTable | null} */ (null), look = /** @type {DraftLook | null} */ (null), asked = 0, pictures = 0, making = false;
  const soon = createDelay(WAIT_MS);
  const { draft, during, ended, uploaded, drop } = draftOf(typed, keep);
  const kindOf = () => kinds.find(({ kind }) => kind === typed.kind) ?? kinds[0];
  const source = () => sources.find(({ key }) => key === typed.source);

  // --- the table ------------------------------------------------------------------------------
  const tableProblem = h("p", { class: "cq-inline cq-stlines", role: "alert", hidden: true }), tableFacts = h("div", {}), columnPart = h("div", { class: "cq-stfields" });
  const about = h("p", { class: "cq-quiet" }), other = h("p", { class: "cq-inline", hidden: true });
  const kindChoice = h("select", { onchange: () => { typed.kind = kindChoice.value; drawKind(); } }, kinds.map(({ kind, title }) => h("option", { value: kind, text: title })));
  const tableBox = fileBox({ part: "table", label: "Table", accept: TABLES, draft, during, changed: ({ table: there }) => { if (there.length) readTable(true); else noTable(); },
    hint: "CSV, TSV, spreadsheet, JSON, JSON lines or Parquet; files of FashionIQ, CIRR, CIRCO, M-BEIR and CIRCUS are recognised." });
  const pictureBox = fileBox({ part: "pictures", label: "Pictures", many: true, folder: true, accept: PICTURES, draft, during, hint: `A ZIP, a folder, or several files; ${count(most)} MB in all.`,
    changed: ({ pictures: there }) => { pictures = there.length; check(); } });
  const gallery = h("select", { "aria-label": "Gallery with the pictures", onchange: () => { typed.gallery = gallery.value; keep(); drawSource(); check(); } },
    h("option", { value: "", text: "Uploaded pictures" }), galleries.map(({ name, size }) => h("option", { value: name, text: `Gallery ${name}, ${plural(size, "image")}`, selected: typed.gallery === name })));
  const skip = h("input", { type: "checkbox", onchange: () => { typed.skip = skip.checked; keep(); check(); } });
  skip.checked = typed.skip;
  const sourceChoice = h("select", { onchange: () => {
    typed.source = sourceChoice.value;
    const chosen = source();
    if (chosen) [typed.kind, typed.gallery] = [chosen.kind, chosen.gallery || typed.gallery || (galleries.length === 1 ? galleries[0].name : "")];
    drawSource();
    drawKind();
  } }, h("option", { value: "", text: "A table" }), sources.map(({ key, title }) => h("option", { value: key, text: title, selected: typed.source === key })));
  const sample = h("input", { type: "number", min: 1, inputmode: "numeric", value: typed.sample, placeholder: "All", oninput: () => { typed.sample = sample.value; keep(); check(); } });
  const ofTable = h("div", {}, tableBox.element, tableProblem, tableFacts), sampleField = field("Number of items", sample);
  const drawSource = () => {
    const chosen = Boolean(source());
    [ofTable.hidden, columnStep.hidden, about.hidden, sampleField.hidden, kindChoice.disabled] = [chosen, chosen, chosen, !chosen, chosen];
    gallery.options[0].disabled = chosen; // its images are in a gallery
    gallery.value = typed.gallery;
    pictureBox.element.hidden = chosen || Boolean(typed.gallery);
  };

  function noTable() {
    [table, look] = [null, null];
    tableFacts.replaceChildren();
    columnPart.replaceChildren();
    drawLook();
  }
  async function readTable(/** @type {boolean} */ fresh) {
    tellIn(tableProblem, "");
    try {
      const read = /** @type {DraftTable} */ (await during(draft().then((it) => api("GET", `studies/new/table?draft=${it}`, undefined, { patience: LONG_MS }))));
      table = read;
    } catch (error) {
      noTable();
      return tellIn(tableProblem, messageOf(error));
    }
    if (fresh) [typed.kind, typed.columns] = [table.kind ?? (typed.kind || kinds[0].kind), structuredClone(table.columns)];
    tableFacts.replaceChildren(h("p", { class: "cq-quiet", text: [`${table.file}: ${plural(table.rows, "row")}.`, ...table.notes].join(" ") }), firstRows(table));
    drawKind();
  }
  function drawKind() {
    const kind = kindOf();
    [typed.kind, kindChoice.value] = [kind.kind, kind.kind];
    about.textContent = kind.about;
    const proposed = !source() && table?.kind && table.kind !== kind.kind ? kinds.find((one) => one.kind === table?.kind) : null;
    tellIn(other, proposed && table ? `${table.file} looks like a table of another kind: ${proposed.title}. ${proposed.about}` : "");
    if (table) columnPart.replaceChildren(...columnFields(kind, table, typed.columns[kind.kind] ??= structuredClone(table.columns[kind.kind] ?? {}), () => { keep(); check(); }));
    design = designPart(kind, designOf(), keep, Boolean(source()));
    questions.stop();
    questions = questionsOf(kind, typed.questions[kind.kind] ??= { own: false, text: "" });
    designBox.replaceChildren(design.element, h("h3", { text: "Questions" }), questions.element);
    ofFile = null; // that of another kind
    questions.check();
    keep();
    check();
  }

  // --- the first items ------------------------------------------------------------------------
  const lookProblem = h("p", { class: "cq-inline cq-stlines", role: "alert", hidden: true }), facts = h("p", { class: "cq-quiet cq-stlines", role: "status" });
  const seen = () => { if (look?.desks.length) openPreview(kindOf().kind, ofFile?.page ? { ...look, page: ofFile.page } : look); };
  const show = h("button", { class: "cq-btn primary", type: "button", text: "See the first items as a judge", disabled: true, onclick: seen });
  const withThem = h("button", { class: "cq-btn", type: "button", text: "See the first items with these questions", disabled: true, onclick: seen });
  function drawLook() {
    for (const button of [show, withThem]) button.disabled = !look?.desks.length || Boolean(ofFile?.problem);
    for (const button of [open, closed]) button.disabled = !look || making || Boolean(ofFile?.problem);
    if (look) facts.textContent = [`${plural(look.items, kindOf().one, kindOf().many)}: ${Object.entries(look.counts).map(([group, number]) => `${group.replace(/^table::/, "")} ${count(number)}`).join(", ")}.`, ...look.notes].join(" ");
    if (look) design.show(look.items, look.forecast);
  }
  const check = () => {
    look = null;
    asked += 1;
    tellIn(lookProblem, "");
    const lacks = source() ? [] : kindOf().fields.filter(({ name: one, required, least }) => required && (typed.columns[typed.kind]?.[one] ?? []).length < least);
    const there = source() ? typed.gallery : pictures || typed.gallery;
    facts.textContent = !table && !source() ? "Choose a table first." : lacks.length ? `Assign these columns above: ${lacks.map(({ title }) => title.toLowerCase()).join(", ")}.`
      : !there ? source() ? "Choose the gallery with its images." : "Add its pictures, or choose a gallery." : "Reading …";
    drawLook();
    soon.stop();
    if ((table || source()) && !lacks.length && there) soon.start(reads);
  };
  function designOf() {
    const of = typed.design[typed.kind] ??= {};
    if (source() && of.order === TABLE_ORDER) delete of.order; // of tables only
    return of;
  }
  const asks = () => ({ kind: typed.kind, columns: typed.columns[typed.kind] ?? {}, gallery: typed.gallery, skip_missing: typed.skip, design: designOf(),
    ...(source() ? { source: typed.source, sample: typed.sample ? Number(typed.sample) : null } : {}) });
  async function reads() {
    const mine = ++asked;
    try {
      const found = await during(draft().then((it) => api("POST", "studies/new/look", { draft: it, ...asks() }, { patience: LONG_MS })));
      if (mine !== asked) return;
      look = found;
    } catch (error) {
      if (mine !== asked) return;
      tellIn(lookProblem, messageOf(error));
      facts.textContent = "";
    }
    drawLook();
  }

  // --- design, guidelines, and the study -------------------------------------------------------
  const designBox = h("div", {});
  let design = designPart(kindOf(), {}, keep), ofFile = /** @type {CheckedQuestions | null} */ (null);
  const questionsOf = (/** @type {NewKind} */ kind, /** @type {DraftQuestions} */ of) => questionsPart(kind, of, { draft: () => typed.draft, changed: keep, preview: withThem,
    checked: (found) => { ofFile = found; drawLook(); } });
  let questions = questionsOf(kindOf(), { own: false, text: "" });
  const guide = guideEditor({ value: typed.guidelines, changed: (text) => { typed.guidelines = text; keep(); }, read: (text) => during(draft().then((it) => draftGuide(it, text))) });
  const guideBox = fileBox({ part: "guidelines", label: "Pictures of the guidelines", many: true, accept: "image/*", draft, during, hint: "Write ![What it shows](name.jpg) where a picture belongs, here or in the appendix of your questions.", changed: () => { guide.draw(); questions.check(); } });
  const name = h("input", { type: "text", maxlength: 80, value: typed.name, required: true, oninput: () => { typed.name = name.value; keep(); } });
  const endProblem = h("p", { class: "cq-inline cq-stlines", role: "alert", hidden: true }), end = h("p", { class: "cq-quiet", role: "status" });
  const open = h("button", { class: "cq-btn primary", type: "button", text: "Open the study", disabled: true, onclick: () => make(true) });
  const closed = h("button", { class: "cq-btn", type: "button", text: "Create it closed", disabled: true, onclick: () => make(false) });
  async function make(/** @type {boolean} */ opens) {
    tellIn(endProblem, "");
    if (!typed.name.trim()) {
      name.focus();
      return tellIn(endProblem, "Give the study a name.");
    }
    making = true;
    drawLook();
    guide.stop();
    questions.stop();
    try {
      await ended(() => { end.textContent = "Waiting for uploads …"; });
      soon.stop();
      end.textContent = "Copying the pictures …";
      const made = await api("POST", "studies/new/create", { draft: await draft(), name: typed.name, guidelines: typed.guidelines, questions: ownQuestions(typed.questions[typed.kind]), open: opens, ...asks() }, { patience: LONG_MS });
      keptInTab.write(KEPT, null);
      screen.go(made.name, "invite");
    } catch (error) {
      tellIn(endProblem, messageOf(error));
      if (!look) check(); // more pictures came meanwhile
    }
    making = false;
    drawLook();
    end.textContent = "";
  }
  const discard = async () => {
    await drop();
    keptInTab.write(KEPT, null);
    screen.go("");
  };

  // --- begin -----------------------------------------------------------------------------------
  const before = await uploaded(tableProblem);
  if (before) {
    for (const box of [tableBox, pictureBox, guideBox]) box.show(before);
    pictures = before.pictures.length;
    if (before.table.length) await readTable(false);
  }
  const step = (/** @type {string} */ title, /** @type {Child[]} */ ...parts) => h("section", { "aria-label": title }, h("h2", { text: title }), ...parts);
  const columnStep = step("Columns", h("div", { class: "cq-stform" }, columnPart));
  drawSource();
  if (!table || source()) drawKind();
  guide.draw();
  const element = h("div", { class: "cq-stnew" },
    h("nav", { class: "cq-stcrumb", "aria-label": "Where" }, h("a", { href: at("studies"), text: "Studies", onclick: (event) => { event.preventDefault(); screen.go(""); } })),
    h("header", { class: "cq-sthead" }, h("h1", { text: "New study" }), h("span", { class: "cq-grow" }), h("button", { class: "cq-btn small", type: "button", text: "Discard", onclick: discard })),
    step("Source", h("div", { class: "cq-stform" }, field("What is judged", sourceChoice), sampleField), ofTable, h("div", { class: "cq-stform" }, field("Kind of study", kindChoice), about, other)),
    step("Pictures", h("div", { class: "cq-stform" }, field("Where they are", gallery)), pictureBox.element, h("label", { class: "cq-row" }, skip, "Skip items without a picture")),
    columnStep,
    step("First items", facts, lookProblem, h("div", { class: "cq-row" }, show)),
    step("Design", h("div", { class: "cq-stform" }, designBox)),
    step("Guidelines", h("p", { class: "cq-quiet", text: "In Markdown. People read them before they begin, and with the key d." }), h("div", { class: "cq-stform" }, guide.element), guideBox.element),
    step("Open", h("div", { class: "cq-stform" }, field("Name of the study", name)), endProblem, end, h("div", { class: "cq-row" }, open, closed)));
  return { element, beat: async () => {} };
}
