// The adjudication screen: the queue, one item with all that was said of it, and the decision.
import { caseView } from "./case.js";
import { keyTable } from "./keys.js";
import { queuePart } from "./queue.js";
import { api, at, dialogOpen, h, messageOf, openScreen, say, setKeys, toast, typing } from "../shared/common.js";
import { listed, rowOf } from "../shared/key-table.js";
import { fetchAhead } from "../shared/pictures.js";

const STALE_MS = 60000;

setKeys(listed(keyTable()));

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
      h("p", { text: "Items that judges are unsure about or disagree on will appear here." })));
  }
  body.replaceChildren(h("h1", { text: "Adjudicate" }), h("ul", { class: "cq-stlist" }, studies.map(({ name, done, decisions }) =>
    h("li", { class: "cq-stcard" }, h("h2", {}, h("a", { href: at(`adjudicate?study=${encodeURIComponent(name)}`), text: name, dir: "auto" })),
      h("p", { class: "cq-quiet num", text: `${done.toLocaleString("en")} answers · ${decisions.toLocaleString("en")} adjudicated` })))));
}

async function studyView(/** @type {HTMLElement} */ body, /** @type {HTMLElement} */ slot, /** @type {string} */ name) {
  const query = `study=${encodeURIComponent(name)}`;
  const rubric = /** @type {Rubric} */ (await api("GET", `study/rubric?${query}`));
  slot.replaceChildren(h("b", { class: "cq-adwhere", text: name, dir: "auto" }));
  const queue = queuePart(choose);
  const stage = h("div", { class: "cq-adstage" });
  body.replaceChildren(queue.element, stage);
    const blur = () => { if (document.activeElement instanceof HTMLElement) document.activeElement.blur(); };
  const cases = /** @type {Map<string, { read: number, promise: Promise<OpenCase> }>} */ (new Map()); // item → {read, promise}
  let view = /** @type {ReturnType<typeof caseView> | null} */ (null), asked = 0, queueRead = 0;

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

  async function choose(/** @type {string} */ item) {
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
    view = caseView({ name, rubric, found, number: queue.number(item) ?? found.number, decided });
    stage.replaceChildren(...view.elements.filter((element) => element !== null));
    if (stage.contains(document.activeElement) || typing(document.activeElement)) blur();
    stage.scrollTop = 0;
    say(`Case ${found.number}. ${found.judgements.length} judgements. ${found.item.text}`);
    const next = queue.step(1);
    if (next) {
      readCase(next).then(({ item: { reference, target } }) =>
        fetchAhead([reference, target].flatMap((it) => (it.missing ? [] : [it.large])))).catch(() => {});
    }
  }
  async function decided(/** @type {string} */ item, /** @type {string} */ said) {
    queue.decided(item);
    toast(said);
    if (Date.now() - queueRead > STALE_MS) readQueue().catch(() => {});
    const mine = asked;
    for (let next = queue.after(item); next; next = queue.after(next)) {
      const found = await readCase(next).catch(() => null); // choosing it says what is wrong
      if (mine !== asked) return; // the person has chosen
      if (!found?.decision) return choose(next);
      queue.decided(next); // by somebody else, meanwhile
      cases.delete(next);
    }
    await readQueue().catch(() => {}); // others may have judged meanwhile
    const more = queue.open();
    return more ? choose(more) : finished(true);
  }
  function finished(/** @type {boolean} */ some) {
    view = null;
    asked += 1;
    queue.at("");
    const again = some || queue.first() ? h("button", { class: "cq-btn", type: "button", text: "Review decided cases", onclick: () => queue.only("decided") }) : null;
    stage.replaceChildren(h("div", { class: "cq-none cq-adend" },
      h("h2", { text: again ? "All decided" : "Nothing to adjudicate" }),
      h("p", { text: again ? "Every case of this study has a decision. You can still revise one: choose it on the left."
        : "No judge was unsure, and judges of the same item agree so far. Come back when there are more answers." }),
      h("div", { class: "cq-row" }, again, h("a", { class: "cq-btn", href: `${at("studies")}?${query}`, text: "Go to the study" }))));
    blur();
    say(again ? "All decided" : "Nothing to adjudicate");
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialogOpen() || event.isComposing) return;
    if (typing(event.target)) {
      if (event.key === "Escape") blur();
      else if (event.key === "Enter" && !event.shiftKey && view?.isReason(event.target)) view.save();
      else return;
      return event.preventDefault();
    }
    if ((event.key === "Enter" || event.key === " ") && /** @type {Element} */ (event.target).closest("button, a, summary")) return;
    const step = (/** @type {number} */ by) => {
      const to = queue.step(by);
      if (to) choose(to);
    };
    const row = rowOf(keyTable(step, view), event);
    if (!row || row.does?.(event.key) === false) return;
    event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) readQueue().catch(() => {}); });

  await readQueue();
  const wanted = new URL(window.location.href).searchParams.get("item") || queue.open();
  if (wanted) await choose(wanted);
  if (!view) {
    const open = wanted && queue.open();
    if (open) await choose(open);
    else finished(false);
  }
}
