// Answers that an earlier visit could not send: sent now, unless the item was answered elsewhere
// since. Then what waited here is a draft of its item, and the person is told.
import { ApiProblem, api } from "../../shared/calls.js";
import { toast } from "../../shared/elements.js";
import { t, tn } from "../../shared/language.js";

const PATIENCE_MS = 5000; // for as long the first item waits for them

// In whatever order the server has the fields, and without the blanks it takes off.
const alike = (/** @type {unknown} */ one, /** @type {unknown} */ other) => plain(one) === plain(other);
const plain = (/** @type {unknown} */ answer) => JSON.stringify(answer, (_, value) => (typeof value === "string" ? value.trimEnd()
  : value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value));

/** Answered elsewhere since, as ``revision``. */
class Overtaken extends ApiProblem {
  constructor(/** @type {number} */ revision) {
    super(409, t("You have since answered it elsewhere."), "overtaken");
    this.revision = revision;
  }
}

/**
 * What became of an answer from before.
 * @template A
 * @typedef {{ sent: Sent<A>, saved?: Acknowledged<A>["saved"], desk?: Acknowledged<A>["desk"], problem?: ApiProblem }} Found
 */
/**
 * The page that is there already.
 * @template A
 * @typedef {{ item(): string | undefined, go(item: string): void, again(item: string): void, saved(told: Found<A>): void }} Page
 */
/**
 * @template A
 * @param {{ name: string, drafts: import("./drafts.js").Drafts<A>, sending: import("./sending.js").Sending<A>, places: import("./places.js").Places }} of
 */
export function createLate({ name, drafts, sending, places }) {
  const nameOf = (/** @type {Of} */ { study, item }) => (study === name && places.nameOf(item)) || study;

  async function check(/** @type {Sent<A>} */ { study, id, item, answer, seen_revision: seen }) {
    const there = await api("GET", `study/at?study=${encodeURIComponent(id ?? study)}&item=${encodeURIComponent(item)}`);
    if (!there.item || there.revision <= (seen ?? 0) || alike(there.answer, answer)) return;
    throw new Overtaken(there.revision);
  }

  // What was begun after that answer is the later draft.
  function hold(/** @type {Sent<A>} */ { study, item, answer, seconds, seen_revision: seen }, /** @type {number} */ revision = seen) {
    if (!drafts.follow({ study, item }, revision)) drafts.hold({ study, item, answer, seconds, revision });
    if (study === name) places.begun(item);
  }

  // What to show first after ``found``: an item's id, "" for the first that is open, null for what was asked for.
  // ``page``, if there is one already, stays where it is.
  function told(/** @type {Found<A>[]} */ found, /** @type {Page<A> | null} */ page) {
    drafts.send(); // what is being typed belongs on top of it
    const saved = found.filter(({ problem }) => !problem);
    const overtaken = found.filter(({ problem }) => problem?.kind === "overtaken");
    const refused = found.filter(({ problem }) => problem && !["overtaken", "forbidden"].includes(problem.kind));
    for (const { sent, problem } of [...overtaken, ...refused]) hold(sent, problem instanceof Overtaken ? problem.revision : undefined);
    for (const { sent, saved: now } of saved) {
      const more = drafts.follow(sent, now?.revision ?? 0);
      if (sent.study === name) places.note(sent.item, now?.unsure ? "unsure" : "done", more);
    }
    const words = [];
    if (saved.length) words.push(tn(saved.length, "An earlier answer was still pending here; it is now saved.", "{number} earlier answers were still pending here; they are now saved."));
    for (const { sent } of overtaken) words.push(t("{name}: you have since answered this elsewhere. That answer counts; the pending one became a draft.", { name: nameOf(sent) }));
    for (const { problem } of found.filter((one) => one.problem && !overtaken.includes(one))) words.push(t("An earlier answer was not accepted: {message}", { message: problem?.message }));
    const open = overtaken.find(({ sent }) => sent.study === name)?.sent.item;
    const elsewhere = page && open && page.item() !== open;
    if (words.length) toast(words.join(" "), elsewhere ? { text: t("Open it"), act: () => page.go(open) } : null);
    const shown = found.filter(({ sent }) => page && sent.study === name && sent.item === page.item());
    for (const one of shown) {
      if (saved.includes(one)) page?.saved(one);
      else if (overtaken.includes(one)) page?.again(one.sent.item);
    }
    return open ?? (saved.length ? "" : null);
  }

  return {
    hold,
    nameOf,
    // What to show first; after its patience null, and what comes of it then is told on ``page``: ``item()`` is what it
    // shows or is on its way to, ``go(item)`` leads elsewhere, ``again(item)`` draws the shown one anew, and
    // ``saved(answer)`` hears that what it shows is saved.
    settle(/** @type {Page<A>} */ page) {
      let shown = /** @type {Page<A> | null} */ (null);
      const whole = sending.catchUp(check).then((found) => told(found, shown));
      /** @type {Promise<null>} */
      const patience = new Promise((resolve) => setTimeout(() => { shown = page; resolve(null); }, PATIENCE_MS));
      return Promise.race([whole, patience]);
    },
  };
}
