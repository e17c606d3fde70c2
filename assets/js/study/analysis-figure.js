// One figure: drawn when it comes near the window, drawn anew in place, saved as SVG or PNG.
import { giveFile } from "./files.js";
import { h, toast } from "./common.js";
import { onTheme, plotly, themed } from "./analysis-plotly.js";

const CONFIG = { displayModeBar: false, responsive: false, doubleClick: "reset", scrollZoom: false };
const NEAR = "700px";
const CELL_PX = 44, NAMES_PX = 150; // a heatmap may scroll sideways, but is not squeezed
const PRINT_PX = 860;
const USUAL_PX = 340;

// ``cell({a, b, key}, element)`` hears of a click on a cell that opens something. ``fileName(key)``: without ending.
export function createFigure({ cell, fileName }) {
  const title = h("h3", {}), note = h("p", { class: "cq-quiet", hidden: true });
  const plot = h("div", { class: "cq-an-plot cq-shimmer", role: "img", tabindex: "-1" });
  const scroll = h("div", { class: "cq-stscroll" }, plot);
  const element = h("figure", { class: "cq-an-figure" },
    h("div", { class: "cq-an-head" }, title, h("span", { class: "cq-row" }, save("svg", "SVG"), save("png", "PNG"))), scroll, note);
  let figure = null, known = "", near = false, drawn = false, drawing = Promise.resolve();

  function save(format, label) {
    return h("button", { class: "cq-btn small", type: "button", text: label, "aria-label": `Save the figure as ${label}`, onclick: async () => {
      try {
        const { data, layout } = themed(figure.spec, { print: true });
        const height = layout.height ?? USUAL_PX, width = Math.max(PRINT_PX, least(figure.spec));
        const content = await (await plotly()).toImage({ data, layout: { ...layout, width, height } }, { format, width, height, scale: format === "png" ? 3 : 1 });
        giveFile(content, `${fileName(figure.key)}.${format}`);
      } catch (error) {
        toast(error.message || "This figure could not be saved.");
      }
    } });
  }

  const draw = () => { drawing = drawing.then(drawNow, drawNow); return drawing; };
  async function drawNow() {
    if (!figure || !near || !element.isConnected) return;
    try {
      const { data, layout } = themed(figure.spec), library = await plotly();
      await library.react(plot, data, layout, CONFIG);
      plot.classList.remove("cq-shimmer");
      note.hidden = true;
      if (drawn) return;
      drawn = true;
      plot.on("plotly_click", ({ points: [point] }) => { const opens = under(point); if (opens) cell(opens, plot); });
      plot.on("plotly_hover", ({ points: [point] }) => plot.classList.toggle("opens", Boolean(under(point))));
      plot.on("plotly_unhover", () => plot.classList.remove("opens"));
    } catch (error) {
      plot.classList.remove("cq-shimmer");
      note.textContent = error.message;
      note.hidden = false;
    }
  }
  // What the cell of a heatmap opens, if anything.
  const under = (point) => (Array.isArray(point?.pointNumber) ? figure.cells?.[point.pointNumber.join(",")] : null);

  const approaching = new IntersectionObserver(([{ isIntersecting }]) => {
    if (!isIntersecting || near) return;
    near = true;
    approaching.disconnect();
    draw();
  }, { rootMargin: NEAR });
  approaching.observe(element);
  let width = 0;
  const sized = new ResizeObserver(([{ contentRect }]) => {
    if (!drawn || !contentRect.width || Math.abs(contentRect.width - width) < 1) return;
    width = contentRect.width;
    window.Plotly.Plots.resize(plot);
  });
  sized.observe(plot);
  const unwatch = onTheme(draw);

  return {
    element,
    put(next) {
      const said = JSON.stringify(next);
      if (said === known) return;
      [figure, known] = [next, said];
      title.textContent = next.title;
      plot.setAttribute("aria-label", next.alt);
      plot.style.minWidth = `${least(next.spec)}px`;
      plot.style.height = `${next.spec.layout?.height ?? USUAL_PX}px`;
      if (near) draw();
    },
    leave() {
      approaching.disconnect();
      sized.disconnect();
      unwatch();
      if (drawn) window.Plotly.purge(plot);
    },
  };
}

function least({ data }) {
  const heat = (data ?? []).find(({ type }) => type === "heatmap");
  return heat?.z?.length ? NAMES_PX + CELL_PX * heat.z[0].length : 0;
}
