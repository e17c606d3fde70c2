// The adjudication screen: the queue, one item with all that was said of it, and the decision.
import { createDesk } from "./desk.js";
import { keyTable } from "./keys.js";
import { queuePart } from "./queue.js";
import { api, at, dialogOpen, h, messageOf, openScreen, say, setKeys, toast, typing } from "../shared/common.js";
import { screenOf } from "../annotate/kinds.js";
import { listed, rowOf } from "../shared/key-table.js";
import { fetchAhead } from "../shared/pictures.js";

const STALE_MS = 60000;

// ``during`` takes the call that saves: another case is opened only when it has ended.
/** @typedef {{ found: OpenCase, number: number, during<T>(call: Promise<T>): Promise<T>, decided(item: string, said: string): Promise<unknown>, answered(found: OpenCase): void }} CaseOf */

/** @param {HTMLElement} element */
export const mount = (element) => openScreen(element, { page: "adjudicate", styles: ["study", "studies"], css: "cq-ad" }, (body, { slot }) => {
  const name = new URL(window.location.href).searchParams.get("study");
  return name ? studyView(body, slot, name) : chooseStudy(body);
});

async function chooseStudy(/** @type {HTMLElement} */ body) {
  const { studies } = await api("GET", "adjudicate/studies");
  body.classList.add("cq-adchoose");
  if (!studies.length) {
    return body.replaceChildren(h("div", { class: "cq-none" }, h("h2", { text: "No study yet" }),
      h("p", { text: "Studies appear here if their settings say which items need a decision." })));
  }
  body.replaceChildren(h("h1", { text: "Adjudicate" }), h("ul", { class: "cq-stlist" }, studies.map(({ name, done, decisions }) =>
    h("li", { class: "cq-stcard" }, h("h2", {}, h("a", { href: at(`adjudicate?study=${encodeURIComponent(name)}`), text: name, dir: "auto" })),
      h("p", { class: "cq-quiet num", text: `${done.toLocaleString("en")} answers · ${decisions.toLocaleString("en")} adjudicated` })))));
}

