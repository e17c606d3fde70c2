// Methods side by side: the form that starts them, and votes from the keyboard.
import { on, until } from "../../shared/common.js";
import { act, onDraw, soon } from "../actions.js";
import { voter } from "../address.js";
import { closeDrawers } from "../drawers.js";
import { $, $$, queryField, shown, fillIn } from "../page.js";
import { marks } from "./marks.js";
import { nextReference } from "./next.js";

on("submit", (event) => {
  const form = event.target.closest("form[data-columns-form]");
  if (!form) return;
  event.preventDefault();
  const data = new FormData(form);
  const methods = data.getAll("methods");
  const line = $("[data-columns-problem]", form);
  const problem = methods.length < 2 ? "Choose at least two methods." : methods.length > 6 ? "Choose at most six methods."
    : !String(data.get("text")).trim() && !shown().turn && !methods.includes("image-only") ? "Say what should be different." : "";
  line?.replaceChildren(problem);
  line?.toggleAttribute("hidden", !problem);
  if (problem) return;
  closeDrawers();
  act("compare_methods", {
    methods, text: data.get("text"), blind: data.get("blind") === "on", fresh: data.get("fresh") === "on", who: voter(),
    ...marks(), reference: nextReference(),
  });
});

// What is typed in the query goes along into the drawer.
on("click", (event) => {
  if (!event.target.closest("button[data-drawer=columns]")) return;
  const typed = queryField()?.value.trim();
  if (typed) setTimeout(() => { for (const field of $$("#drawer-columns input[name=text]")) field.value = typed; });
});

on("keydown", (event) => {
  const columns = $("#results .cq-columns");
  if (!columns || event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]") || document.body.dataset.drawer) return;
  if (event.target.matches?.("input, textarea, select")) return;
  const button = event.key === "0" ? $(".cq-neither [data-choice=none]") : $$(".cq-vote", columns).find((one) => Number(one.dataset.choice) + 1 === Number(event.key));
  if (!button) return;
  event.preventDefault();
  soon("vote", { choice: button.dataset.choice }); // the last of several quick ones counts
});

// The words go along into the search that follows.
let words = "";
on("click", (event) => {
  words = event.target.closest("[data-act=use_method]")?.dataset.text || "";
}, true);
onDraw(({ action, failed }) => {
  const field = queryField();
  if (action === "use_method" && !failed && words && field && !field.value) field.value = words;
});

// What metrics say of a comparison. Asked for after the vote is drawn, so that it delays no vote; the server answers
// nobody who has not voted.
let known = { vote: "", html: Promise.resolve("") };

async function ask(/** @type {string} */ comparison, /** @type {string} */ who) {
  const answer = await fetch("judges/comparison", { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ comparison, who }) }).then((reply) => reply.json()).catch(() => ({}));
  return answer.html ?? "";
}

async function fill() {
  const place = $("#results [data-judges]");
  const { judges = "", vote = "", who = "" } = place?.dataset ?? {};
  if (!place || !vote) return;
  if (known.vote !== vote) known = { vote, html: ask(judges, who) }; // once, however often it is drawn meanwhile
  const asked = known, html = await asked.html;
  const now = $("#results [data-judges]"); // which was perhaps drawn again meanwhile
  if (now?.dataset.vote === asked.vote) fillIn(now, html);
}
onDraw(() => until(fill()));
