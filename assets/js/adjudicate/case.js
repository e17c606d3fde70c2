// One case: the item, what was said of it, and the decision that is being made.
import { letterOf, judgesPart, panelPart } from "./judges.js";
import { LETTERS } from "./keys.js";
import { WHY } from "./queue.js";
import { verdictForm } from "./verdict.js";
import { missing } from "../annotate/validity/answer.js";
import { ApiProblem, api, createGuard, h, kbd, keptInTab, messageOf, stay, tellIn, token } from "../shared/common.js";
import { createPictures } from "../shared/pictures.js";

const LEAST_REASON = 3;

/** @param {{ name: string, rubric: Rubric, found: OpenCase, number: number, decided(item: string, said: string): Promise<unknown> }} of */
export function caseView({ name, rubric, found, number, decided }) {
  const { item, judgements, decision } = found;
  const drafts = draftsOf(name);
  const justShown = createGuard();
  let panelOpened = false, saving = false, press = /** @type {{ what: string, token: string } | null} */ (null);

  const pictures = createPictures();
  pictures.show(item);
  const form = verdictForm(rubric, changed);
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const state = h("p", { class: "cq-quiet", role: "status" });
  const button = h("button", { class: "cq-btn primary wide", type: "button", onmousedown: stay, onclick: save });
  const direct = (/** @type {string} */ letter) => !form.active && !LETTERS.includes(letter.toLowerCase());
  const judges = judgesPart(rubric, found, take, direct);
  const panel = panelPart(found, () => form.answer.alternatives, form.mark, () => { panelOpened = true; });

  const draft = drafts.read(item.id);
  if (draft) form.fill(draft.answer, draft.reason);
  else if (decision) form.fill(decision.answer, decision.reason);
  if (draft) state.textContent = "Your unfinished decision was restored.";
  else if (decision) state.textContent = `Decided${decision.by_you ? " by you" : ""}${decision.revision > 1 ? ` · revision ${decision.revision}` : ""}. Change it and save to revise.`;
  hints();
  justShown.start();

  const [why, explained] = WHY[found.why] ?? ["", ""];
  const elements = [
    h("div", { class: "cq-aditem" },
      h("header", {}, h("h1", {}, `Case ${number}`), why ? h("span", { class: `cq-chip ${found.why}`, text: why, title: explained }) : null,
        h("p", { class: "cq-quiet", text: explained || "Nothing left to decide here." })),
      h("p", { class: "cq-adtext", text: item.text, dir: "auto" }),
      pictures.element, judges, panel?.element ?? null),
    h("aside", { class: "cq-addecide", "aria-label": "Decision" }, h("h2", { text: "Your decision" }), state, form.element, problem, button),
  ];

  function hints() {
    button.replaceChildren(saving ? "Saving…" : decision ? "Save the revision" : "Decide and continue", kbd("Enter"));
    button.setAttribute("aria-disabled", String(saving));
    for (const hint of judges.querySelectorAll("kbd[data-letter]")) {
      const letter = hint.getAttribute("data-letter") ?? "";
      hint.textContent = direct(letter) ? letter : `⇧${letter}`;
    }
  }
  function changed() {
    problem.hidden = true;
    drafts.write(item.id, { answer: form.answer, reason: form.reason.value });
    panel?.draw();
    for (const card of judges.querySelectorAll(".taken")) card.classList.remove("taken");
    hints();
  }
  function take(/** @type {Judgement} */ judgement) {
    form.fill(judgement.answer);
    changed();
    judges.querySelector(`[aria-label="${judgement.label}"]`)?.classList.add("taken");
    state.textContent = `${judgement.label}’s answer. Say why, or change it.`;
  }
  /** @param {string} text @param {HTMLElement} [place] */
  function complain(text, place) {
    tellIn(problem, text);
    place?.focus();
  }
  async function save() {
    if (saving || justShown.runs) return;
    const lacks = missing(form.answer, rubric);
    form.complain(lacks);
    if (lacks) return;
    const reason = form.reason.value.trim();
    if (reason.length < LEAST_REASON) return complain("Give a short reason: it is stored with the decision.", form.reason);
    const sent = { study: name, item: item.id, answer: form.settled(panelOpened), reason, seen_revision: decision?.revision ?? 0 };
    const what = JSON.stringify(sent);
    if (press?.what !== what) press = { what, token: token() }; // sent again after a failure, it stays the same press
    saving = true;
    hints();
    try {
      const { decision: { revision }, overtook } = await api("POST", "adjudicate/decide", { ...sent, token: press.token });
      drafts.drop(item.id);
      await decided(item.id, overtook ? `Case ${number} was decided after you opened it, by somebody else or in another window. `
        + `Your decision now counts; the other one is kept as revision ${revision - 1}.` : "Decided");
    } catch (error) {
      const away = error instanceof ApiProblem && error.kind === "away";
      complain(away ? `${error.message} Your decision is still here: press Enter to send it again.` : messageOf(error));
    } finally {
      saving = false;
      hints();
    }
  }

  return {
    elements,
    save,
    isReason: (/** @type {EventTarget | null} */ field) => field === form.reason,
    pictures,
    digit: form.press,
    /** A sub-reason of the flag set last, else the answer of the judge of that letter; whether there is one. */
    letter(/** @type {string} */ key) {
      if (form.letter(key)) return true;
      const judge = judgements.find((it) => letterOf(it) === key.toUpperCase());
      if (!judge || (judge.answer.unsure && !judge.answer.flags.length) || (key !== key.toUpperCase() && !direct(key))) return false;
      take(judge);
      return true;
    },
    note: () => form.note.focus(),
    reason: () => form.reason.focus(),
    panel: panel ? () => panel.toggle() : undefined,
  };
}

// Unfinished decisions of this tab: they survive a reload and going to another case.
function draftsOf(/** @type {string} */ study) {
  const key = `cirque.adjudicate.${study}`;
  /** @typedef {{ answer: Validity, reason: string }} Unfinished */
  const all = () => keptInTab.read(key, /** @type {Record<string, Unfinished | undefined>} */ ({}));
  const put = (/** @type {(drafts: Record<string, Unfinished | undefined>) => void} */ change) => {
    const drafts = all();
    change(drafts);
    keptInTab.write(key, drafts);
  };
  return {
    read: (/** @type {string} */ item) => all()[item],
    write: (/** @type {string} */ item, /** @type {Unfinished} */ draft) => put((drafts) => { drafts[item] = draft; }),
    drop: (/** @type {string} */ item) => put((drafts) => { delete drafts[item]; }),
  };
}
