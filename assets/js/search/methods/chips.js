// Live searches, rounds of reflection, the soft filter's chips and dials, the details of a method.
(() => {
  const { $, $$, make } = cirque;

  // --- a search that is still going on ----------------------------------------------------

  cirque.stop = () => {
    const run = $(".cq-live")?.dataset.run;
    const button = $("#cq-stop");
    if (!run || !button) return false;
    if (button.disabled) return true;
    button.disabled = true;
    $("span", button).textContent = "Stopping…";
    fetch(`runs/${encodeURIComponent(run)}/stop`, { method: "POST" }).catch(() => { button.disabled = false; });
    return true;
  };
  // Pressed, not clicked: the panel may be drawn again between the press and the release.
  document.addEventListener("pointerdown", (event) => { if (event.button === 0 && event.target.closest("[data-stop]")) cirque.stop(); });
  document.addEventListener("click", (event) => { if (event.target.closest("[data-stop]")) cirque.stop(); });

  // On a phone the query is above: what is going on comes into view once.
  let watched = "", rounds = 0;
  cirque.onLive(() => {
    const { run } = $(".cq-live").dataset;
    const cards = $$(".cq-live .cq-round").length;
    if (cards > rounds) $(".cq-live .cq-rounds").scrollTo({ left: 1e6, behavior: "smooth" }); // to the one being written
    rounds = cards;
    if (run === watched) return;
    watched = run;
    if (window.matchMedia("(max-width: 720px)").matches) $("#results")?.scrollIntoView({ block: "start", behavior: "smooth" });
  });

  // --- rounds --------------------------------------------------------------------------------

  // The reasoning of all rounds is read together.
  document.addEventListener("toggle", (event) => {
    if (event.target.dataset?.keep !== "reasons") return;
    for (const other of $$("details[data-keep=reasons]")) if (other.open !== event.target.open) other.open = event.target.open;
  }, true);

  const rewrite = (started) => cirque.edit(started, {
    find: () => $(`[data-rewrite="${started.dataset.rewrite}"]`),
    done: (text, element) => {
      if (!text) { element.textContent = element.dataset.text; return; }
      cirque.soon("adjust", { rounds: Number(element.dataset.rewrite), rewritten: text });
    },
  });

  // --- chips -----------------------------------------------------------------------------------

  const facets = (side) => $$(".cq-facet .text", side);
  const value = (text) => text.dataset.new ?? text.dataset.facet;
  let refocus = null; // where the keyboard goes on after the chips have been drawn anew

  const drawn = () => Object.fromEntries($$("[data-filter] [data-side]").map((one) => [one.dataset.side, facets(one).map(value).filter(Boolean)]));
  // What was asked for and is not drawn yet: the next change adds to it.
  let wanted = null;
  function send(side, from, to) {
    const { turn } = cirque.top().dataset;
    if (wanted?.turn !== turn) wanted = { turn, constraints: drawn() };
    const constraints = { ...wanted.constraints };
    const texts = [...constraints[side.dataset.side] || []];
    const at = from ? texts.indexOf(from) : -1;
    texts.splice(at < 0 ? texts.length : at, at < 0 ? 0 : 1, ...(to ? [to] : []));
    constraints[side.dataset.side] = texts;
    wanted.constraints = constraints;
    cirque.soon("adjust", { constraints, edited: side.dataset.kind });
  }
  function change(text, to) {
    const side = text.closest("[data-side]");
    const from = value(text);
    refocus = { side: side.dataset.side, at: Math.max(0, facets(side).indexOf(text) - (to ? 0 : 1)), add: !to && facets(side).length === 1 };
    send(side, from, to);
    text.dataset.new = to;
    text.closest(".cq-facet").classList.toggle("leaving", !to);
  }
  const sideOf = (name) => $(`[data-filter] [data-side=${name}]`);
  function alter(started) {
    const { side } = started.closest("[data-side]").dataset;
    const facet = value(started);
    cirque.edit(started, {
      find: (now) => {
        const there = sideOf(side);
        if (!there) return null;
        // Its chip may be gone: then it goes on as a new one.
        return facets(there).find((text) => value(text) === facet) || (there.contains(now) && !now.dataset.facet ? now : fresh(there));
      },
      done: (to, text) => (text.dataset.facet ? change(text, to) : send(sideOf(side), "", to)),
    });
  }
  function fresh(side) {
    const button = $("[data-add]", side);
    const text = make("span", { class: "text", role: "textbox", "aria-label": `New text under ${side.getAttribute("aria-label")}`,
      "data-facet": "", "data-hint": button.dataset.example });
    button.closest("li").before(make("li", { class: "cq-facet fresh" }, text));
    return text;
  }
  function add(button) {
    const name = button.closest("[data-side]").dataset.side;
    cirque.finishEdit(true);
    cirque.edit(fresh(sideOf(name)), {
      find: (now) => {
        const there = sideOf(name);
        if (there && there.contains(now) && now.dataset.facet === "" && now.closest(".fresh")) return now;
        now.closest(".fresh")?.remove();
        return there && fresh(there);
      },
      done: (to, text) => {
        refocus = { side: name, add: true };
        send(sideOf(name), "", to);
        text.dataset.new = to;
      },
      gone: (byKey, text) => {
        text.closest(".fresh")?.remove();
        if (byKey) $("[data-add]", sideOf(name))?.focus();
      },
    });
  }

  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest(selector);
    let hit;
    if ((hit = on("[data-rounds]"))) return cirque.soon("adjust", { rounds: Number(hit.dataset.rounds), rewritten: null });
    if ((hit = on("[data-rewrite]"))) return rewrite(hit);
    if ((hit = on("[data-off]"))) return change($(".text", hit.closest(".cq-facet")), "");
    if ((hit = on("[data-add]"))) return add(hit);
    if ((hit = on("[data-mode]"))) return cirque.soon("adjust", { mode: hit.dataset.mode });
    if ((hit = on(".cq-facet .text"))) return alter(hit);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.isContentEditable) return;
    const target = event.target;
    if (target.matches?.("[data-rewrite]") && (event.key === "Enter" || event.key === "F2")) {
      event.preventDefault();
      return rewrite(target);
    }
    if (target.matches?.("[data-mode]") && /^Arrow/.test(event.key)) {
      event.preventDefault();
      event.stopPropagation();
      const all = $$("[data-mode]", target.parentElement);
      const to = all[(all.indexOf(target) + (/Left|Up/.test(event.key) ? all.length - 1 : 1)) % all.length];
      to.focus();
      return cirque.soon("adjust", { mode: to.dataset.mode });
    }
    const stop = target.closest?.(".cq-facet .text, [data-add]");
    if (!stop) return;
    const stops = $$(".cq-facet .text, [data-add]", target.closest("[data-side]"));
    const at = stops.indexOf(stop);
    const does = {
      ArrowLeft: () => stops[at - 1]?.focus(), ArrowRight: () => stops[at + 1]?.focus(),
      Home: () => stops[0].focus(), End: () => stops[stops.length - 1].focus(),
    };
    if (stop.matches(".text")) {
      does.Enter = does.F2 = does[" "] = () => alter(stop);
      does.Delete = does.Backspace = () => change(stop, "");
    }
    if (!does[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    does[event.key]();
  });

  window.addEventListener("beforeunload", (event) => { if ($(".cq-changes[data-unkept]")) event.preventDefault(); });

  // --- dials -------------------------------------------------------------------------------------

  let gesture = 0, sent = -1, dragging = false;
  const settle = () => { dragging = false; gesture += 1; };
  document.addEventListener("pointerdown", (event) => { dragging ||= event.target.matches?.("[data-weight]"); });
  document.addEventListener("pointerup", settle);
  document.addEventListener("pointercancel", settle);
  document.addEventListener("keyup", (event) => { if (event.target.matches?.("[data-weight]")) gesture += 1; });
  document.addEventListener("input", (event) => {
    if (!event.target.matches("[data-weight]")) return;
    const mine = gesture; // one gesture is one step to undo, however many values it passes
    cirque.soon("adjust", { weight: Number(event.target.value), shape: (data) => {
      const going_on = sent === mine;
      sent = mine;
      return { ...data, going_on };
    } });
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-moves]")) cirque.act("moves", { on: event.target.checked });
  });

  // --- after a new drawing ---------------------------------------------------------------------

  cirque.onDraw(({ action }) => {
    for (const slider of $$("[data-weight]")) {
      const output = $("output", slider.parentElement);
      if (!dragging && !cirque.waits()) slider.value = slider.dataset.value;
      output.textContent = Number(slider.value).toFixed(2);
    }
    if (!cirque.waits()) wanted = null;
    for (const box of $$("[data-moves]")) box.checked = box.dataset.on === "yes";
    for (const chip of $$(".cq-facet.fresh")) if (!$(".editing", chip)) chip.remove();
    for (const text of $$(".cq-facet .text")) {
      if (text.isContentEditable) continue;
      delete text.dataset.new;
      text.closest(".cq-facet").classList.remove("leaving");
      if (text.textContent !== text.dataset.facet) text.textContent = text.dataset.facet;
    }
    for (const text of $$("[data-rewrite]")) if (!text.isContentEditable && text.textContent !== text.dataset.text) text.textContent = text.dataset.text;
    if (cirque.editing()) {
      cirque.restoreEdit();
      refocus = null;
      return;
    }
    if (action === "filter") $("[data-side=prescriptive] [data-add]")?.focus();
    if (action === "adjust" && refocus) {
      const side = $(`[data-filter] [data-side=${refocus.side}]`);
      if (side && (document.activeElement === document.body || document.activeElement?.closest("[data-filter]"))) {
        (refocus.add ? $("[data-add]", side) : facets(side)[refocus.at] || $("[data-add]", side))?.focus();
      }
      refocus = null;
    }
  });

  // --- the details of a method -------------------------------------------------------------------

  // "history=feedback": methods whose history is that; "reflection": methods that have any. No method is
  // named here: this script stands in the head of every page, also of judges'.
  const applies = (part, method) => {
    const [field, wanted] = part.split("=");
    return wanted ? method[field] === wanted : Boolean(method[field]);
  };
  const chosen = () => {
    const radio = $("#drawer-settings [name=method]:checked");
    return radio && JSON.parse(radio.dataset.settings);
  };
  cirque.methodParts = () => {
    const method = chosen();
    if (!method) return;
    const parts = $$("#drawer-settings [data-part-of]");
    for (const part of parts) part.hidden = !applies(part.dataset.partOf, method);
    $("#drawer-settings .cq-defaults").hidden = parts.every((part) => part.hidden);
  };
  function fillDetails() {
    const method = chosen();
    const form = $("#drawer-settings form");
    const { rounds, images, captions, fusion, history_weight } = method.reflection || {};
    const { weight, mode } = method.soft_filter || {};
    const { alpha, beta, gamma, decay, text_weight } = method;
    for (const [name, to] of Object.entries({ alpha, beta, gamma, decay, text_weight, rounds, images, captions, fusion, history_weight, weight, mode })) {
      const field = form.elements[name];
      if (to === undefined || !field) continue;
      field.value = to;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    cirque.methodParts();
  }
  document.addEventListener("change", (event) => { if (event.target.matches("#drawer-settings [name=method]")) fillDetails(); });
  document.addEventListener("click", (event) => { if (event.target.closest("#drawer-settings [data-reset]")) fillDetails(); });

  // --- what is typed survives a connection that drops -----------------------------------------------

  const TYPED = "cirque.typed";
  const place = () => cirque.top()?.dataset.session || "";
  function keepTyped(text) {
    try {
      if (text) sessionStorage.setItem(TYPED, JSON.stringify({ session: place(), text }));
      else sessionStorage.removeItem(TYPED);
    } catch { /* private windows may not store anything */ }
  }
  document.addEventListener("input", (event) => { if (event.target.id === "cq-text") keepTyped(event.target.value); });
  let restored = false;
  cirque.onDraw(({ action, failed }) => {
    const field = $("#cq-text");
    if (!field) return;
    if (action === "search" && !failed) keepTyped(field.value);
    if (restored) return;
    restored = true;
    try {
      const kept = JSON.parse(sessionStorage.getItem(TYPED) || "null");
      if (kept && !field.value && kept.session === place()) field.value = kept.text;
    } catch { /* as above */ }
  });
})();
