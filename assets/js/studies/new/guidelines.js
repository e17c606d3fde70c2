// Guidelines of a study: Markdown with pictures, and how people will read them.
import { createDelay, api, h, messageOf, tellIn } from "../../shared/common.js";
import { readable } from "../../annotate/guide.js";

const WAIT_MS = 400;

/** A text and what becomes of it. @param {{ value: string, read(text: string): Promise<{ nodes: GuideNode[] }>, changed(text: string): void }} of */
export function guideEditor({ value, read, changed }) {
  const shown = h("div", { class: "cq-stguide" }), problem = h("p", { class: "cq-inline", role: "alert", hidden: true }), typed = createDelay(WAIT_MS);
  const text = h("textarea", { rows: 10, value, maxlength: 50000, dir: "auto", "aria-label": "Guidelines", placeholder: "# What to look at\n\nTake a query as valid if …\n\n![An example](example.jpg)",
    oninput: () => { changed(text.value); typed.start(draw); } });
  let asked = 0;
  async function draw() {
    const mine = ++asked;
    if (!text.value.trim()) return shown.replaceChildren(h("p", { class: "cq-quiet", text: "No guidelines yet. People read the standard ones for this kind of study." }));
    try {
      const found = await read(text.value);
      if (mine !== asked) return;
      tellIn(problem, "");
      shown.replaceChildren(readable(found.nodes));
    } catch (error) {
      if (mine === asked) tellIn(problem, messageOf(error));
    }
  }
  return { element: h("div", {}, h("div", { class: "cq-sttwin" }, text, shown), problem), draw, stop: typed.stop };
}

/** @param {string} draft @param {string} text */
export const draftGuide = (draft, text) => api("POST", "studies/new/guide", { draft, text });
