// Dialogs: a picture large, the gallery picker, the keys, a question. Made here, outside the
// panels, so that drawing a panel again does not close them.
(() => {
  const { $, make } = cirque;

  function dialog(attributes, ...children) {
    const element = make("dialog", attributes, ...children);
    element.addEventListener("click", (event) => { if (event.target === element) element.close(); });
    cirque.start(() => document.body.append(element));
    return element;
  }
  const closer = () => make("button", { class: "cq-icon close", "aria-label": "Close", title: "Close (Esc)",
    onclick: (event) => event.target.closest("dialog").close(), text: "×" });

  // --- a picture, large --------------------------------------------------------------------

  const picture = make("img", { alt: "" });
  const caption = make("p", { "aria-live": "polite" });
  const previous = make("button", { class: "cq-step", "aria-label": "Previous result", text: "‹", onclick: () => step(-1) });
  const next = make("button", { class: "cq-step", "aria-label": "Next result", text: "›", onclick: () => step(1) });
  const refine = make("button", { class: "cq-btn primary", onclick: () => { light.close(); cirque.refine(tile.dataset.image); } },
    "Refine from this ", make("kbd", { text: "r", "aria-hidden": "true" }));
  const found = make("button", { class: "cq-btn", text: "Found it", onclick: () => { light.close(); cirque.found(tile.dataset.image); } });
  const light = dialog({ class: "cq-light", "aria-label": "Picture" },
    closer(), previous, make("figure", {}, picture, make("figcaption", {}, caption, make("div", { class: "cq-row" }, refine, found))), next);
  let tile = null;
  // A small picture is not blown up beyond twice its size: blur shows nothing more.
  picture.addEventListener("load", () => { picture.style.maxWidth = `${Math.max(320, 2 * picture.naturalWidth)}px`; });

  function show(full, text, alt) {
    picture.src = full;
    picture.alt = alt || text;
    caption.textContent = text;
    for (const element of [previous, next, refine]) element.hidden = !tile;
    found.hidden = !tile || $("#results .cq-grid")?.dataset.target !== "open";
    if (!light.open) light.showModal();
  }
  cirque.enlarge = (full, text) => { tile = null; show(full, text || ""); };
  cirque.enlargeTile = (which) => {
    tile = which;
    const total = cirque.tiles().length;
    show(tile.dataset.full, `Rank ${tile.dataset.rank} of ${total} · score ${tile.dataset.score}`, $(".sr", tile).textContent);
    refine.focus({ preventScroll: true });
  };
  function step(by) {
    const all = cirque.tiles();
    const to = all[all.indexOf(tile) + by];
    if (!to) return;
    cirque.select(to);
    cirque.enlargeTile(to);
  }
  light.addEventListener("close", () => tile?.focus({ preventScroll: true }));
  light.addEventListener("keydown", (event) => {
    if (!tile) return;
    if (event.key === "ArrowLeft" || event.key === "ArrowUp") { event.preventDefault(); step(-1); }
    if (event.key === "ArrowRight" || event.key === "ArrowDown") { event.preventDefault(); step(1); }
    if (event.key === "r") { event.preventDefault(); refine.click(); }
    if (event.key === "f" && !found.hidden) { event.preventDefault(); found.click(); }
    if (event.key === "o") { event.preventDefault(); light.close(); }
  });

  // --- the gallery picker --------------------------------------------------------------------

  const PURPOSES = { reference: "Pick a reference", target: "Pick a target" };
  const heading = make("h2", {});
  const field = make("input", { type: "text", role: "searchbox", placeholder: "Search the gallery by words", "aria-label": "Search the gallery by words",
    maxlength: 300, autocomplete: "off" });
  const answer = make("p", { class: "cq-quiet", role: "status" });
  const grid = make("div", { class: "cq-pickgrid", role: "group", "aria-label": "Gallery pictures" });
  const picker = dialog({ class: "cq-picker", "aria-label": "Gallery" },
    make("header", {}, heading, closer()), make("div", { class: "cq-find" }, field), answer, grid);
  let purpose = "reference", timer = 0, asked = 0;

  cirque.pick = (why) => {
    purpose = PURPOSES[why] ? why : "reference";
    heading.textContent = PURPOSES[purpose];
    field.value = "";
    picker.showModal();
    field.focus();
    find();
  };
  async function find() {
    const mine = ++asked;
    const query = new URLSearchParams({ gallery: cirque.gallery(), text: field.value });
    picker.classList.add("busy");
    try {
      const response = await fetch(`media/find?${query}`);
      const found = await response.json();
      if (mine !== asked) return;
      answer.textContent = found.error || (field.value.trim() ? `The closest ${found.images.length}` : "A random handful. Type to search.");
      grid.replaceChildren(...(found.images || []).map((item) => make("button", {
        class: "cq-tile", "aria-label": item.alt, onclick: () => { picker.close(); cirque.act(purpose, { image: item.id }); },
      }, make("span", { class: "pic" }, make("img", { src: item.thumb, alt: "", loading: "lazy", width: 160, height: 160 })))));
    } catch {
      if (mine === asked) answer.textContent = "The server does not answer. Check that it is running and try again.";
    } finally {
      if (mine === asked) picker.classList.remove("busy");
    }
  }
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(find, 220); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); clearTimeout(timer); find(); }
    if (event.key === "ArrowDown") { event.preventDefault(); grid.firstElementChild?.focus(); }
  });
  grid.addEventListener("keydown", (event) => {
    const all = [...grid.children];
    const at = all.indexOf(document.activeElement);
    const columns = Math.max(1, getComputedStyle(grid).gridTemplateColumns.split(" ").length);
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    if (at + steps[event.key] < 0) return field.focus();
    all[Math.min(all.length - 1, at + steps[event.key])]?.focus();
  });

  // --- find a target: how to begin ---------------------------------------------------------

  const play = dialog({ class: "cq-small", "aria-label": "Find a target" },
    make("header", {}, make("h2", { text: "Find a target" }), closer()),
    make("p", { text: "You see a picture and a starting point some way off. Get there with words and picks; every turn's rank is kept and shown when you end." }),
    make("div", { class: "cq-row" },
      make("button", { class: "cq-btn primary", text: "Deal me one", onclick: () => { play.close(); cirque.act("deal"); } }),
      make("button", { class: "cq-btn", text: "Choose from the gallery", onclick: () => { play.close(); cirque.pick("target"); } }),
      make("button", { class: "cq-btn", id: "cq-aim", text: "The selected result", onclick: () => { play.close(); cirque.act("target", { image: cirque.selected().dataset.image }); } })));
  cirque.play = () => {
    $("#cq-aim", play).hidden = !cirque.selected();
    play.showModal();
    $(".primary", play).focus();
  };

  // --- a question, the keys ------------------------------------------------------------------

  const input = make("input", { type: "text", maxlength: 80 });
  const question = make("h2", {});
  const form = make("form", { method: "dialog" }, make("header", {}, question), input,
    make("div", { class: "cq-row" }, make("button", { class: "cq-btn primary", value: "ok", text: "Save" }),
      make("button", { class: "cq-btn", value: "", type: "button", text: "Cancel", onclick: () => asks.close("") })));
  const asks = dialog({ class: "cq-small", "aria-label": "Question" }, form);
  cirque.askFor = (text, value, hint) => new Promise((resolve) => {
    question.textContent = text;
    input.value = value || "";
    input.placeholder = hint || "";
    input.setAttribute("aria-label", text);
    asks.returnValue = "";
    asks.showModal();
    input.select();
    asks.addEventListener("close", () => resolve(asks.returnValue === "ok" ? input.value.trim() : null), { once: true });
  });

  // Something to be read before it goes on, with ``after``.
  cirque.tell = (title, text, button, after = () => {}) => {
    const tells = dialog({ class: "cq-small", "aria-label": title }, make("header", {}, make("h2", { text: title })),
      make("p", { role: "alert", text, dir: "auto" }),
      make("div", { class: "cq-row" }, make("button", { class: "cq-btn primary", type: "button", text: button, onclick: () => tells.close() })));
    tells.addEventListener("close", () => { tells.remove(); after(); });
    tells.showModal();
  };

  const KEYS = [
    ["/", "Go to the text"], ["Enter", "Search (in the text), open large (on a result)"], ["Shift Enter", "New line in the text"],
    ["← ↑ → ↓", "Move between results"], ["Space", "Select a result"], ["o", "Open the selected result large, close it"],
    ["r", "Refine from the selected result"], ["+  −", "More, less like the selected result"], ["z  u", "Back one turn"],
    ["Ctrl Z", "Undo a change to this turn"], ["f", "Found it (with a target)"],
    ["g", "Pick a reference from the gallery"], ["Ctrl V", "Paste a picture as reference"], ["Esc", "Stop a search, from the text to the results, close what is open"],
    ["Delete", "Remove the chip in focus; Enter edits it"],
    ["?", "These keys"],
  ];
  const keys = dialog({ class: "cq-small", "aria-label": "Keys" },
    make("header", {}, make("h2", { text: "Keys" }), closer()),
    make("dl", { class: "cq-keys" }, ...KEYS.map(([key, what]) => make("div", {},
      make("dt", {}, ...key.split("  ").map((one) => make("kbd", { text: one }))), make("dd", { text: what })))));
  cirque.showKeys = () => keys.showModal();
})();
