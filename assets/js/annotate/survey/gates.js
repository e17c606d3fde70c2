// What stands before the next question, and going past it.
import { ApiProblem, api, createGuard, messageOf, say, token } from "../../shared/common.js";
import { checkPage, consentPage, guidelinesPage } from "./pages.js";

const WRONG = "That was not correct. Take your time: here is another one.";

// ``joined``: whether the person has a seat; if not, going past the first gate takes one.
// ``show(desk, {said})`` shows what comes next; ``back`` leads to the answer before.
/**
 * @param {{ name: string, joined: boolean, page: Survey, body: HTMLElement, show(desk: SurveyDesk, how?: { said: string }): void, others(): void, back(): void }} of
 */
export function createGates({ name, joined, page, body, show, others, back }) {
  const justShown = createGuard();

  /** @param {Gate} gate @param {unknown} answer @param {string} press its token */
  async function pass(gate, answer, press) {
    const { kind, number, attempt } = gate;
    try {
      if (!joined) await api("POST", "study/join", { study: name });
      joined = true;
      const done = await api("POST", "study/gate", { study: name, kind, token: press,
        ...(kind === "check" ? { number, attempt, answer } : kind === "consent" ? { answer } : {}) });
      show(done.desk, { said: done.passed ? "" : WRONG });
      return "";
    } catch (problem) {
      if (!(problem instanceof ApiProblem) || problem.kind !== "incomplete") return messageOf(problem);
      const now = /** @type {SurveyDesk | null} */ (await api("GET", `study/at?study=${encodeURIComponent(name)}`).catch(() => null));
      if (!now || JSON.stringify(now.gate) === JSON.stringify(gate)) return problem.message;
      show(now); // passed in another window
      return "";
    }
  }

  return {
    /** @param {Gate} gate @param {boolean} some whether anything is answered @param {string} said what to say of an answer before */
    show(gate, some, said) {
      justShown.start();
      const press = { token: token(), answer: /** @type {unknown} */ (undefined) };
      /** @type {(answer?: unknown) => string | Promise<string>} */
      const passes = (answer) => {
        if (justShown.runs) return "";
        // Another answer is another press; the same again, where nobody answered, is the same one.
        if (press.answer !== answer) Object.assign(press, { token: token(), answer });
        return pass(gate, answer, press.token);
      };
      const pages = {
        guidelines: () => guidelinesPage(page, passes), consent: () => consentPage(gate.text ?? "", passes, others),
        check: () => checkPage(gate, passes, { said, back: some ? back : null }),
      };
      if (gate.kind === "finished") return;
      const there = pages[gate.kind]();
      body.replaceChildren(there.element);
      window.scrollTo(0, 0);
      there.focus();
      if (said) say(said);
    },
  };
}
