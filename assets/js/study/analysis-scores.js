// Scores that metrics beside Recall give the sets of a preference study: added from a file, or worked out by a method.
import { api, closer, confirm, dialog, h, say, toast } from "./common.js";
import { plural } from "./studies-words.js";

const LOOK_MS = 800, MOST_BYTES = 8e6, UPLOAD_MS = 120000;

// ``changed()`` hears that there are other scores now.
export function scoresPart({ screen, study, changed }) {
  const manages = screen.may("manage");
  const list = h("ul", { role: "list" });
  const add = manages ? h("button", { class: "cq-btn small", type: "button", text: "Add scores…", onclick: () => addScores(study, changed, add) }) : null;
  const element = h("section", { class: "cq-an-scores", "aria-label": "Metrics" }, h("span", { class: "cq-label", text: "Metrics" }), list, add);
  return {
    element,
    put(scores) {
      list.replaceChildren(h("li", {}, h("b", { text: "Recall" }), h("small", { text: "of the sets’ images" })), ...scores.map(({ name, description, notes }) =>
        h("li", { title: [description, ...notes].join(" ") }, h("b", { text: name, dir: "auto" }), notes.length ? h("small", { text: notes.join(" "), dir: "auto" }) : null,
          manages ? h("button", { class: "cq-icon", type: "button", "aria-label": `Remove the scores ${name}`, title: "Remove", text: "×", onclick: () => drop(name) }) : null)));
      element.hidden = !manages && !scores.length;
    },
  };

  async function drop(name) {
    if (!(await confirm(`Remove the scores ${name}?`, "The report goes on without this metric. The study’s answers stay as they are.", "Remove them"))) return;
    try {
      await api("POST", "analysis/scores/drop", { study, name });
      toast("Removed");
      add?.focus();
      changed();
    } catch (error) {
      toast(error.message);
    }
  }
}

function addScores(study, changed, from) {
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true }), said = h("p", { class: "cq-quiet", role: "status" });
  const file = h("input", { type: "file", accept: ".csv,text/csv", "aria-label": "CSV file" });
  const send = h("button", { class: "cq-btn primary", text: "Add the file" });
  const method = h("select", { "aria-label": "Method" }), gallery = h("select", { "aria-label": "Gallery" });
  const named = h("input", { type: "text", maxlength: 80, placeholder: "as the method and the gallery are called" });
  const compute = h("button", { class: "cq-btn primary", text: "Work them out", disabled: true });
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Sets scored" });
  let open = true;
  const tell = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
  };

  const byFile = h("form", { onsubmit: async (event) => {
    event.preventDefault();
    tell("");
    const chosen = file.files[0];
    if (!chosen) return tell("Choose a CSV file first.");
    if (chosen.size > MOST_BYTES) return tell("The file has more than 8 MB. Leave out what is no score.");
    send.disabled = true;
    try {
      await done(await api("POST", "analysis/scores", { study, content: await chosen.text(), name: chosen.name }, { patience: UPLOAD_MS }));
    } catch (error) {
      tell(error.message);
    }
    send.disabled = false;
  } }, h("h3", { text: "From a file" }),
  h("p", {}, "A row for each set, with the columns ", h("code", { text: "item" }), ", ", h("code", { text: "set" }), " (1 or 2) and one column of numbers for each metric. ",
    "The judgements’ CSV of this study has the first two already: add a column to its ", h("code", { text: "sets.csv" }), "."),
  h("pre", { class: "cq-an-example", text: "item,set,my metric\nfashioniq::12,1,0.731\nfashioniq::12,2,0.655" }), h("div", { class: "cq-row" }, file, send));

  const byMethod = h("form", { onsubmit: async (event) => {
    event.preventDefault();
    tell("");
    compute.disabled = true;
    try {
      const { run } = await api("POST", "analysis/scores/compute", { study, gallery: gallery.value, method: method.value, name: named.value.trim() });
      await watch(run);
    } catch (error) {
      tell(error.message);
    }
    bar.hidden = true;
    compute.disabled = false;
  } }, h("h3", { text: "By a method, in a gallery" }),
  h("p", { text: "How much the images of each set resemble the composed query, on the mean: the cosine that the method itself ranks by." }),
  h("label", { class: "cq-field" }, h("span", { text: "Method" }), method), h("label", { class: "cq-field" }, h("span", { text: "Gallery" }), gallery),
  h("label", { class: "cq-field" }, h("span", { text: "Name of the metric" }), named), h("div", { class: "cq-row" }, compute), bar);

  const asks = dialog({ class: "cq-small cq-an-add", "aria-label": "Add scores" }, h("header", {}, h("h2", { text: "Add scores" }), closer()), byFile, byMethod, problem, said);
  asks.addEventListener("close", () => {
    open = false;
    asks.remove();
    from.focus({ preventScroll: true });
  });
  asks.showModal();
  choices();

  async function choices() {
    try {
      const { galleries, methods, gallery: own } = await api("GET", `analysis/scores/choices?study=${encodeURIComponent(study)}`);
      gallery.replaceChildren(...galleries.map(({ name, size }) => h("option", { value: name, text: `${name} · ${plural(size, "image")}`, selected: name === own })));
      method.replaceChildren(...methods.map(({ name, title }) => h("option", { value: name, text: title })));
      compute.disabled = !galleries.length || !methods.length;
      if (!galleries.length) byMethod.replaceChildren(h("h3", { text: "By a method, in a gallery" }), h("p", { text: "There is no gallery yet. Index the study’s images with cirque index." }));
    } catch (error) {
      byMethod.replaceChildren(h("p", { text: error.message }));
    }
  }
  async function watch(run) {
    bar.hidden = false;
    for (;;) {
      const now = await api("GET", `analysis/scores/run?id=${encodeURIComponent(run)}`);
      bar.max = now.total || 1;
      bar.value = now.done;
      said.textContent = now.problem || now.text;
      if (now.problem) return tell(now.problem);
      if (now.finished) return done(now);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
  function done() {
    toast("Scores added");
    say("Scores added");
    if (open) asks.close();
    changed();
  }
}
