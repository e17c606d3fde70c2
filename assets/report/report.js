// Draws the figures of a report in the colours of the page, again whenever it goes light or dark, and saves them.
(() => {
  "use strict";
  const root = document.documentElement, button = document.getElementById("theme");
  const night = matchMedia("(prefers-color-scheme: dark)");
  const PRINT = { ink: "#1f1b16", card: "#ffffff", line: "#c9c4b8" }, PRINT_PX = 660, CLEAR = "rgba(0,0,0,0)";
  const figures = [...document.querySelectorAll("script[data-figure]")].map((script) => ({
    key: script.dataset.figure, spec: JSON.parse(script.textContent),
    plot: document.getElementById(`plot-${script.dataset.figure}`), save: script.parentElement.querySelector(".save"),
  }));

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : night.matches);

  function colours() {
    const { color, fontFamily } = getComputedStyle(document.body), card = document.querySelector("figure, main");
    return { ink: color, family: fontFamily, card: getComputedStyle(card).backgroundColor, line: "rgba(128,128,128,0.5)" };
  }

  function themed({ data, layout }, { ink, card, line, family = colours().family }, more = {}) {
    return { data: structuredClone(data), layout: { ...structuredClone(layout), paper_bgcolor: CLEAR, plot_bgcolor: CLEAR,
      font: { family, color: ink, size: 12.5 }, hoverlabel: { bgcolor: card, bordercolor: line, font: { family, color: ink } }, ...more } };
  }

  function draw(palette = colours(), more = {}) {
    for (const { spec, plot } of figures) {
      const { data, layout } = themed(spec, palette, { autosize: true, ...more });
      Plotly.react(plot, data, layout, { responsive: true, displayModeBar: false });
    }
  }

  function download({ key, spec, plot }, format) {
    const size = { width: Math.max(plot.clientWidth, 480), height: spec.layout.height };
    const figure = themed(spec, { ...PRINT, family: colours().family }, { ...size, autosize: false, paper_bgcolor: "#ffffff" });
    Plotly.downloadImage(figure, { format, filename: key, scale: format === "png" ? 2 : 1, ...size });
  }

  // A table that scrolls ends with a whole row.
  const TALLEST = 560, tables = [...document.querySelectorAll(".table .across")];
  function whole() {
    for (const box of tables) {
      box.style.maxHeight = "";
      const bars = box.offsetHeight - box.clientHeight, top = box.getBoundingClientRect().top + box.clientTop;
      const ends = [...box.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect().bottom - top + box.scrollTop);
      const cut = ends.at(-1) > TALLEST, last = ends.findLast((end) => end <= TALLEST);
      box.classList.toggle("more", cut);
      if (cut && last) box.style.maxHeight = `${Math.ceil(last) + bars}px`;
    }
  }
  whole();
  addEventListener("resize", whole);

  const words = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.onclick = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    words();
    if (figures.length) draw();
  };
  words();
  if (!figures.length) return;
  for (const figure of figures) {
    figure.save.hidden = false;
    for (const one of figure.save.children) one.onclick = () => download(figure, one.dataset.form);
  }
  night.addEventListener("change", () => { words(); draw(); });
  addEventListener("beforeprint", () => draw(PRINT, { width: PRINT_PX, autosize: false }));
  addEventListener("afterprint", () => draw());
  draw();
})();
