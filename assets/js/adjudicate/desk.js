// Cases of a kind without a view of its own: on the screen that its judges have. First the adjudicator's own answer, then
// those of the judges above it, a reason, and the decision.
import { discussionFold } from "../annotate/work/discussion.js";
import { WHY } from "./queue.js";
import { ApiProblem, api, h, kbd, messageOf, stay, tellIn, token } from "../shared/common.js";
import { lasting } from "../shared/words.js";
/** @import { CaseOf } from "./main.js" */

const LEAST_REASON = 3;
const letterOf = (/** @type {string} */ label) => label.split(" ").at(-1) ?? "";

/** @param {{ name: string, kind: Kind, module: ScreenModule, page: object, step(by: number): void }} of */
export function createDesk({ name, kind, module, page, step }) {
  let now = /** @type {ReturnType<typeof open> | null} */ (null);
  const nothing = () => {};
  const screen = module.createScreen(page, { here: () => Boolean(now), changed: () => now?.changed(), save: () => { now?.save(); }, step, map: nothing,
    discard: nothing, retry: nothing, leaving: () => false });

  /** @param {CaseOf} of */
  function open({ found, number, during, decided, answered }) {
    const { item } = found, blind = found.first === null, judgements = found.judgements ?? [];
    const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
    const reason = h("textarea", { class: "st-note", rows: 2, dir: "auto", maxlength: 4000, "aria-label": "Reason for the decision", placeholder: "A few words suffice" });
    const button = h("button", { class: "cq-btn primary", type: "button", onmousedown: stay, onclick: save }, found.decision ? "Save the revision" : "Decide and continue", kbd("Enter"));
    const [why, explained] = (found.why && WHY[found.why]) || ["", ""];
    let saving = false, press = /** @type {{ what: string, token: string } | null} */ (null);
    const cards = judgements.map((judgement) => {
      const { label, told, answer, seconds } = judgement, letter = letterOf(label), text = wordsOf(answer);
      return h("article", { class: "cq-adcard", "aria-label": label },
        h("header", {}, h("h3", { text: label }), h("small", { class: "num", text: seconds ? lasting(seconds) : "" })), h("p", { class: "cq-adtold", text: told }),
        text ? h("blockquote", { text, dir: "auto" }) : null,
        h("button", { class: "cq-btn small", type: "button", onmousedown: stay, onclick: () => take(letter) }, `Take ${letter}’s answer`, kbd(`⇧${letter}`)));
    });
    const above = h("div", { class: "cq-adabove" },
      h("header", {}, h("h1", { text: `Case ${number}` }), why ? h("span", { class: `cq-chip ${found.why}`, text: why, title: explained }) : null,
        h("p", { class: "cq-quiet", role: "status", text: blind ? "Answer it yourself first. After that you see what the judges answered."
          : `Your answer is below. Confirm it, or change it.${found.judged_by_you ? " One of the judgements is your own." : ""}${found.decision
            ? ` Decided${found.decision.by_you ? " by you" : ""}: ${found.decision.reason}` : ""}` })),
      blind ? null : h("div", { class: "cq-adcards" }, cards),
      blind ? null : h("div", { class: "cq-adreason" }, h("label", { class: "st-notebox" }, h("span", { class: "cq-label", text: "Reason for the decision" }), reason), button),
      problem, !blind && found.discussed ? discussionFold({ study: name, item: item.id, messages: found.messages ?? [] }) : null);

    if (found.decision) reason.value = found.decision.reason;
    screen.begin(found.decision?.answer ?? found.first ?? null, null, false);
    screen.open(item);
    screen.show({ name: `Case ${number}`, revision: 0, restored: false, study: /** @type {DeskStudy} */ ({ name, kind, accepting: true }) });
    screen.draw(false);

    /** @param {string} letter */
    function take(letter) {
      const at = judgements.findIndex(({ label }) => letterOf(label) === letter);
      if (at < 0) return false;
      screen.replace(judgements[at].answer);
      cards.forEach((card, place) => card.classList.toggle("taken", place === at));
      return true;
    }
    function complain(/** @type {string} */ text) { tellIn(problem, text); }
    async function save() {
      if (saving) return;
      const lacks = screen.missing();
      screen.complain(lacks);
      if (lacks) return complain(lacks.text);
      const why = reason.value.trim();
      if (!blind && why.length < LEAST_REASON) {
        complain("Give a short reason: it is stored with the decision.");
        return reason.focus();
      }
      const sent = { study: name, item: item.id, answer: screen.answer };
      saving = true;
      button.setAttribute("aria-disabled", "true");
      try {
        if (blind) return answered(await during(api("POST", "adjudicate/answer", sent)));
        const whole = { ...sent, reason: why, seen_revision: found.decision?.revision ?? 0 }, what = JSON.stringify(whole);
        if (press?.what !== what) press = { what, token: token() }; // sent again after a failure, it stays the same press
        const { decision: { revision }, overtook } = await during(api("POST", "adjudicate/decide", { ...whole, token: press.token }));
        await decided(item.id, overtook ? `Case ${number} was decided after you opened it. Your decision now counts; the other one is kept as revision ${revision - 1}.` : "Decided");
      } catch (error) {
        complain(error instanceof ApiProblem && error.kind === "away" ? `${error.message} Your answer is still here: press Enter to send it again.` : messageOf(error));
      } finally {
        saving = false;
        button.removeAttribute("aria-disabled");
      }
    }
    return {
      elements: [h("div", { class: `cq-adwhole st-screen${blind ? "" : " compared"}` }, above, screen.element)],
      save,
      changed() {
        complain("");
        for (const card of cards) card.classList.remove("taken");
        screen.draw(false);
      },
      // Keys are the screen's; with Shift, a letter takes that judge's answer.
      shifted: take,
    };
  }
  return { show: (/** @type {CaseOf} */ of) => (now = open(of)), close: () => { now = null; } };
}

/** What somebody wrote beside an answer. @param {object} answer */
const wordsOf = (answer) => Object.entries(answer).filter(([field, text]) => ["note", "reason"].includes(field) && typeof text === "string" && text).map(([, text]) => String(text)).join(" · ");
