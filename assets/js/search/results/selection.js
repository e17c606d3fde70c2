// Results: selection, moving between tiles, the ledger of the selected one.
(() => {
  const { $, $$, make } = cirque;
  const tiles = () => $$("#results .cq-grid [role=option]");
  const selected = () => $("#results .cq-grid [role=option][aria-selected=true]");
  cirque.selected = selected;
  cirque.tiles = tiles;

  let chosen = ""; // survives a new drawing of the same turn
  function select(tile, { focus = false } = {}) {
    if (!tile) return;
    chosen = tile.dataset.image;
    for (const other of tiles()) {
      other.setAttribute("aria-selected", String(other === tile));
      other.tabIndex = other === tile ? 0 : -1;
    }
    if (focus) {
      tile.focus({ preventScroll: true });
      tile.scrollIntoView({ block: "nearest", behavior: "smooth" });
    }
    ledger(tile);
    cirque.showAlone?.();
    bar(tile);
  }
  cirque.select = select;

  // On a phone the ledger is far away: a bar above the query says what is selected.
  const holder = make("div", { class: "cq-pickbar", hidden: true });
  cirque.start(() => document.body.append(holder));
  function bar(tile) {
    holder.hidden = !tile;
    document.body.classList.toggle("cq-picking", Boolean(tile));
    if (!tile) return;
    const open = $("#results .cq-grid")?.dataset.target === "open";
    holder.replaceChildren(
      make("img", { src: tile.dataset.thumb, alt: "", width: 36, height: 36 }),
      make("span", { text: `Rank ${tile.dataset.rank}` }),
      cirque.signs(tile),
      open ? make("button", { class: "cq-btn small", onclick: () => cirque.found(tile.dataset.image), text: "Found it" }) : "",
      make("button", { class: "cq-btn small primary", onclick: () => cirque.refine(tile.dataset.image), text: "Refine from this" }));
  }

  document.addEventListener("click", (event) => {
    const tile = event.target.closest("#results .cq-grid [role=option]");
    if (!tile || event.target.closest("[data-mark]")) return;
    const again = tile.getAttribute("aria-selected") === "true" && tile.dataset.touched;
    for (const other of tiles()) delete other.dataset.touched;
    tile.dataset.touched = "yes";
    select(tile, { focus: true });
    if (again) cirque.enlargeTile(tile);
  });

  cirque.move = (key) => {
    const all = tiles();
    if (!all.length) return;
    const from = all.indexOf(document.activeElement);
    const current = from >= 0 ? from : all.indexOf(selected());
    const top = all[0].getBoundingClientRect().top;
    const columns = Math.max(1, all.findIndex((t) => t.getBoundingClientRect().top > top + 4)) || all.length;
    const perRow = all.some((t) => t.getBoundingClientRect().top > top + 4) ? columns : all.length;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -perRow, ArrowDown: perRow,
      Home: -all.length, End: all.length };
    const wanted = current < 0 || from < 0 ? Math.max(0, current) : current + steps[key];
    select(all[Math.min(all.length - 1, Math.max(0, wanted))], { focus: true });
  };

  cirque.refine = (image) => {
    const id = image || selected()?.dataset.image;
    if (!id) return cirque.toast("Select a result first.");
    refocus = true;
    cirque.act("reference", { image: id });
  };
  cirque.found = (image) => {
    const id = image || selected()?.dataset.image;
    if (!id) return cirque.toast("Select the result that is the target.");
    cirque.act("found", { image: id });
  };

  // --- after a new drawing -------------------------------------------------------------

  let refocus = false;
  let shown = "";
  cirque.onDraw(({ action, failed }) => {
    const grid = $("#results .cq-grid[role=listbox]");
    const field = $("#cq-text");
    if (grid && grid.dataset.turn !== shown) {
      shown = grid.dataset.turn;
      for (const tile of tiles()) delete tile.dataset.touched;
      select(tiles()[0]);
    } else if (grid) {
      select(tiles().find((tile) => tile.dataset.image === chosen) || tiles()[0]);
    } else {
      shown = "";
      bar(null);
    }
    if (action === "search" && !failed && field && field.value === cirque.asked) { // else the next text is being typed
      field.value = "";
      if (window.matchMedia("(max-width: 720px)").matches) {
        field.blur();
        $("#results")?.scrollIntoView({ block: "start", behavior: "smooth" });
      } else {
        tiles()[0]?.focus({ preventScroll: true });
        if (window.scrollY > 240) window.scrollTo({ top: 0, behavior: "smooth" });
      }
    }
    if (action === "search" && failed) field?.focus();
    if (refocus || (action === "reference" && !failed)) field?.focus({ preventScroll: true });
    refocus = false;
    // What had the focus (a tile, a turn) was drawn anew: the keyboard goes on from the results.
    if (["back", "turn", "branch", "keep", "reset", "undo"].includes(action) && document.activeElement === document.body) {
      selected()?.focus({ preventScroll: true });
    }
    if (["adjust", "moves", "filter"].includes(action)) return; // the page stays where the person works
    $(".cq-turns .current")?.scrollIntoView({ block: "nearest", inline: "center" });
    $("#strip .cq-turns")?.scrollTo({ left: 1e6 * Number(Boolean($(".cq-turns li:last-child.current"))) });
  });

  // --- ledger ----------------------------------------------------------------------------

  const NAMES = { text: "Text", history: "History", picked: "Picked image", "not picked": "Not picked",
    image: "Image", "image and text": "Image and text", reward: "Must show", penalty: "Must not show" };
  const MARKED = { picked: ["more", "Picked and marked"], "not picked": ["less", "Marked less"] };
  const named = (part) => ($("#results .cq-grid")?.dataset[MARKED[part]?.[0]] ? MARKED[part][1] : NAMES[part]) || part.replace(/^reflection (\d+)$/, "Reflection, round $1");
  const number = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3);

  function ledger(tile) {
    const place = $("[data-ledger]");
    if (!place) return;
    const parts = JSON.parse(tile.dataset.parts || "[]");
    const total = parts.reduce((sum, [, value]) => sum + value, 0);
    const reach = Math.max(
      parts.reduce((sum, [, v]) => sum + Math.max(v, 0), 0), -parts.reduce((sum, [, v]) => sum + Math.min(v, 0), 0), 1e-6,
    );
    const negative = -parts.reduce((sum, [, v]) => sum + Math.min(v, 0), 0);
    const span = reach + negative;
    const bar = make("div", { class: "cq-bar", "aria-hidden": "true" });
    let right = negative, left = negative;
    for (const [name, value] of parts) {
      const width = Math.abs(value);
      const from = value < 0 ? (left -= width) : right;
      if (value >= 0) right += width;
      bar.append(make("i", { "data-part": name, style: `left:${(100 * from) / span}%;width:${(100 * width) / span}%` }));
    }
    bar.append(make("b", { style: `left:${(100 * negative) / span}%` }));
    const rows = parts.map(([name, value]) => make("tr", {},
      make("th", { scope: "row" }, make("i", { "data-part": name }), named(name)),
      make("td", { class: "num", text: number(value) })));
    const sum = make("tr", { class: "total" }, make("th", { scope: "row", text: "Score" }),
      make("td", { class: "num", text: (parts.length ? total : Number(tile.dataset.value)).toFixed(3).replace("-", "−") }));
    const picture = make("button", { class: "thumb", "aria-label": "See it large", onclick: () => cirque.enlargeTile(tile) },
      make("img", { src: tile.dataset.thumb, alt: "", width: 96, height: 96 }));
    const open = $("#results .cq-grid")?.dataset.target === "open";
    place.replaceChildren(
      make("div", { class: "cq-picked" }, picture, make("div", {},
        make("p", {}, make("b", { text: `Rank ${tile.dataset.rank}` })),
        make("p", { class: "cq-quiet id", title: tile.dataset.image, text: tile.dataset.image }),
        make("div", { class: "cq-row" },
          make("button", { class: "cq-btn small primary", onclick: () => cirque.refine(tile.dataset.image) },
            "Refine from this ", make("kbd", { text: "r", "aria-hidden": "true" })),
          cirque.signs(tile),
          open ? make("button", { class: "cq-btn small", onclick: () => cirque.found(tile.dataset.image) }, "Found it") : null))),
      parts.length > 1 ? bar : make("span"),
      make("table", { class: "cq-parts" }, make("tbody", {}, ...rows, sum)),
    );
  }
})();
