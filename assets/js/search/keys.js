// Keys that work anywhere on the page. The list people see is in dialogs.js.
(() => {
  const { $ } = cirque;
  const writing = (element) => element.isContentEditable || element.matches?.("input:not([type=range], [type=checkbox], [type=radio]), textarea");
  const typing = (element) => writing(element) || element.matches?.("input, select");

  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "z" && !writing(event.target) && $(".cq-changes [data-act=undo]")) {
      event.preventDefault();
      cirque.act("undo");
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = $("#cq-text");
    if (event.key === "Escape") {
      if (cirque.closeDrawers()) return;
      if (cirque.stop()) return;
      if (event.target === field) (cirque.selected() || cirque.tiles()[0] || field).focus();
      return;
    }
    if (typing(event.target) || document.body.dataset.drawer) return;
    const tile = event.target.closest?.("#results .cq-grid [role=option]");
    const does = {
      "/": () => field?.focus(),
      "?": () => cirque.showKeys(),
      r: () => cirque.refine(),
      z: () => $(".cq-turns") && cirque.act("back"),
      u: () => $(".cq-turns") && cirque.act("back"),
      g: () => cirque.pick("reference"),
      f: () => $("[data-found]") && cirque.found(),
      "+": () => cirque.mark("more"),
      "=": () => cirque.mark("more"),
      "-": () => cirque.mark("less"),
      o: () => cirque.selected() && cirque.enlargeTile(cirque.selected()),
    };
    if (tile || !event.target.closest?.("button, a, summary, [role=button], [role=textbox]")) {
      for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
        if (tile || key === "ArrowRight" || key === "ArrowLeft") does[key] = () => cirque.move(key);
      }
    }
    if (tile) {
      does.Home = () => cirque.move("Home");
      does.End = () => cirque.move("End");
      does[" "] = () => cirque.select(tile, { focus: true });
      does.Enter = () => { cirque.select(tile); cirque.enlargeTile(tile); };
    }
    if (!does[event.key]) return;
    event.preventDefault();
    does[event.key]();
  });
})();
