// Scores that metrics beside Recall give the sets of a preference study, or language models the sessions of a session
// study: which there are, and removing one.
import { api, confirm, h, messageOf, toast } from "../shared/common.js";
import { addScores } from "./scores-add.js";

/** @param {{ screen: import("./main.js").Screen, study: string, words: KindWords, changed(): void }} of ``study``: its id; ``changed`` hears that there are other scores now */
export function scoresPart({ screen, study, words, changed }) {
  const title = `${words.scored[0].toUpperCase()}${words.scored.slice(1)}s`, recall = words.options.includes("k");
  const manages = screen.may("manage");
  const list = h("ul", { role: "list" });
  /** @type {HTMLButtonElement | null} */
  const add = manages ? h("button", { class: "cq-btn small", type: "button", text: "Add scores…", onclick: () => { adding = addScores({ study, words, changed, from: () => add?.focus({ preventScroll: true }) }); } }) : null;
  const element = h("section", { class: "cq-an-scores", "aria-label": title }, h("span", { class: "cq-label", text: title }), list, add);
  let adding = /** @type {{ leave(): void } | null} */ (null);
  return {
    element,
    put(/** @type {Scores[]} */ scores) {
      const always = !recall ? [] : [h("li", {}, h("b", { text: "Recall" }), h("small", { text: "of the sets’ images" }))];
      list.replaceChildren(...always, ...scores.map(({ name, description, notes }) =>
        h("li", { title: [description, ...notes].join(" ") }, h("b", { text: name, dir: "auto" }), notes.length ? h("small", { text: notes.join(" "), dir: "auto" }) : null,
          manages ? h("button", { class: "cq-icon", type: "button", "aria-label": `Remove the scores ${name}`, title: "Remove", text: "×", onclick: () => drop(name) }) : null)));
      element.hidden = !manages && !scores.length;
    },
    leave() { adding?.leave(); },
  };

  async function drop(/** @type {string} */ name) {
    if (!(await confirm(`Remove the scores ${name}?`, `The report will no longer have this ${words.scored}. The study’s answers are unchanged.`, "Remove them"))) return;
    try {
      await api("POST", "analysis/scores/drop", { study, name });
      toast("Removed");
      add?.focus();
      changed();
    } catch (error) {
      toast(messageOf(error));
    }
  }
}
