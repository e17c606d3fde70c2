// What people are asked: cirque's own file, that of an earlier study, or one that is written here.
import { confirm, createDelay, api, field, h, messageOf, tellIn } from "../../shared/common.js";
import { giveText } from "../../shared/files.js";

const WAIT_MS = 400, MOST = 262144; // characters

/** The text that a study asks instead of cirque's; "" for cirque's. @type {(typed: DraftQuestions) => string} */
export const ownQuestions = ({ own, text }) => (own ? text : "");

/**
 * @param {NewKind} kind @param {DraftQuestions} typed is changed here
 * @param {{ draft(): string, changed(): void, checked(found: CheckedQuestions | null): void, preview: HTMLElement }} of ``checked`` hears what the server says of the file; null for cirque's
 */
export function questionsPart(kind, typed, { draft, changed, checked, preview }) {
  const typing = createDelay(WAIT_MS), state = h("p", { class: "cq-quiet", role: "status" });
  const fault = h("p", { class: "cq-inline", role: "alert", id: "cq-stfault", hidden: true });
  const jump = h("button", { class: "cq-btn small", type: "button", hidden: true, onclick: () => lead(line) });
  let asked = 0, line = 0, loaded = ""; // the text before anything was changed in it
  /** @type {HTMLSelectElement} */
  const choice = h("select", { onchange: () => choose(choice.value) }, h("option", { value: "", text: `cirque’s: ${kind.protocol}` }),
    kind.earlier.map(({ study, protocol }) => h("option", { value: `study:${study}`, text: `The file of ${study}: ${protocol}` })), h("option", { value: "own", text: "A file of your own" }));
  const text = h("textarea", { rows: 16, class: "cq-sttoml", value: typed.text, spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off", maxlength: MOST, dir: "ltr",
    "aria-label": "Questions, as TOML", "aria-describedby": fault.id, oninput: () => { put(text.value); typing.start(check); } });
  const input = h("input", { type: "file", class: "sr", accept: ".toml,.txt,text/plain", "aria-label": "A file of questions", onchange: () => { open(input.files?.[0]); input.value = ""; } });
  const editor = h("div", { ondragover: (event) => { event.preventDefault(); }, ondrop: (event) => { event.preventDefault(); open(event.dataTransfer?.files[0]); } }, text, h("div", { class: "cq-row" },
    h("button", { class: "cq-btn small", type: "button", text: "Open a file", onclick: () => input.click() }), input,
    h("button", { class: "cq-btn small", type: "button", text: "Download", onclick: () => { giveText(text.value, "questions.toml"); } })));

  function put(/** @type {string} */ now) {
    typed.text = now;
    changed();
  }
  // Nothing that somebody wrote goes without a question.
  async function replace(/** @type {string} */ now) {
    const lost = typed.text.trim() && typed.text !== loaded && typed.text !== now;
    if (lost && !await confirm("Replace your file?", "This replaces what you have written here. Download it first if you want to keep it.", "Replace")) return;
    [typed.own, loaded, text.value] = [true, now, now];
    put(now);
    await check();
  }
  async function choose(/** @type {string} */ from) {
    typed.own = from !== "";
    if (from.startsWith("study:")) await fetched(`study=${encodeURIComponent(from.slice(6))}`, (found) => found);
    else if (from && !typed.text.trim()) await fetched(`kind=${kind.kind}`, (found) => found.replace(/^protocol = .*$/m, 'protocol = "my-lab/1"'));
    else await check();
  }
  async function fetched(/** @type {string} */ query, /** @type {(found: string) => string} */ made) {
    try {
      await replace(made((await api("GET", `studies/new/questions?${query}`)).text));
    } catch (error) {
      say(messageOf(error));
    }
    draw();
  }
  async function open(/** @type {File | undefined} */ file) {
    if (!file) return;
    if (file.size > 4 * MOST) return say(`${file.name} is too large: a file of questions has at most ${MOST.toLocaleString("en")} characters.`);
    try {
      await replace(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
    } catch {
      say(`${file.name} cannot be read as UTF-8. Save it as UTF-8 and open it again.`);
    }
  }
  function say(/** @type {string} */ problem, at = 0) {
    line = at;
    tellIn(fault, problem);
    text.setAttribute("aria-invalid", String(Boolean(problem)));
    [jump.hidden, jump.textContent] = [!at, `Go to line ${at}`];
  }
  function lead(/** @type {number} */ to) {
    const lines = text.value.split("\n"), before = lines.slice(0, to - 1).reduce((sum, one) => sum + one.length + 1, 0);
    text.focus();
    text.setSelectionRange(before, before + (lines[to - 1] ?? "").length);
    text.scrollTo(0, Math.max(0, (to - 4) * (text.scrollHeight / lines.length)));
  }
  function draw() {
    choice.value = typed.own ? "own" : "";
    editor.hidden = !typed.own;
    if (!typed.own) say("");
  }
  async function check() {
    const mine = ++asked, own = ownQuestions(typed).trim();
    draw();
    changed();
    state.textContent = own || !typed.own ? "" : "This is empty, so people get cirque’s questions.";
    if (!own) {
      say("");
      return checked(null);
    }
    try {
      const found = await api("POST", "studies/new/check", { kind: kind.kind, text: typed.text, ...(draft() ? { draft: draft() } : {}) });
      if (mine !== asked) return;
      say(found.problem ?? "", found.line ?? 0);
      state.textContent = found.problem ? "" : `No faults in ${found.protocol}.`;
      checked(found);
    } catch (error) {
      if (mine === asked) say(messageOf(error)); // it is checked again when the study is created
    }
  }
  return { element: h("div", { class: "cq-stform" }, field("What people are asked", choice), editor, h("div", { class: "cq-row" }, fault, jump), state, h("div", { class: "cq-row" }, preview)), check, stop: typing.stop };
}
