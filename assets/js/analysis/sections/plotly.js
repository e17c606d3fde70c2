// plotly, fetched when the first figure is near the window; and how figures look by day and by night.
import { OWN, h } from "../../shared/elements.js";

let fetching = /** @type {Promise<Plotly> | null} */ (null);
// Resolves to plotly, or throws a sentence; the next figure tries again then.
export function plotly() {
  fetching ??= new Promise((resolve, reject) => {
    const script = h("script", { src: new URL("plotly.js", OWN).href, onload: () => resolve(window.Plotly), onerror: () => {
      fetching = null;
      script.remove();
      reject(new Error("The chart library could not be loaded. The numbers are in the tables."));
    } });
    document.head.append(script);
  });
  return fetching;
}

/** @typedef {{ tickfont?: object }} Axis */

const CLEAR = "rgba(0,0,0,0)";
const PRINT = { ink: "#1c1a17", soft: "#5c564b", line: "#c9c4b8", card: "#ffffff", paper: "#ffffff" };

/** @returns {Record<string, string>} */
function colours() {
  const of = getComputedStyle(document.body);
  return Object.fromEntries(["ink", "soft", "line", "card"].map((name) => [name, of.getPropertyValue(`--${name}`).trim()]));
}

// The figure of a report, which brings no colours of text and paper, in those of the page.
/** @param {Spec} spec @param {{ print?: boolean }} how ``print``: in those of a page of paper */
export function themed({ data, layout }, { print = false } = {}) {
  const { ink, soft, line, card, paper = CLEAR } = print ? PRINT : colours();
  const family = getComputedStyle(document.body).getPropertyValue("--sans").trim() || "sans-serif";
  const own = /** @type {Layout} */ (structuredClone(layout ?? {}));
  const axes = Object.fromEntries(Object.entries(own).filter(([name]) => /^[xy]axis\d*$/.test(name))
    .map(([name, axis]) => [name, { .../** @type {Axis} */ (axis), linecolor: line, tickcolor: line, tickfont: { .../** @type {Axis} */ (axis).tickfont, color: soft } }]));
  return { data: structuredClone(data ?? []), layout: { ...own, ...axes, autosize: !print, dragmode: false, paper_bgcolor: paper, plot_bgcolor: CLEAR,
    font: { size: 12.5, ...own.font, family, color: ink },
    hoverlabel: { ...own.hoverlabel, bgcolor: card, bordercolor: line, font: { family, color: ink } } } };
}

// Calls ``changed`` whenever the page goes light or dark; answers what ends that.
export function onTheme(/** @type {() => void} */ changed) {
  let dark = document.body.classList.contains("dark");
  const watch = new MutationObserver(() => {
    if (dark === document.body.classList.contains("dark")) return;
    dark = !dark;
    changed();
  });
  watch.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  return () => watch.disconnect();
}
