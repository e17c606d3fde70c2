// Participants of a study without accounts: its link and settings, a test run, who came, and their payment.
import { api, askText, at, confirm, copy, field, h, messageOf, tellIn, toast } from "../shared/common.js";
import { fileMenu } from "../shared/files.js";
import { questionLines, questionsOf, quotaLines, quotasOf } from "./screening.js";
import { chip, count, plural } from "../shared/words.js";
import { webhookPart } from "./webhook.js";

/** @type {Record<RecruitingEnd, string>} */
const ENDS = { complete: "Completed", screened_out: "Screened out", over_quota: "Over quota", below_mark: "Below the mark" };
/** @type {Record<ParticipantRow["state"], string>} */
const STATES = { new: "not begun", in: "at work", expired: "away too long", finished: "finished", ended: "below the mark", "screened-out": "screened out", "over-quota": "over quota" };
const FILES = [["table", "Everything", "CSV"], ["ids", "Approved ids, for Prolific and CloudResearch", "CSV"], ["mturk", "Decided assignments, for MTurk", "CSV"]];

/** The section of a study's page. @param {string} name @param {string} query */
export function participantsPart(name, query) {
  const body = h("div", {}), chosen = /** @type {Set<string>} */ (new Set());
  const element = h("section", { class: "cq-stpart-recruit", "aria-label": "Participants" },
    h("div", { class: "cq-sttitle" }, h("h2", { text: "Participants without accounts" })), body);
  let known = /** @type {Recruiting | null} */ (null);

  /** @type {<Path extends "studies/recruit" | "studies/pay" | "studies/test" | "studies/test-end" | "studies/webhook-test" | "studies/webhook-again">(path: Path, sent: object, done?: string) => Promise<AnswerOf<Path> | null>} */
  async function does(path, sent, done = "") {
    try {
      const answer = await api("POST", path, { study: name, ...sent });
      if (done) toast(done);
      return answer;
    } catch (error) {
      toast(messageOf(error));
      return null;
    }
  }
  /** What was saved last, also by another part of the page. */
  const current = () => /** @type {Recruiting} */ (known).settings;
  const kept = (/** @type {Recruiting | null} */ answer) => answer && (known = answer);
  const took = (/** @type {Recruiting | null} */ answer) => {
    if (!answer) return false;
    known = answer;
    draw();
    return true;
  };

  async function test() {
    const answer = await does("studies/test", {});
    if (!answer) return;
    const address = new URL(at(answer.path));
    address.searchParams.set("participantId", "test");
    if (!window.open(address, "_blank", "noopener")) toast("The test run opens in a new tab.");
  }

  function linkRow(/** @type {Recruiting} */ { path, settings, accepting }) {
    if (!path) {
      return [h("p", { class: "cq-lead", text: "A link for Prolific, MTurk, CloudResearch or any other site: people come with the id that the site gives them, without an account or a password, and see only this study." }),
        h("div", { class: "cq-row" }, h("button", { class: "cq-btn primary", type: "button", text: "Make a link", onclick: async () => took(await does("studies/recruit", { settings })) }))];
    }
    const address = at(path);
    const lets = settings.open && accepting;
    return [h("div", { class: "cq-row cq-stlink" }, chip(lets ? "Lets people in" : "Lets nobody in", lets ? "on" : ""),
      h("code", { text: address }), h("button", { class: "cq-btn small", type: "button", text: "Copy", "aria-label": "Copy the link", onclick: () => copy(address) }),
      h("button", { class: "cq-btn small", type: "button", text: settings.open ? "Pause" : "Let people in",
        onclick: async () => took(await does("studies/recruit", { settings: { ...current(), open: !settings.open } }, settings.open ? "Paused: no new participants" : "The link lets people in")) }),
      h("button", { class: "cq-btn small", type: "button", text: "Test as a participant", onclick: test })),
    h("p", { class: "cq-quiet", text: `The site adds its parameters: PROLIFIC_PID, workerId, participantId${settings.parameter ? `, or ${settings.parameter}` : ""}. A test run leaves nothing behind.${accepting ? "" : " The study is closed: open it to let people in."}` })];
  }

  function form(/** @type {Recruiting} */ { settings, planned, idle_minutes: idle }) {
    const text = (/** @type {string} */ value, props = {}) => h("input", { type: "text", value, ...props });
    const long = (/** @type {string} */ value, rows = 3, hint = "") => h("textarea", { rows, value, placeholder: hint });
    const number = (/** @type {number} */ value, hint = "") => h("input", { type: "number", min: 0, value: value || "", placeholder: hint });
    const title = text(settings.title, { maxlength: 300, placeholder: "the study’s name" }), parameter = text(settings.parameter, { placeholder: "of Prolific, MTurk, CloudResearch" });
    const people = number(settings.people, `${planned}, as planned`), minutes = number(settings.minutes, String(idle));
    const consent = long(settings.consent, 5), questions = long(questionLines(settings.questions), 3, "age: How old are you? | under 18 | *18 or older");
    const quotas = long(quotaLines(settings.quotas), 2, "age = 18 or older: 20");
    const given = h("textarea", { rows: 2, "aria-label": "Accounts that see the study", placeholder: "names, one per line; empty: nobody", value: (settings.accounts ?? []).join("\n") }), some = h("input", { type: "checkbox", onchange: () => { given.disabled = !some.checked; } });
    some.checked = settings.accounts !== null;
    given.disabled = !some.checked;
    const ends = /** @type {RecruitingEnd[]} */ (Object.keys(ENDS)).map((end) => {
      const { text: said, code, url } = settings[end];
      return { end, said: long(said, 2, "default text"), code: text(code, { maxlength: 60, placeholder: end === "complete" ? "one for each person" : "none" }), url: text(url, { placeholder: "https://…", inputmode: "url" }) };
    });
    const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
    const element = h("form", { class: "cq-stform", onsubmit: async (event) => {
      event.preventDefault();
      tellIn(problem, "");
      try {
        const sent = { ...current(), title: title.value.trim(), parameter: parameter.value.trim(), people: Number(people.value), minutes: Number(minutes.value), consent: consent.value.trim(),
          accounts: some.checked ? given.value.split("\n").map((line) => line.trim()).filter(Boolean) : null, questions: questionsOf(questions.value), quotas: quotasOf(quotas.value),
          ...Object.fromEntries(ends.map(({ end, said, code, url }) => [end, { text: said.value.trim(), code: code.value.trim(), url: url.value.trim() }])) };
        known = await api("POST", "studies/recruit", { study: name, settings: sent });
        draw();
        toast("Saved");
      } catch (error) {
        tellIn(problem, messageOf(error));
        problem.scrollIntoView({ block: "nearest" });
      }
    } },
    h("div", { class: "cq-stfields" }, field("Title that participants see", title), field("Own parameter with the id", parameter),
      field("Most people", people), field("Minutes without activity until a seat is free again", minutes)),
    field("Consent", consent), field("Screening questions, one per line; a star marks accepted answers", questions), field("Quotas, one per line", quotas),
    ends.map(({ end, said, code, url }) => h("fieldset", { class: "cq-stfields" }, h("legend", { text: ENDS[end] }), field("Code", code), field("Redirect address", url), field("Text", said))),
    h("label", { class: "cq-row" }, some, "Of people with accounts, only these see the study"), given,
    problem, h("div", { class: "cq-row" }, h("button", { class: "cq-btn", type: "submit", text: "Save" })));
    return h("details", { class: "cq-stbox" }, h("summary", { text: "Consent, screening, quotas, ends" }), element);
  }

  async function decide(/** @type {ParticipantRow["payment"]} */ payment) {
    let reason = "";
    if (payment === "rejected") {
      const said = await askText(`Reject ${plural(chosen.size, "participant")}: why?`, "", "The participants read it");
      if (!said) return;
      reason = said;
    } else if (!(await confirm(`Mark ${plural(chosen.size, "participant")} as ${payment}?`, "You can change it until you upload the file to the site.", "Mark"))) return;
    const done = await does("studies/pay", { participants: [...chosen], payment, reason });
    if (!done) return;
    chosen.clear();
    took(done);
    toast(`${plural(done.decided ?? 0, "participant")}: ${payment}`);
  }

  function table(/** @type {Recruiting} */ { participants }) {
    if (!participants.length) return [h("p", { class: "cq-quiet", text: "Nobody has used the link yet." })];
    const buttons = /** @type {[ParticipantRow["payment"], string][]} */ ([["approved", "Approve"], ["rejected", "Reject"], ["open", "Undecided"]]).map(([payment, what]) =>
      h("button", { class: "cq-btn small", type: "button", text: what, onclick: () => decide(payment) }));
    const boxes = /** @type {HTMLInputElement[]} */ ([]);
    const drawn = () => buttons.forEach((button) => { button.disabled = !chosen.size; });
    const rows = participants.map((person) => {
      const box = h("input", { type: "checkbox", "aria-label": `Choose ${person.id}`, onchange: () => { chosen[box.checked ? "add" : "delete"](person.id); drawn(); } });
      box.checked = chosen.has(person.id);
      boxes.push(box);
      return h("tr", {}, h("td", {}, box), h("th", { scope: "row" }, h("b", { text: person.id }), h("small", { text: person.annotator })),
        h("td", { text: STATES[person.state] }), h("td", { class: "num", text: person.total ? `${count(person.done)} of ${count(person.total)}` : "" }),
        h("td", { class: "num", text: person.minutes === null ? "" : String(Math.round(person.minutes)) }), h("td", {}, person.code ? h("code", { text: person.code }) : null),
        h("td", {}, person.payment === "open" ? "" : chip(person.payment, person.payment === "approved" ? "on" : "warn"), person.reason ? h("small", { text: person.reason, dir: "auto" }) : null));
    });
    const choose = h("button", { class: "cq-btn small", type: "button", text: "Choose all finished and undecided", onclick: () => {
      chosen.clear();
      participants.forEach((person, at) => {
        const wanted = person.state === "finished" && person.payment === "open", box = boxes[at];
        if (wanted) chosen.add(person.id);
        if (box) box.checked = wanted;
      });
      drawn();
    } });
    drawn();
    const head = ["", "Id", "State", "Answered", "Minutes", "Code", "Payment"].map((text, at) => h("th", { scope: "col", class: at === 3 || at === 4 ? "num" : "", text }));
    return [h("div", { class: "cq-row" }, choose, buttons, fileMenu("Payment files", FILES.map(([form, what, kind]) => ({ what: what ?? "", kind, address: () => at(`studies/participants?${query}&form=${form}`) })), toast)),
      h("div", { class: "cq-stscroll", tabindex: "0" }, h("table", { class: "cq-sttable" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)))];
  }

  function draw() {
    if (!known) return;
    const { path } = known, boxes = () => [...body.querySelectorAll("details.cq-stbox")], open = boxes().map((box) => box.hasAttribute("open"));
    body.replaceChildren(...linkRow(known), ...(path ? [form(known), webhookPart(known, {
      save: async (webhook) => kept(await does("studies/recruit", { settings: { ...current(), webhook } }, "Saved")),
      test: async () => kept(await does("studies/webhook-test", {})), again: async () => kept(await does("studies/webhook-again", {})),
    }), ...table(known)] : []));
    boxes().forEach((box, at) => box.toggleAttribute("open", open[at] ?? false));
  }
  async function again() {
    try {
      known = await api("GET", `studies/recruitment?${query}`, undefined, { ask: false });
      draw();
    } catch (error) {
      body.replaceChildren(h("p", { class: "cq-inline", role: "alert", text: messageOf(error) }));
    }
  }
  return { element, again };
}
