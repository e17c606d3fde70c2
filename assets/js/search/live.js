// A search that is still going on.
import { on } from "../shared/common.js";
import { onLive } from "./actions.js";
import { $, $$, narrow } from "./page.js";

export function stop() {
  const run = $(".cq-live")?.dataset.run;
  const button = $("button#cq-stop");
  if (!run || !button) return false;
  if (button.disabled) return true;
  button.disabled = true;
  $("span", button)?.replaceChildren("Stopping…");
  fetch(`runs/${encodeURIComponent(run)}/stop`, { method: "POST" }).catch(() => { button.disabled = false; });
  return true;
}
// Pressed, not clicked: the panel may be drawn again between the press and the release.
on("pointerdown", (event) => { if (event.button === 0 && event.target.closest("[data-stop]")) stop(); });
on("click", (event) => { if (event.target.closest("[data-stop]")) stop(); });

// On a phone the query is above: what is going on comes into view once.
let watched = "", rounds = 0;
onLive(() => {
  const run = $(".cq-live")?.dataset.run ?? "";
  const cards = $$(".cq-live .cq-round").length;
  if (cards > rounds) $(".cq-live .cq-rounds")?.scrollTo({ left: 1e6, behavior: "smooth" }); // to the one being written
  rounds = cards;
  if (run === watched) return;
  watched = run;
  if (narrow(720).matches) $("#results")?.scrollIntoView({ block: "start", behavior: "smooth" });
});
