// Scores that metrics beside Recall give the sets of a preference study, or language models the sessions of a session
// study: which there are, and removing one.
import { api, closer, confirm, dialog, field, h, messageOf, once, say, tellIn, toast } from "../shared/common.js";
import { scoresText, firstFaults } from "./score-files.js";
import { passing } from "./follow.js";
import { plural } from "../shared/words.js";

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

// Asks for scores: from a file, or worked out by a method in a gallery. Of sessions only from a file.
const CIRQRS = "";   // among the values of the methods
const LOOK_MS = 800, AGAIN_MS = 5000, UPLOAD_MS = 120000;

/** @type {(of: { study: string, words: KindWords, changed(): void, from(): void }) => { leave(): void }} */
// ``leave()`` of what it returns closes the dialog and aborts its requests; a computation goes on.
function addScores({ study, words, changed, from }) {
  // Of sets, which have images that a method can score; of sessions there is a file alone.
  const sets = words.options.includes("k"), type = words.score_type, suffix = type.toLowerCase();
  const stopped = new AbortController(), { signal } = stopped;
  /** @type {<Path extends string>(method: "GET" | "POST", path: Path, body?: object, options?: CallOptions) => Promise<AnswerOf<Path>>} */
  const ask = (method, path, body, options) => api(method, path, body, { signal, ...options });
  const file = h("input", { type: "file", accept: `.${suffix},${sets ? "text" : "application"}/${suffix}`, "aria-label": `${type} file` });
  const send = h("button", { class: "cq-btn primary", text: "Add the file" });
  const method = h("select", { "aria-label": "Method" }), gallery = h("select", { "aria-label": "Gallery" });
  const named = h("input", { type: "text", placeholder: "default: names of method and gallery" });
  const compute = h("button", { class: "cq-btn primary", text: "Compute", disabled: true });
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Sets scored" }), status = h("p", { class: "cq-quiet", role: "status" });

  const noModel = h("p", { class: "cq-quiet", hidden: true });

  const byFile = part("From a file", send, async () => {
    const chosen = file.files?.[0];
    if (!chosen) throw new Error(`Choose a ${type} file first.`);
    const content = await scoresText(chosen, sets ? undefined : "Choose the file that cirque wrote.");
    await ask("POST", "analysis/scores", { study, content, name: chosen.name }, { patience: UPLOAD_MS });
  }, ...(!sets ? [h("p", {}, "The file ", h("code", { text: "judged.json" }), " that ", h("code", { text: "cirque construct judge" }),
    " wrote, with the sources, sample and seed of this study.")] : [h("p", {}, "A row for each set, with the columns ", h("code", { text: "item" }), ", ", h("code", { text: "set" }), " (1 or 2) and one column of numbers for each metric. ",
    "The judgements CSV of this study already has the first two: add a column to its ", h("code", { text: "sets.csv" }), "."),
  h("pre", { class: "cq-an-example", text: "item,set,my metric\nfashioniq::12,1,0.731\nfashioniq::12,2,0.655" })]), h("div", { class: "cq-row" }, file, send));

  const byMethod = part("By a method, in a gallery", compute, async () => {
    const by = method.value === CIRQRS ? { metric: "cirqrs" } : { method: method.value };
    const { run } = await ask("POST", "analysis/scores/compute", { study, gallery: gallery.value, ...by, name: named.value.trim() });
    await watch(run);
  }, h("p", { text: "Mean similarity of each set’s images to the composed query: the cosine that the method ranks by. With CIRQRS, their mean learned relevance." }), noModel,
  field("Method", method), field("Gallery", gallery), field("Name of the metric", named), h("div", { class: "cq-row" }, compute), bar, status);

  const asks = dialog({ class: "cq-small cq-an-add", "aria-label": "Add scores" }, h("header", {}, h("h2", { text: "Add scores" }), closer()), byFile.element, sets ? byMethod.element : null);
  once(asks).then(from);
  if (sets) choices();
  return { leave() {
    stopped.abort();
    asks.close();
  } };

  /**
   * A form with what is wrong with it in itself.
   * @param {string} title
   * @param {HTMLButtonElement} button
   * @param {() => Promise<void>} work throws sentences
   * @param {...Child} fields
   */
  function part(title, button, work, ...fields) {
    const problem = h("p", { class: "cq-inline cq-an-faults", role: "alert", dir: "auto", hidden: true });
    const tell = (/** @type {string} */ text) => {
      tellIn(problem, text);
      if (text) problem.scrollIntoView({ block: "nearest" });
    };
    const form = h("form", { onsubmit: async (event) => {
      event.preventDefault();
      if (button.disabled) return;
      tell("");
      button.disabled = true;
      try {
        await work();
        done();
      } catch (error) {
        if (signal.aborted) return;
        if (asks.open) tell(firstFaults(messageOf(error)));
        else toast(messageOf(error).split("\n")[0]);
      } finally {
        bar.hidden = true;
        button.disabled = false;
      }
    } }, h("h3", { text: title }), fields, problem);
    return { element: form, tell };
  }

  async function choices() {
    const title = h("h3", { text: "By a method, in a gallery" });
    try {
      const { galleries, methods, gallery: own, name_limit, cirqrs } = await ask("GET", `analysis/scores/choices?study=${encodeURIComponent(study)}`);
      gallery.replaceChildren(...galleries.map(({ name, size }) => h("option", { value: name, text: `${name} · ${plural(size, "image")}`, selected: name === own })));
      method.replaceChildren(...(cirqrs.problem ? [] : [h("option", { value: CIRQRS, text: "CIRQRS, learned relevance" })]), ...methods.map(({ name, title: called }) => h("option", { value: name, text: called })));
      tellIn(noModel, cirqrs.problem && `CIRQRS is not available. ${cirqrs.problem}`);
      if (name_limit) named.maxLength = name_limit;
      compute.disabled = !galleries.length || !methods.length;
      if (!galleries.length) byMethod.element.replaceChildren(title, h("p", { text: "There is no gallery yet. Index the study’s images with cirque index." }));
    } catch (error) {
      if (!signal.aborted) byMethod.element.replaceChildren(title, h("p", { text: messageOf(error) }));
    }
  }

  async function watch(/** @type {string} */ run) {
    bar.hidden = false;
    for (;;) {
      let wait = LOOK_MS;
      try {
        const now = await ask("GET", `analysis/scores/run?id=${encodeURIComponent(run)}`, undefined, { news: true });
        if (now.problem) throw new Error(now.problem);
        bar.max = now.total || 1;
        bar.value = now.done;
        status.textContent = now.text;
        if (now.finished) return;
      } catch (error) {
        if (signal.aborted || !passing(error)) {
          status.textContent = "";
          throw error;
        }
        wait = AGAIN_MS;
        status.textContent = `${messageOf(error)} The computation continues; retrying every ${wait / 1000} seconds.`;
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
      signal.throwIfAborted();
    }
  }

  function done() {
    if (signal.aborted) return;
    toast("Scores added");
    say("Scores added");
    asks.close();
    changed();
  }
}
