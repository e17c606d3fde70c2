// The log screen: who did what, by person, kind and time; a page at a time, and as a file.
import { ApiProblem, api, at, field, h, openScreen, say, setKeys, tellIn, toast } from "../shared/common.js";
import { fileMenu } from "../shared/files.js";
import { detailsOf, groupInWords, inWords } from "./log-words.js";

const FIELDS = ["person", "kind", "since", "until"];
// As the filters and the files count: in UTC.
const MOMENT = new Intl.DateTimeFormat("en", { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
  hourCycle: "h23", timeZone: "UTC" });

setKeys([["?", "These keys"]]);

/** @typedef {Record<string, string | number>} Wanted what to show of the log, by the names of the fields */

/** @param {HTMLElement} element */
export const mount = (element) => openScreen(element, { page: "log", styles: ["study", "log"], css: "cq-lo" }, async (body) => {
  const query = new URL(window.location.href).searchParams;
  const wanted = Object.fromEntries(FIELDS.map((name) => [name, query.get(name) || ""]));
  // An address that asks for what cannot be still opens the page; the form says what is wrong with it.
  const first = await fetchActs(wanted).catch((error) => (error instanceof ApiProblem && error.status === 400 ? error : Promise.reject(error)));
  screen(body, wanted, first instanceof ApiProblem ? await fetchActs({}) : first, first instanceof ApiProblem ? first.message : "");
});

/** @param {Wanted} wanted */
const query = (wanted) => new URLSearchParams(Object.entries(wanted).map(([name, value]) => [name, String(value)]).filter(([, value]) => value !== "")).toString();
const fetchActs = (/** @type {Wanted} */ wanted) => api("GET", `log/acts?${query(wanted)}`);

/** @param {HTMLElement} body @param {Record<string, string>} wanted @param {Acts} first @param {string} problem */
function screen(body, wanted, first, problem) {
  const rows = h("tbody", {});
  const none = h("div", { class: "cq-none", hidden: true }, h("h2", { text: "No matching events" }), h("p", { text: "Try another person, all kinds, or a longer period." }));
  const table = h("div", { class: "cq-loscroll", tabindex: "0", role: "region", "aria-label": "Log" }, h("table", { class: "cq-lotable" },
    h("thead", {}, h("tr", {}, ["When (UTC)", "Who", "What", "About"].map((text) => h("th", { scope: "col", text })))), rows));
  const older = h("button", { class: "cq-btn", type: "button", text: "Older", onclick: () => { more(); } });
  const problemLine = h("p", { class: "cq-loproblem", role: "alert", text: problem, hidden: !problem });
  let shown = { ...wanted }, last = 0;

  async function more() {
    older.disabled = true;
    const answer = await ask({ ...shown, before: last });
    older.disabled = false;
    if (!answer) return older.focus();
    const [from] = draw(answer, false);
    (from ?? table).focus(); // the button goes with the last of them
  }

  async function show() {
    /** @type {Record<string, string>} */
    const now = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value.trim()]));
    const answer = await ask(now);
    if (!answer) return;
    shown = now;
    const address = new URL(window.location.href);
    for (const name of FIELDS) { if (now[name]) address.searchParams.set(name, now[name]); else address.searchParams.delete(name); }
    window.history.replaceState(null, "", address);
    draw(answer, true);
  }

  async function ask(/** @type {Wanted} */ of) {
    try {
      const answer = await fetchActs(of);
      tellIn(problemLine, "");
      return answer;
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      tellIn(problemLine, error.message);
      return null;
    }
  }

  function draw(/** @type {Acts} */ { acts, more: left }, /** @type {boolean} */ anew) {
    if (anew) rows.replaceChildren();
    const drawn = acts.map(row);
    rows.append(...drawn);
    last = acts.at(-1)?.number ?? last;
    older.hidden = !left;
    table.hidden = !rows.childElementCount;
    none.hidden = Boolean(rows.childElementCount);
    say(rows.childElementCount === 1 ? "1 act" : `${rows.childElementCount} events${left ? " and more" : ""}`);
    return drawn;
  }

  const choice = (/** @type {string} */ kind, /** @type {string} */ text) => h("option", { value: kind, text, selected: kind === shown.kind });
  const inputs = {
    person: h("input", { name: "person", maxlength: 64, autocomplete: "off", spellcheck: "false", dir: "auto", value: shown.person }),
    kind: h("select", { name: "kind" }, choice("", "Everything"), first.groups.map((group) => choice(group, groupInWords(group))), first.kinds.map((kind) => choice(kind, inWords(kind)))),
    since: h("input", { type: "date", name: "since", value: shown.since }),
    until: h("input", { type: "date", name: "until", value: shown.until }),
  };
  const form = h("form", { class: "cq-loform", role: "search", onsubmit: (event) => { event.preventDefault(); show(); } },
    field("Person", inputs.person), field("What", inputs.kind), field("From (UTC)", inputs.since), field("To (UTC)", inputs.until),
    h("button", { class: "cq-btn primary", text: "Show" }));
  /** @type {(kind: string, what: string) => { address(): string, what: string, kind: string }} */
  const file = (kind, what) => ({ address: () => at(`log/file?${query({ ...shown, form: kind })}`), what, kind: `.${kind}` });
  body.replaceChildren(
    h("header", { class: "cq-lohead" }, h("div", {}, h("h1", { text: "Log" }),
      h("p", { class: "cq-quiet", text: "Sign-ins, account changes and changes to studies. It contains no texts that people wrote, and entries disappear only when a backup is restored." })),
    fileMenu("Download", [file("csv", "A table"), file("jsonl", "JSON lines, one event per line")], toast)),
    form, problemLine, table, none, older);
  draw(first, true);
}

function row(/** @type {Act} */ { at: moment, kind, by, about, details }) {
  return h("tr", { tabindex: -1 },
    h("td", { class: "cq-lowhen" }, h("time", { datetime: moment, title: moment, text: MOMENT.format(new Date(moment)) })),
    h("td", { class: "cq-lowho" }, by ? h("b", { text: by, dir: "auto" }) : h("span", { class: "cq-quiet", text: "somebody" })),
    h("td", {}, inWords(kind)),
    h("td", { class: "cq-loabout" }, about ? h("span", { text: about, dir: "auto" }) : null, h("span", { class: "cq-quiet", text: detailsOf(details), dir: "auto" })));
}
