// The cases of a study, by number. Why one needs a decision is known once one has answered it oneself.
import { h, stay } from "../shared/common.js";

/** @type {Record<string, [string, string]>} */
export const WHY = {
  unsure: ["unsure", "A judge was unsure"], tie: ["tie", "Tie: as many judges on one side as on the other"],
  split: ["split", "Judges differ"], flags: ["flags", "All say not valid, for different reasons"],
  agreement: ["agreement", "The judges’ mean agreement is low"],
};

export function queuePart(/** @type {(item: string) => void} */ choose) {
  let cases = /** @type {Case[]} */ ([]), here = "", only = "open";
  const list = h("ol", { class: "cq-adlist" });
  const filter = h("div", { class: "cq-adfilter", role: "group", "aria-label": "Which cases" });
  const left = h("p", { class: "cq-quiet num", role: "status" });
  const element = h("nav", { class: "cq-adqueue", "aria-label": "Cases" }, h("header", {}, h("h2", { text: "Cases" }), left), filter, list);

  /** @param {Case} it */
  const fits = (it) => (only === "all" || (only === "decided" ? it.decided : !it.decided && (only === "open" || it.why === only)));
  const shown = () => cases.filter((it) => fits(it) || it.item === here);

  function draw() {
    const open = cases.filter((it) => !it.decided), whys = Object.keys(WHY).filter((why) => open.some((it) => it.why === why));
    if (!["open", "decided", "all"].includes(only) && !whys.includes(only)) only = "open";
    left.textContent = open.length ? `${open.length} to decide` : cases.length ? "All decided" : "None so far";
    filter.hidden = !cases.length;
    /** @type {[string, string, number][]} */
    const choices = [["open", "Open", open.length], ...(whys.length > 1 ? whys.map((why) => /** @type {[string, string, number]} */ ([why, WHY[why][0], open.filter((it) => it.why === why).length])) : []),
      ["decided", "Decided", cases.length - open.length]];
    filter.replaceChildren(...choices.map(([value, name, number]) => h("button", { type: "button", "aria-pressed": String(only === value),
      "data-only": value, onmousedown: stay, onclick: () => { only = value; draw(); } }, `${name} `, h("span", { class: "num", text: number }))));
    list.replaceChildren(...shown().map((it) => h("li", {}, h("button", { type: "button", class: it.decided ? "decided" : "",
      "aria-current": it.item === here ? "true" : null, "data-item": it.item, title: (it.why && WHY[it.why]?.[1]) || (it.answered ? "" : "Not answered by you yet"), onmousedown: stay, onclick: () => choose(it.item) },
    h("b", { class: "num", text: `Case ${it.number}` }), it.why ? h("span", { class: `cq-chip ${it.why}`, text: WHY[it.why]?.[0] ?? it.why }) : null,
    it.decided ? h("span", { class: "cq-addone", text: "decided" }) : null))));
    list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  return {
    element,
    put(/** @type {Case[]} */ these) { cases = these; draw(); },
    at(/** @type {string} */ item) { here = item; draw(); },
    decided(/** @type {string} */ item) {
      cases = cases.map((it) => (it.item === item ? { ...it, decided: true } : it));
      draw();
    },
    answered(/** @type {string} */ item, /** @type {Case["why"]} */ why) {
      cases = cases.map((it) => (it.item === item ? { ...it, why, answered: true } : it));
      draw();
    },
    // The case ``by`` places on in what is shown, or null.
    step(/** @type {number} */ by) {
      const all = shown(), place = all.findIndex((it) => it.item === here);
      return all[place < 0 ? 0 : place + by]?.item ?? null;
    },
    // The open case behind this one, from the start again at the end; null when all are decided.
    after(/** @type {string} */ item) {
      const place = cases.findIndex((it) => it.item === item);
      return [...cases.slice(place + 1), ...cases.slice(0, Math.max(0, place))].find((it) => !it.decided)?.item ?? null;
    },
    only(/** @type {string} */ what) { only = what; draw(); },
    open: () => cases.find((it) => !it.decided)?.item ?? null,
    first: () => cases[0]?.item ?? null,
    number: (/** @type {string} */ item) => cases.find((it) => it.item === item)?.number,
  };
}
