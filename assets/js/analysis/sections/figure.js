// One figure: drawn when it comes near the window, drawn anew in place, downloaded as an image that the server draws.
import { fileMenu } from "../../shared/files.js";
import { h, messageOf, tellIn, toast, until } from "../../shared/common.js";
import { sideways } from "./table.js";
import { OWN } from "../../shared/elements.js";

const CONFIG = { displayModeBar: false, responsive: false, doubleClick: "reset", scrollZoom: false };
const NEAR = "700px";
const CELL_PX = 44, PLAIN_CELL_PX = 18, NAMES_PX = 170; // a heatmap may scroll sideways, but is not squeezed
const MANY = 8; // people; from here on a heatmap has a row for itself
const FORMS = [["svg", "SVG"], ["pdf", "PDF"], ["png", "PNG"]];
const USUAL_PX = 340;

/**
 * @param {{ cell(of: Pair, element: HTMLElement): void, address(key: string, form: string): string }} of ``cell`` hears of a click on a cell that opens
 * something; ``address``: of an image file
 */
export function createFigure({ cell, address }) {
  const title = h("h3", {}), note = h("figcaption", { class: "cq-quiet", dir: "auto", hidden: true }), wrong = h("p", { class: "cq-quiet", hidden: true });
  const plot = /** @type {HTMLDivElement & Plot} */ (h("div", { class: "cq-an-plot cq-shimmer", role: "img", tabindex: "-1" }));
  const scroll = h("div", { class: "cq-stscroll" }, plot), legend = h("p", { class: "cq-an-scale num", hidden: true });
  let figure = /** @type {Figure | null} */ (null), known = "", near = false, drawn = false, left = false, width = 0, drawing = /** @type {Promise<unknown>} */ (Promise.resolve());
  const menu = fileMenu("Download", FORMS.map(([form, what]) => ({ what, address: () => (figure ? address(figure.key, form) : "#") })), toast);
  const element = h("figure", { class: "cq-an-figure" },
    h("div", { class: "cq-an-head" }, title, h("div", { class: "cq-an-tools" }, menu)), scroll, legend, wrong, note);

  const draw = () => { drawing = until(drawing.then(drawNow, drawNow)); return drawing; };
  const wanted = () => (left || !near || !element.isConnected ? null : figure);
  async function drawNow() {
    if (!wanted()) return;
    try {
      const library = await plotly();
      const now = wanted(); // whoever looked may have gone while it was fetched
      if (!now) return;
      const { data, layout } = themed(now.spec);
      if (!outside(now.spec).hidden) for (const it of data) if (it.type === "heatmap") it.showscale = false;
      await library.react(plot, data, layout, CONFIG);
      if (left) return library.purge(plot);
      plot.classList.remove("cq-shimmer");
      wrong.hidden = true;
      if (drawn) return;
      drawn = true;
      plot.on("plotly_click", ({ points: [point] }) => { const opens = under(point); if (opens) cell(opens, plot); });
      plot.on("plotly_hover", ({ points: [point] }) => plot.classList.toggle("opens", Boolean(under(point))));
      plot.on("plotly_unhover", () => plot.classList.remove("opens"));
    } catch (error) {
      plot.classList.remove("cq-shimmer");
      tellIn(wrong, messageOf(error));
    }
  }
  // What the cell of a heatmap opens, if anything.
  const under = (/** @type {Point | undefined} */ point) => (Array.isArray(point?.pointNumber) ? figure?.cells?.[point.pointNumber.join(",")] : null);

  // The colours of a heatmap that is scrolled stand under it, where they stay.
  function outside(/** @type {Spec} */ spec) {
    const heat = heatmap(spec);
    legend.hidden = !(heat && scroll.clientWidth && least(spec) > scroll.clientWidth);
    if (!heat || legend.hidden) return legend;
    const colours = h("i", { "aria-hidden": "true" });
    if (Array.isArray(heat.colorscale)) colours.style.background = `linear-gradient(to right, ${heat.colorscale.map(([, colour]) => colour).join(", ")})`;
    legend.replaceChildren(heat.colorbar?.title?.text ?? "", h("span", {}, String(heat.zmin ?? 0), colours, String(heat.zmax ?? 1)));
    return legend;
  }

  const approaching = new IntersectionObserver(([{ isIntersecting }]) => {
    if (!isIntersecting || near) return;
    near = true;
    approaching.disconnect();
    draw();
  }, { rootMargin: NEAR });
  approaching.observe(element);
  const sized = new ResizeObserver(() => {
    const now = scroll.clientWidth, before = legend.hidden;
    if (!figure || !drawn || left || !now || Math.abs(now - width) < 1) return;
    width = now;
    if (outside(figure.spec).hidden !== before) draw();
    else window.Plotly.Plots.resize(plot);
  });
  sized.observe(scroll);
  const unwatch = onTheme(draw), unmark = sideways(scroll);

  return {
    element,
    put(/** @type {Figure} */ next) {
      const content = JSON.stringify(next);
      if (content === known) return;
      [figure, known] = [next, content];
      title.textContent = next.title;
      menu.firstElementChild?.setAttribute("aria-label", `Download: ${next.title}`);
      tellIn(note, next.note);
      plot.setAttribute("aria-label", next.alt);
      plot.style.minWidth = `${least(next.spec)}px`;
      plot.style.height = `${next.spec.layout?.height ?? USUAL_PX}px`;
      element.classList.toggle("wide", (heatmap(next.spec)?.z?.length ?? 0) >= MANY);
      if (near) draw();
    },
    leave() {
      left = true;
      approaching.disconnect();
      sized.disconnect();
      unmark();
      unwatch();
      if (drawn) window.Plotly.purge(plot);
    },
  };
}

const heatmap = (/** @type {Spec} */ { data }) => (data ?? []).find(({ type, showscale }) => type === "heatmap" && showscale !== false);

// Cells in which something is written need more room.
function least(/** @type {Spec} */ spec) {
  const across = heatmap(spec)?.z?.[0]?.length ?? 0;
  return across ? NAMES_PX + across * (spec.data.some(({ mode }) => mode === "text") ? CELL_PX : PLAIN_CELL_PX) : 0;
}

// plotly, fetched when the first figure is near the window; and how figures look by day and by night.
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

/** @returns {Record<string, string>} */
function colours() {
  const of = getComputedStyle(document.body);
  return Object.fromEntries(["ink", "soft", "line", "card"].map((name) => [name, of.getPropertyValue(`--${name}`).trim()]));
}

// The figure of a report, which brings no colours of text and paper, in those of the page.
function themed(/** @type {Spec} */ { data, layout }) {
  const { ink, soft, line, card } = colours();
  const family = getComputedStyle(document.body).getPropertyValue("--sans").trim() || "sans-serif";
  const own = /** @type {Layout} */ (structuredClone(layout ?? {}));
  const axes = Object.fromEntries(Object.entries(own).filter(([name]) => /^[xy]axis\d*$/.test(name))
    .map(([name, axis]) => [name, { .../** @type {Axis} */ (axis), linecolor: line, tickcolor: line, tickfont: { .../** @type {Axis} */ (axis).tickfont, color: soft } }]));
  return { data: structuredClone(data ?? []), layout: { ...own, ...axes, autosize: true, dragmode: false, paper_bgcolor: CLEAR, plot_bgcolor: CLEAR,
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