async function studyView(/** @type {HTMLElement} */ body, /** @type {HTMLElement} */ slot, /** @type {string} */ name) {
  const query = `study=${encodeURIComponent(name)}`;
  const [page, first] = await Promise.all([api("GET", `study/rubric?${query}`), api("GET", `adjudicate/queue?${query}`)]);
  slot.replaceChildren(h("b", { class: "cq-adwhere", text: name, dir: "auto" }));
  const queue = queuePart(choose);
  const stage = h("div", { class: "cq-adstage" });
  body.replaceChildren(queue.element, stage);
  const blur = () => { if (document.activeElement instanceof HTMLElement) document.activeElement.blur(); };
  const cases = /** @type {Map<string, { read: number, promise: Promise<OpenCase> }>} */ (new Map()); // item → {read, promise}
  let view = /** @type {ReturnType<typeof import("./case.js").caseView> | null} */ (null), asked = 0, queueRead = Date.now();
  let saving = /** @type {Promise<boolean> | null} */ (null), chosen = ""; // ``chosen``: the case to go to once it is saved
  const step = (/** @type {number} */ by) => {
    const to = queue.step(by);
    if (to) choose(to);
  };
  // A rubric has a view with keys for the judges' answers; all else is decided on the screen of its judges.
  const own = "flags" in page ? await import("./case.js") : null, module = own ? null : await screenOf(first.kind);
  const desk = module && createDesk({ name, kind: first.kind, module, page, step });
  let whole = /** @type {ReturnType<NonNullable<typeof desk>["show"]> | null} */ (null);
  setKeys(module ? module.keysOf(page) : listed(keyTable()));

  const readCase = (/** @type {string} */ item) => {
    const known = cases.get(item);
    if (known && Date.now() - known.read < STALE_MS) return known.promise;
    const promise = api("GET", `adjudicate/case?${query}&item=${encodeURIComponent(item)}`);
    cases.set(item, { read: Date.now(), promise });
    promise.catch(() => cases.delete(item));
    return promise;
  };
  async function readQueue() {
    queueRead = Date.now();
    queue.put((await api("GET", `adjudicate/queue?${query}`)).cases);
  }

  /** @type {CaseOf["during"]} */
  function during(call) {
    const mine = saving = call.then(() => true, () => false);
    mine.then(() => { if (saving === mine) saving = null; });
    return call;
  }
  async function choose(/** @type {string} */ item) {
    if (saving) {
      chosen = item;
      const saved = await saving;
      if (chosen !== item) return;
      chosen = "";
      if (!saved) return; // the case says why
    }
    const mine = ++asked;
    queue.at(item);
    let found;
    try {
      found = await readCase(item);
    } catch (error) {
      if (mine === asked) toast(messageOf(error));
      return;
    }
    if (mine !== asked) return;
    cases.delete(item); // what is said of it may change until it is opened again
    const url = new URL(window.location.href);
    url.searchParams.set("item", item);
    window.history.replaceState(null, "", url);
    show(found, true);
    const next = queue.step(1);
    if (next) {
      readCase(next).then(({ item: { reference, target } }) =>
        fetchAhead([reference, target].flatMap((it) => (!it || it.missing ? [] : [it.large])))).catch(() => {});
    }
  }
  function show(/** @type {OpenCase} */ found, fresh = false) {
    const of = { found, number: queue.number(found.item.id) ?? found.number, during, decided,
      answered(/** @type {OpenCase} */ after) {
        queue.answered(found.item.id, after.why ?? null);
        if (!chosen) show(after);
      } };
    view = own ? own.caseView({ ...of, name, rubric: /** @type {Rubric} */ (page) }) : null;
    whole = desk ? desk.show(of) : null;
    const elements = view?.elements ?? whole?.elements ?? [];
    stage.replaceChildren(...elements.filter((element) => element !== null));
    stage.classList.toggle("whole", Boolean(whole));
    if (stage.contains(document.activeElement) || typing(document.activeElement)) blur();
    stage.scrollTop = 0;
    const { judgements } = found;
    say(`${fresh ? `Case ${found.number}. ` : ""}${judgements ? `${judgements.length} judgements.` : "Answer it yourself first."} ${found.item.text ?? ""}`);
  }
  async function decided(/** @type {string} */ item, /** @type {string} */ said) {
    queue.decided(item);
    toast(said);
    if (Date.now() - queueRead > STALE_MS) readQueue().catch(() => {});
    if (chosen) return;
    const mine = asked;
    for (let next = queue.after(item); next; next = queue.after(next)) {
      const found = await readCase(next).catch(() => null); // choosing it says what is wrong
      if (mine !== asked) return; // the person has chosen
      if (!found?.decided) return choose(next);
      queue.decided(next); // by somebody else, meanwhile
      cases.delete(next);
    }
    await readQueue().catch(() => {}); // others may have judged meanwhile
    const more = queue.open();
    return more ? choose(more) : finished(true);
  }
  function finished(/** @type {boolean} */ some) {
    [view, whole] = [null, null];
    desk?.close();
    asked += 1;
    queue.at("");
    const again = some || queue.first() ? h("button", { class: "cq-btn", type: "button", text: "Review decided cases", onclick: () => queue.only("decided") }) : null;
    stage.replaceChildren(h("div", { class: "cq-none cq-adend" },
      h("h2", { text: again ? "All decided" : "Nothing to adjudicate" }),
      h("p", { text: again ? "Every case of this study has a decision. You can still revise one: choose it on the left."
        : "By the rule of this study, no item needs a decision so far. The rule is on the study’s page, on the tab Settings." }),
      h("div", { class: "cq-row" }, again, h("a", { class: "cq-btn", href: `${at("studies")}?${query}`, text: "Go to the study" }))));
    blur();
    say(again ? "All decided" : "Nothing to adjudicate");
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialogOpen() || event.isComposing) return;
    if (typing(event.target) && whole) return;
    if (typing(event.target)) {
      if (event.key === "Escape") blur();
      else if (event.key === "Enter" && !event.shiftKey && view?.isReason(event.target)) view.save();
      else return;
      return event.preventDefault();
    }
    if ((event.key === "Enter" || event.key === " ") && /** @type {Element} */ (event.target).closest("button, a, summary")) return;
    if (whole) {
      if (event.shiftKey && whole.shifted(event.key.toUpperCase())) event.preventDefault();
      return;
    }
    const row = rowOf(keyTable(step, view), event);
    if (!row || row.does?.(event.key) === false) return;
    event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) readQueue().catch(() => {}); });

  queue.put(first.cases);
  const wanted = new URL(window.location.href).searchParams.get("item") || queue.open();
  if (wanted) await choose(wanted);
  if (!view && !whole) {
    const open = wanted && queue.open();
    if (open) await choose(open);
    else finished(false);
  }
}
