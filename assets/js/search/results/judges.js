// What metrics say of a comparison. Asked for after the vote is drawn, so that it delays no vote; the server answers
// nobody who has not voted.
import { onDraw } from "../actions.js";
import { $, fillIn } from "../page.js";

let known = { vote: "", html: "" };

async function fill() {
  const place = $("#results [data-judges]");
  const { judges = "", vote = "", who = "" } = place?.dataset ?? {};
  if (!place || !vote) return;
  if (known.vote !== vote) {
    const answer = await fetch("judges/comparison", { method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ comparison: judges, who }) }).then((reply) => reply.json()).catch(() => ({}));
    known = { vote, html: answer.html ?? "" };
  }
  const now = $("#results [data-judges]"); // which was perhaps drawn again meanwhile
  if (now?.dataset.vote === known.vote) fillIn(now, known.html);
}
onDraw(fill);
