// What metrics say of a comparison. Asked for after the vote is drawn, so that it delays no vote; the server answers
// nobody who has not voted.
import { until } from "../../shared/common.js";
import { onDraw } from "../actions.js";
import { $, fillIn } from "../page.js";

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
