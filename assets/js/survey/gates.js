// What stands before the next question, and going past it.
import { api, say, token } from "../shared/common.js";
import { checkPage, consentPage, guidelinesPage } from "./pages.js";

const JUST_SHOWN_MS = 250; // the second half of a double press does not count for this page
const WRONG = "That was not it. Take your time: here is another one.";

// ``joined``: whether the person has a seat; if not, going past the first gate takes one.
// ``show(desk, {said})`` shows what comes next; ``back`` leads to the answer before.
export function createGates({ name, joined, page, body, show, others, back }) {
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
      if (problem.kind !== "incomplete") return problem.message;
      const now = await api("GET", `study/at?study=${encodeURIComponent(name)}`).catch(() => null);
      if (!now || JSON.stringify(now.gate) === JSON.stringify(gate)) return problem.message;
      show(now); // passed in another window
      return "";
    }
  }

  return {
    // ``said``: what to say of an answer before.
    show({ gate, progress }, said) {
      const shownAt = performance.now();
      const press = { token: token(), answer: undefined };
      const passes = (answer) => {
        if (performance.now() - shownAt < JUST_SHOWN_MS) return "";
        // Another answer is another press; the same again, where nobody answered, is the same one.
        if (press.answer !== answer) Object.assign(press, { token: token(), answer });
        return pass(gate, answer, press.token);
      };
      const there = {
        guidelines: () => guidelinesPage(page, passes), consent: () => consentPage(gate.text, passes, others),
        check: () => checkPage(gate, passes, { said, back: progress.done ? back : null }),
      }[gate.kind]();
      body.replaceChildren(there.element);
      window.scrollTo(0, 0);
      there.focus();
      if (said) say(said);
    },
  };
}
