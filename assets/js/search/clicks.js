// What the attributes in the templates mean: data-act, data-drawer, data-open, data-copy, …
(() => {
  const { $, $$, act } = cirque;

  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest(selector);
    let hit;
    if ((hit = on("[data-act]"))) {
      const { act: name, ...data } = hit.dataset;
      closeDrawers();
      return act(name, data);
    }
    if (on("[data-drawer-close]")) return closeDrawers();
    if ((hit = on("button[data-drawer]"))) return openDrawer(hit.dataset.drawer, hit);
    if ((hit = on("[data-large]"))) return cirque.enlarge(hit.dataset.large, hit.dataset.caption);
    if ((hit = on("[data-picker]"))) return cirque.pick(hit.dataset.picker);
    if (on("[data-upload]")) return cirque.browse();
    if ((hit = on("[data-chip]"))) return cirque.ask(hit.dataset.chip);
    if (on("[data-found]")) return cirque.found();
    if ((hit = on("[data-refine]"))) return cirque.refine(hit.dataset.refine || undefined);
    if ((hit = on("[data-rename]"))) return rename(hit.dataset.rename, hit.dataset.name);
    if ((hit = on("[data-copy]"))) {
      return hit.dataset.copy === "link"
        ? cirque.copy(window.location.href.split("&__theme")[0], $("[data-unkept]")
          ? "Link copied. It opens the turn without your changes: keep them as a turn first."
          : "Link copied. Whoever opens it continues this session.")
        : cirque.copy(hit.dataset.text, "Copied.");
    }
    if ((hit = on("[data-open]"))) {
      if (hit.dataset.open === "theme") return cirque.toggleTheme();
      if (hit.dataset.open === "keys") return cirque.showKeys();
      if (hit.dataset.open === "play") return cirque.play();
    }
    for (const menu of $$("details.cq-menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });

  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches("[data-live]")) act("live", { on: box.checked });
    if (box.matches("[data-side]")) {
      const sides = { left: box.dataset.left, right: box.dataset.right };
      sides[box.dataset.side === "0" ? "left" : "right"] = box.value;
      act("compare", sides);
    }
  });

  // --- forms -----------------------------------------------------------------------------

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.form) return;
    event.preventDefault();
    const data = Object.fromEntries(new FormData(form));
    if (form.dataset.form === "settings") closeDrawers();
    if (form.dataset.form === "search") {
      Object.assign(data, cirque.marks());
      if (act("search", data)) cirque.asked = data.text;
      return;
    }
    act(form.dataset.form, data);
  });

  document.addEventListener("keydown", (event) => {
    if (event.target.id === "cq-text" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
  });

  cirque.ask = (text) => {
    const field = $("#cq-text");
    field.value = text;
    field.form.requestSubmit();
  };

  document.addEventListener("input", (event) => {
    const output = event.target.closest(".cq-slide")?.querySelector("output");
    if (output) output.textContent = Number(event.target.step) >= 1 ? event.target.value : Number(event.target.value).toFixed(2);
  });
  document.addEventListener("reset", (event) => setTimeout(() => {
    for (const slide of $$("input[type=range]", event.target)) slide.dispatchEvent(new Event("input", { bubbles: true }));
  }));

  // --- drawers ---------------------------------------------------------------------------

  let opener = null;
  function openDrawer(name, from) {
    const drawer = document.getElementById(`drawer-${name}`);
    if (!drawer) return;
    opener = from;
    $("form", drawer)?.reset();
    cirque.methodParts?.();
    document.body.dataset.drawer = name;
    setTimeout(() => $("input:checked, button", drawer)?.focus({ preventScroll: true }), 60);
  }
  function closeDrawers() {
    if (!document.body.dataset.drawer) return false;
    delete document.body.dataset.drawer;
    opener?.focus?.({ preventScroll: true });
    return true;
  }
  cirque.closeDrawers = closeDrawers;
  cirque.openDrawer = openDrawer;

  // Tab stays inside an open drawer.
  document.addEventListener("keydown", (event) => {
    const name = document.body.dataset.drawer;
    if (event.key !== "Tab" || !name) return;
    const stops = $$("button, input, select, a[href]", document.getElementById(`drawer-${name}`))
      .filter((element) => element.offsetParent !== null);
    const edge = event.shiftKey ? stops[0] : stops[stops.length - 1];
    if (document.activeElement === edge) {
      event.preventDefault();
      (event.shiftKey ? stops[stops.length - 1] : stops[0]).focus();
    }
  });

  async function rename(branch, name) {
    const answer = await cirque.askFor("Name this branch", name, "for example: darker, with collar");
    if (answer !== null) act("name_branch", { branch, name: answer });
  }
})();
