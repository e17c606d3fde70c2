// The view for a talk: the reference, the words, the results and the chips; the rest comes back with the same key.
import { h, keptInTab } from "../shared/common.js";
import { address, there } from "./address.js";
import { shown } from "./page.js";

const KEY = "cirque.presentation";
const leave = h("button", { class: "cq-leave", type: "button", title: "Leave the presentation (p)", onclick: () => present(false) },
  h("span", { text: "Leave presentation" }), h("kbd", { text: "p", "aria-hidden": "true" }));
export const presenting = () => document.body.classList.contains("cq-presents");

export function present(on = !presenting()) {
  document.body.classList.toggle("cq-presents", on);
  keptInTab.write(KEY, on || null);
  if (on) document.body.append(leave);
  else leave.remove();
  if (shown().loaded) address({ inPlace: true });
}
if (there().presentation || keptInTab.read(KEY, false)) present(true);
