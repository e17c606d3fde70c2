// The page's side of the search screen. Panels are drawn by the server (web/search/screen.py); this
// file passes actions to it and keeps what belongs to the browser: focus, selection, address.
(() => {
  const cirque = (window.cirque = window.cirque || {});
  const MINE = "cirque.sessions";
  const MINE_KEPT = 200;

  let trigger = null;
  const waiting = [];
  const afterDraw = [];
  cirque.onDraw = (callback) => afterDraw.push(callback);
  const afterLive = [];
  cirque.onLive = (callback) => afterLive.push(callback); // after each drawing of what is still going on

  cirque.$ = (selector, root = document) => root.querySelector(selector);
  cirque.$$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  cirque.top = () => cirque.$(".cq-top");
  cirque.gallery = () => cirque.top()?.dataset.gallery || "";

  // Elements from plain values. Text is set as text: nothing here is parsed as HTML.
  cirque.make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "text") element.textContent = value;
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  };

  // --- actions to the server ---------------------------------------------------------

  const SLOW = new Set(["search", "compare_methods", "settings", "open_session", "new", "deal", "target"]);
  const GIVEN_UP_MS = 20000;
  let pending = null;

  const busy = () => pending && performance.now() - pending.since < GIVEN_UP_MS;

  // Says whether the action was sent: one at a time.
  cirque.act = (name, data = {}) => {
    if (busy()) {
      if (cirque.$(".cq-live")) cirque.toast("Still at it. Esc stops it and keeps what has been found.");
      return false;
    }
    const { turn, reference } = cirque.top().dataset; // lets a restarted server pick up where we are
    pending = { name, turn, since: performance.now() };
    document.body.classList.add("cq-busy");
    if (SLOW.has(name)) document.body.classList.add("cq-loading");
    cirque.$(".cq-grid")?.setAttribute("aria-busy", "true");
    const send = () => trigger("act", { do: name, shown_turn: turn, shown_reference: reference, ...data });
    if (trigger) send();
    else waiting.push(send);
    return true;
  };

  // An action of which only the newest counts, such as a slider being dragged: it waits for the
  // one under way and is never lost. Values that were not sent yet are joined; ``shape`` has the
  // last word on them when they are.
  let queued = null;
  cirque.soon = (name, data) => {
    const { turn } = cirque.top().dataset;
    queued = { name, turn, data: queued?.name === name && queued.turn === turn ? { ...queued.data, ...data } : data };
    flush();
  };
  cirque.waits = () => Boolean(queued);
  function flush() {
    if (!queued || busy()) return;
    const { name, turn, data: { shape, ...values } } = queued;
    queued = null;
    if (turn === cirque.top().dataset.turn) cirque.act(name, shape ? shape(values) : values);
  }

  cirque.done = () => {
    pending = null;
    document.body.classList.remove("cq-busy", "cq-loading");
    cirque.$(".cq-grid")?.removeAttribute("aria-busy");
    setTimeout(flush, 0); // after what is drawn now has been seen to
  };

  // --- panels ------------------------------------------------------------------------

  let scheduled = false;
  let beat = "";

  cirque.mount = (element, send, watch, name) => {
    if (name === "top") {
      trigger = send;
      waiting.splice(0).forEach((call) => call());
    }
    watch("value", () => {
      if (scheduled) return;
      scheduled = true;
      setTimeout(drawn, 0); // after every panel of this answer has been drawn
    });
  };

  function drawn() {
    scheduled = false;
    const top = cirque.top();
    if (!top || top.dataset.beat === beat) {
      if (pending && cirque.$(".cq-live")) { // still at it
        pending.since = performance.now();
        document.body.classList.remove("cq-loading");
        if (top?.dataset.session) address(top.dataset.session);
        for (const callback of afterLive) callback();
      }
      return restore();
    }
    beat = top.dataset.beat;
    const finished = pending?.name || "";
    // A search that was stopped at once is no mistake, but leads nowhere either.
    const failed = Boolean(top.dataset.problem) || (finished === "search" && top.dataset.turn === pending.turn);
    cirque.done();
    restore();
    address(top.dataset.session);
    cirque.say(top.dataset.problem || top.dataset.notice || heard(finished));
    for (const callback of afterDraw) callback({ action: finished, failed });
  }

  function heard(action) {
    const title = cirque.$("#results .cq-title")?.textContent || "";
    const count = cirque.$$("#results .cq-grid [role=option]").length;
    return action === "search" && count ? `${count} results for ${title}` : "";
  }

  // What a person folded stays folded when a panel is drawn again.
  const folded = new Map();
  document.addEventListener("click", (event) => {
    const fold = event.target.closest("summary")?.parentElement;
    if (fold?.dataset.keep) setTimeout(() => folded.set(fold.dataset.keep, fold.open));
  });
  const narrow = window.matchMedia("(max-width: 1100px)");
  narrow.addEventListener("change", () => restore());
  function restore() {
    for (const element of cirque.$$("details[data-keep]")) {
      const key = element.dataset.keep;
      const open = folded.has(key) ? folded.get(key) : (key === "how" || element.dataset.unfold === "wide") && !narrow.matches;
      if (element.open !== open) element.open = open;
    }
    document.body.classList.toggle("cq-has-how", Boolean(cirque.$(".cq-how")));
    document.body.classList.toggle("cq-searched", Boolean(cirque.$(".cq-turns")));
    for (const image of cirque.$$(".gradio-container img")) image.classList.toggle("cq-pending", !image.complete);
  }
  document.addEventListener("load", (event) => event.target.classList?.remove("cq-pending"), true);
  document.addEventListener("error", (event) => {
    if (event.target.tagName !== "IMG") return;
    event.target.classList.remove("cq-pending");
    event.target.closest(".pic, .cq-frame")?.classList.add("cq-missing");
  }, true);

  // --- address, own sessions, live region, theme -----------------------------------------

  // Another session is another entry of the history, so that Back leads to the one before.
  // What the page was opened with is corrected in place.
  let addressed = false;
  function address(session) {
    const url = new URL(window.location.href);
    if ((url.searchParams.get("session") || "") !== session) {
      if (session) url.searchParams.set("session", session);
      else url.searchParams.delete("session");
      window.history[addressed ? "pushState" : "replaceState"](window.history.state, "", url);
    }
    addressed = true;
    if (session) remember(session);
  }
  window.addEventListener("popstate", () => window.location.reload());

  // Read and written in one go: two tabs must not forget each other's sessions.
  cirque.mine = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(MINE) || "[]");
      return Array.isArray(kept) ? kept : [];
    } catch {
      return [];
    }
  };
  function remember(session) {
    try {
      const kept = cirque.mine().filter((known) => known !== session);
      localStorage.setItem(MINE, JSON.stringify([session, ...kept].slice(0, MINE_KEPT)));
    } catch { /* private windows may not store anything */ }
  }

  const region = cirque.make("div", { class: "sr", "aria-live": "polite", id: "cq-said" });
  const start = (callback) =>
    document.body ? callback() : document.addEventListener("DOMContentLoaded", callback);
  cirque.start = start;
  start(() => document.body.append(region));
  cirque.say = (text) => { if (text) region.textContent = text; };

  let toastTimer = 0;
  cirque.toast = (text) => {
    let toast = cirque.$(".cq-toast");
    if (!toast) document.body.append((toast = cirque.make("div", { class: "cq-toast", role: "status" })));
    toast.textContent = text;
    toast.classList.add("show");
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => toast.classList.remove("show"), 2600);
  };

  const THEME = "cirque.theme";
  start(() => {
    const asked = new URL(window.location.href).searchParams.get("__theme");
    let kept = null;
    try { kept = localStorage.getItem(THEME); } catch { /* as above */ }
    if (!asked && kept) document.body.classList.toggle("dark", kept === "dark");
  });
  cirque.toggleTheme = () => {
    const dark = document.body.classList.toggle("dark");
    try { localStorage.setItem(THEME, dark ? "dark" : "light"); } catch { /* as above */ }
  };

  cirque.copy = async (text, said) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // plain http on another host has no clipboard
      const area = cirque.make("textarea", { class: "sr" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    cirque.toast(said);
  };

  for (const call of window.cirquePending || []) cirque.mount(...call);
})();
