// One case: the item, one's own answer; after that what was said of it, and the decision that is being made.
import { discussionFold } from "../annotate/work/discussion.js";
import { LETTERS } from "./keys.js";
import { WHY } from "./queue.js";
import { verdictForm } from "./verdict.js";
import { missing } from "../annotate/validity/answer.js";
import { ApiProblem, api, createGuard, h, kbd, keptInTab, messageOf, stay, tellIn, token, at } from "../shared/common.js";
import { createPictures } from "../shared/pictures.js";
import { lasting } from "../shared/words.js";
/** @import { CaseOf } from "./main.js" */

const LEAST_REASON = 3;

/** @param {CaseOf & { name: string, rubric: Rubric }} of */
export function caseView({ name, rubric, found, number, during, decided, answered }) {
  const item = /** @type {Item} */ (/** @type {unknown} */ (found.item)), { decision = null, first } = found, blind = first === null;
  const judgements = /** @type {Judgement[]} */ (found.judgements ?? []);
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
  const judges = blind ? h("section", {}) : judgesPart(rubric, { judgements, item, own: Boolean(found.judged_by_you) }, take, direct);
  const panel = panelPart({ item, judgements }, () => form.answer.alternatives, form.mark, () => { panelOpened = true; });

  const draft = drafts.read(item.id);
  if (draft) form.fill(draft.answer, draft.reason);
  else if (decision || first) form.fill(/** @type {Validity} */ (decision?.answer ?? first), decision?.reason);
  form.asksReason(!blind);
  if (draft) state.textContent = "Your unfinished decision was restored.";
  else if (decision) state.textContent = `Decided${decision.by_you ? " by you" : ""}${decision.revision > 1 ? ` · revision ${decision.revision}` : ""}. Change it and save to revise.`;
  else state.textContent = blind ? "Answer it yourself first. After that you see what the judges answered." : "Your own answer. Compare, then confirm or change it.";
  hints();
  justShown.start();

  const [why, explained] = (found.why && WHY[found.why]) || ["", ""];
  const elements = [
    h("div", { class: "cq-aditem" },
      h("header", {}, h("h1", {}, `Case ${number}`), why ? h("span", { class: `cq-chip ${found.why}`, text: why, title: explained }) : null,
        blind ? null : h("p", { class: "cq-quiet", text: explained || "Nothing left to decide here." })),
      h("p", { class: "cq-adtext", text: item.text, dir: "auto" }),
      pictures.element, judges, panel?.element ?? null),
    h("aside", { class: "cq-addecide", "aria-label": "Decision" }, h("h2", { text: blind ? "Your answer" : "Your decision" }), state, form.element, problem, button,
      !blind && found.discussed ? discussionFold({ study: name, item: item.id, messages: found.messages ?? [] }) : null),
  ];

  function hints() {
    button.replaceChildren(saving ? "Saving…" : blind ? "Save and compare" : decision ? "Save the revision" : "Decide and continue", kbd("Enter"));
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
    if (blind) return answer();
    const reason = form.reason.value.trim();
    if (reason.length < LEAST_REASON) return complain("Give a short reason: it is stored with the decision.", form.reason);
    const sent = { study: name, item: item.id, answer: form.settled(panelOpened), reason, seen_revision: decision?.revision ?? 0 };
    const what = JSON.stringify(sent);
    if (press?.what !== what) press = { what, token: token() }; // sent again after a failure, it stays the same press
    saving = true;
    hints();
    try {
      const { decision: { revision }, overtook } = await during(api("POST", "adjudicate/decide", { ...sent, token: press.token }));
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

  async function answer() {
    saving = true;
    hints();
    try {
      const after = await during(api("POST", "adjudicate/answer", { study: name, item: item.id, answer: form.settled(panelOpened) }));
      drafts.drop(item.id);
      answered(after);
    } catch (error) {
      complain(messageOf(error));
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
    reason: () => (blind ? false : form.reason.focus()),
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

// All judgements of one item side by side, without names.
// "A" of "Judge A".
export const letterOf = (/** @type {Judgement} */ judgement) => judgement.label.split(" ").at(-1) ?? "";

/** @typedef {(judgement: Judgement) => void} Take */
/** @typedef {(letter: string) => boolean} Direct whether a letter takes that judge's answer without Shift */

/** @type {(rubric: Rubric, found: { judgements: Judgement[], item: Item, own: boolean }, take: Take, direct: Direct) => HTMLElement} */
export function judgesPart(rubric, { judgements, item, own }, take, direct) {
  const categories = /** @type {Category[]} */ ([...rubric.flags, rubric.valid]);
  return h("section", { class: "cq-adjudges", "aria-label": "Judgements" },
    h("div", { class: "cq-sttitle" }, h("h2", { text: judgements.length === 1 ? "One judgement" : `${judgements.length} judgements` }),
      own ? h("p", { class: "cq-quiet", text: "One of them is your own." }) : null),
    h("div", { class: "cq-adcards" }, judgements.map((judgement) => card(rubric, categories, judgement, item, take, direct))));
}

/** @type {(rubric: Rubric, categories: Category[], judgement: Judgement, item: { panel: Picture[] }, take: Take, direct: Direct) => HTMLElement} */
function card(rubric, categories, judgement, item, take, direct) {
  const { answer, label, seconds } = judgement, letter = letterOf(judgement);
  const hint = kbd(direct(letter) ? letter : `⇧${letter}`);
  hint.dataset.letter = letter;
  const verdict = answer.unsure ? h("p", { class: "cq-adv unsure", text: "Unsure" })
    : answer.validated ? h("p", { class: "cq-adv valid", text: rubric.valid.name })
      : answer.flags.length ? null
        : h("p", { class: "cq-adv", text: answer.validated === false ? "Not valid, no flags" : "No verdict" });
  const flags = categories.filter(({ code }) => answer.flags.includes(code)).toSorted((a, b) => (a.severity ?? 0) - (b.severity ?? 0));
  return h("article", { class: "cq-adcard", "aria-label": label },
    h("header", {}, h("h3", { text: label }), h("small", { class: "num", text: seconds ? lasting(seconds) : "" })),
    verdict,
    flags.length ? h("ul", { class: answer.unsure ? "cq-adset hint" : "cq-adset" }, flags.map((flag) => h("li", {}, h("b", { text: flag.name }),
      (flag.reasons || []).filter(({ code }) => answer.reasons.includes(code)).map(({ name }) => h("span", { text: name }))))) : null,
    answer.note ? h("blockquote", { text: answer.note, dir: "auto" }) : null,
    answer.alternatives?.length ? h("p", { class: "cq-quiet",
      text: `${answer.alternatives.length} of ${item.panel.length} others marked as equally good` }) : null,
    answer.unsure && !answer.flags.length ? null
      : h("button", { class: "cq-btn small", type: "button", onmousedown: stay, onclick: () => take(judgement) }, `Take ${letter}’s answer`, hint));
}

// The panel with what judges marked in it; one's own marks can be set too.
/** @param {{ item: Item, judgements: Judgement[] }} found @param {() => string[]} marked @param {(token: string) => void} mark @param {() => void} opened */
export function panelPart({ item, judgements }, marked, mark, opened) {
  if (!item.panel?.length) return null;
  const tiles = item.panel.map((image, place) => {
    const by = judgements.filter(({ answer }) => answer.alternatives?.includes(image.token)).map(letterOf);
    const name = `Image ${place + 1}${by.length ? `, marked by ${by.join(", ")}` : ""}`;
    const tile = h("button", { class: "cq-adtile", type: "button", title: name, "aria-label": name, "data-image": image.token,
      "aria-pressed": String(marked().includes(image.token)), onmousedown: stay, onclick: () => mark(image.token) },
    image.missing ? h("span", { class: "cq-adgone", text: "unavailable" })
      : h("img", { src: at(image.small), alt: "", loading: "lazy", width: image.width, height: image.height }),
    by.length ? h("em", { text: by.join(" "), "aria-hidden": "true" }) : null);
    return tile;
  });
  const grid = h("div", { class: "cq-adpanel", role: "group", "aria-label": "Other images" }, tiles);
  const fold = h("details", { class: "cq-adfold", ontoggle: () => { if (fold.open) opened(); } },
    h("summary", {}, `Retrieved images (${item.panel.length})`, kbd("P")), grid);
  return {
    element: fold,
    draw: () => { for (const tile of tiles) tile.setAttribute("aria-pressed", String(marked().includes(tile.dataset.image ?? ""))); },
    toggle: () => { fold.open = !fold.open; },
  };
}
