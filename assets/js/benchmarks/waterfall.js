// The filters of the paper's Table 3: a bar for what each stage leaves, and how many it drops. A row shows its sessions.
import { DROPS, STAGES } from "./words.js";
import { h, toggle } from "../shared/elements.js";
import { count } from "../studies/words.js";

/** @param {{ stages: string[], show(what: string): void }} of ``show`` hears which sessions are wanted */
export function createWaterfall({ stages, show }) {
  /** @type {(what: string, name: string, title: string) => { button: HTMLButtonElement, left: HTMLElement, gone: HTMLElement, number: HTMLElement, minus: HTMLElement }} */
  const row = (what, name, title) => {
    const left = h("i", { class: "left" }), gone = h("i", { class: "gone" }), number = h("b", { class: "num" }), minus = h("span", { class: "minus num" });
    const button = h("button", { type: "button", title, onclick: () => { show(button.getAttribute("aria-pressed") === "true" ? "all" : what); } },
      h("span", { class: "name", text: name }), h("span", { class: "bar", "aria-hidden": "true" }, left, gone),
      h("span", { class: "cell" }, number, h("span", { class: "sr", text: " left, " })), h("span", { class: "cell" }, minus, h("span", { class: "sr", text: what === "kept" ? " of all" : " dropped" })));
    return { button, left, gone, number, minus };
  };
  const all = row("all", "Sessions", "All sessions");
  const rows = new Map(stages.map((stage) => [stage, row(stage, STAGES[stage] ?? stage, `Sessions dropped because ${DROPS[stage] ?? stage}`)]));
  const kept = row("kept", "Kept", "Sessions that every filter keeps");
  return {
    element: h("div", { class: "cq-be-fall", role: "group", "aria-label": "Sessions after each filter" }, all.button, [...rows.values()].map(({ button }) => button), kept.button),
    /** @param {BenchmarkPage} page @param {string} shown */
    put({ all: total, waterfall }, shown) {
      const wide = (/** @type {number} */ part) => `${total ? (100 * part) / total : 0}%`;
      all.left.style.width = wide(total);
      all.number.textContent = count(total);
      toggle(all.button, shown === "all");
      for (const { stage, removed, left } of waterfall) {
        const one = rows.get(stage);
        if (!one) continue;
        one.left.style.width = wide(left);
        one.gone.style.width = wide(removed);
        one.number.textContent = count(left);
        one.minus.textContent = removed ? `−${count(removed)}` : "0";
        one.minus.classList.toggle("none", !removed);
        toggle(one.button, shown === stage);
      }
      const left = waterfall.at(-1)?.left ?? total;
      kept.left.style.width = wide(left);
      kept.number.textContent = count(left);
      kept.minus.textContent = total ? `${((100 * left) / total).toFixed(0)} %` : "";
      toggle(kept.button, shown === "kept");
    },
  };
}
