// A person's way through a study, whatever its kind: to other items, and on after a save.
import { ApiProblem, api, messageOf } from "../../shared/calls.js";
import { toast } from "../../shared/elements.js";
import { createProgress } from "../progress.js";
import { createDrafts } from "./drafts.js";
import { createLate } from "./late.js";
import { createPlaces } from "./places.js";
import { createSending } from "./sending.js";
import { AHEAD, createStock } from "./stock.js";
import { tellFeedback } from "./training.js";
import { t, tn } from "../../shared/language.js";
/** @import { At } from "./places.js" */
/** @import { Refused } from "./sending.js" */

const LINGER_MS = 1500;

/** @template A @typedef {ReturnType<typeof createWork<A>>} Work */
// ``one``, ``many``: what items are called; ``body``: where it is shown; ``sharp(address)``: of the picture that is shown in its place. ``now()``: the desk that is shown. ``show(desk)`` shows another one, ``view()`` says what
// goes wrong; ``leave()`` may keep a draft of what is shown before it goes; ``stayed(saved, sent, next)`` hears that the
// answer to what is shown is saved, though nobody goes on.
/**
 * @template A
 * @param {{ name: string, me: Me, body: HTMLElement, one: string, many: string, sharp?: (address: string) => string, now(): DeskOf<At, A> | null, show(desk: DeskOf<never, A>, how?: { said?: string }): unknown,
 *   stayed(saved: Saved, sent: Sent<A>, next: DeskOf<never, A>): void, leave(): void,
 *   view(): { problem(text: string): void, sending(what: { state: string, text: string }): void } }} of
 */
export function createWork({ name, me, body, one, many, sharp, now, show, stayed, leave, view }) {
  const drafts = /** @type {import("./drafts.js").Drafts<A>} */ (createDrafts(me.name));
  const sending = /** @type {import("./sending.js").Sending<A>} */ (createSending(me.name, (state) => {
    view().sending(state);
    if (state.away) goOn();
  }, () => stock.wants));
  const places = createPlaces(name, { one, many }), progress = createProgress(() => work.map());
  const problem = (/** @type {string} */ text) => { if (now()?.item) view().problem(text); else if (text) toast(text); };
  const query = `study=${encodeURIComponent(name)}`;
  const late = createLate({ name, drafts, sending, places });
  const visits = /** @type {Map<string, DeskOf<At, A> | null>} */ (new Map()); // where Save was pressed: the desk, by item
  const stock = /** @type {import("./stock.js").Stock<A>} */ (createStock({ pending: (item) => sending.pending({ study: now()?.study.name ?? "", item }), sharp }));
  let pressed = /** @type {{ item: string, same(answer: A): boolean } | null} */ (null); // what Save was pressed for last
  let arrived = /** @type {string[]} */ ([]), put = /** @type {Refused<A>[]} */ ([]); // what became of answers to other items than the one shown
  let known = /** @type {Progress | null} */ (null); // as the server counted last
  let asked = 0, headed = /** @type {string | null} */ (null); // the item on its way: steps count from there
  // The desk at the item with this id, or at the first that is open, and when it was asked for.
  /** @type {(item?: string | null) => Promise<DeskOf<never, A>>} */
  const deskAt = async (item) => {
    const since = performance.now(), wants = stock.wants;
    const found = await api("GET", `study/at?${query}&ahead=${wants}${item ? `&item=${encodeURIComponent(item)}` : ""}`);
    const desk = /** @type {DeskOf<never, A>} */ (/** @type {unknown} */ (found));
    stock.put(desk, wants);
    known = desk.progress;
    return { ...desk, asked: since };
  };
  // A desk that came with the answer to another call.
  function came(/** @type {DeskOf<never, A>} */ desk, /** @type {{ said?: string }} */ how = {}, wanted = AHEAD) {
    stock.put(desk, wanted);
    known = desk.progress;
    return show(desk, how);
  }
  const withUnsent = (/** @type {Progress} */ progress) => ({ ...progress, done: Math.min(progress.total, progress.done + sending.fresh) });
  // From here, while the server does not answer; false where it is not here.
  function showHere(/** @type {DeskOf<At, A> | null} */ desk) {
    if (!desk) return false;
    show(/** @type {DeskOf<never, A>} */ (/** @type {unknown} */ ({ ...desk, progress: withUnsent(known ?? desk.progress) })));
    return true;
  }
  // Nobody answers: what was saved here is left for the next item that is here.
  function goOn() {
    const desk = now(), sent = desk?.item && sending.pending({ study: desk.study.name, item: desk.item.id });
    if (!desk?.item || !sent || sent.then === "stay" || headed || pressed?.item !== desk.item.id || !pressed.same(sent.answer)) return;
    if (desk.training) return problem(t("The right answer is shown when the connection is back. Your answer is kept."));
    if (showHere(stock.next(desk.item))) pressed = null; // who comes back to it stays
    else problem(t("There is no connection, and no further item is loaded. The page continues when the connection is back."));
  }
  drafts.join(sending.pending, leave);

  // To the item with this id; without one, to the first that is open.
  /** @param {string} [item] */
  async function go(item) {
    const mine = ++asked;
    headed = item ?? null;
    problem("");
    leave();
    if (item && sending.away && showHere(stock.at(item))) {
      headed = null;
      return sending.retry();
    }
    body.setAttribute("aria-busy", "true");
    await Promise.race([drafts.send(), new Promise((resolve) => setTimeout(resolve, LINGER_MS))]);
    try {
      const next = await deskAt(item);
      sending.retry(); // the server is there, and knows who this is
      if (mine === asked) show(next);
    } catch (error) {
      if (mine !== asked) return;
      const away = error instanceof ApiProblem && error.kind === "away";
      if (!(away && item && showHere(stock.at(item)))) problem(messageOf(error));
    } finally {
      if (mine === asked) {
        headed = null;
        body.removeAttribute("aria-busy");
      }
    }
  }
  // ``same(answer)``: whether the page still shows what was sent. ``left``: whether the person has been elsewhere since.
  /** @type {(told: Acknowledged<A>, same: (answer: A) => boolean, left: boolean) => unknown} */
  async function acknowledged({ saved, desk: next, sent, replaced, asked: wanted = 0 }, same, left) {
    stock.answered(sent, saved.revision);
    known = next.progress;
    places.note(sent.item, saved.unsure ? "unsure" : "done", drafts.follow(sent, saved.revision));
    const overtook = saved.overtook && !replaced
      ? t("You had answered this in another window; that answer is kept as revision {revision}.", { revision: saved.revision - 1 }) : "";
    if (saved.feedback) await tellFeedback(saved.feedback);
    const there = now()?.item?.id === sent.item;
    if (there && !left) {
      if (overtook) toast(overtook);
      if (same(sent.answer)) return came(next, {}, wanted);
    }
    if (there) stayed(saved, sent, next);
    else progress.draw(next.study.name, withUnsent(next.progress));
    if (there && !same(sent.answer)) return toast(`${t("Saved. Your latest changes are not saved yet.")} ${overtook}`);
    arrived.push(overtook && late.nameOf(sent) ? `${late.nameOf(sent)}: ${overtook}` : overtook);
    told();
  }

  // Of answers to items that are no longer shown: once all that waited are heard of.
  function told() {
    if (sending.waiting) return;
    const words = [];
    if (arrived.length) words.push(tn(arrived.length, "The previous answer is saved.", "{number} answers are saved."), ...arrived.filter(Boolean));
    if (put.length) {
      words.push(`${put.map(({ sent }) => late.nameOf(sent)).join(", ")}: ${tn(put.length, "the answer was not accepted and is a draft again.",
        "{number} answers were not accepted and are drafts again.")} ${[...new Set(put.map(({ message }) => message))].join(" ")}`);
    }
    [arrived, put] = [[], []];
    if (words.length) toast(words.join(" "));
  }

  // The server does not take an answer: on its own item that is said there, else it is a draft again.
  function refused(/** @type {Refused<A>} */ error) {
    if (now()?.item?.id === error.sent.item) problem(error.message);
    else {
      late.hold(error.sent);
      put.push(error);
    }
    told();
  }

  const here = () => (headed ? { id: headed, position: NaN } : now()?.item);

  const work = {
    drafts, sending, places, progress, go, came,
    get headed() { return headed; },
    // Whether the study takes answers: asked anew, where it did not.
    async reopened() {
      try {
        const { study } = await deskAt(now()?.item?.id);
        return study.accepting;
      } catch (error) {
        problem(messageOf(error));
        return null;
      }
    },
    step(/** @type {number} */ by) {
      const item = here();
      const to = item ? places.from(item, by) : by < 0 ? places.last : undefined;
      if (to) return go(to);
      toast(by < 0 ? t("This is the first one.") : t("This is the last one."));
    },
    async map() {
      const to = await places.choose(now()?.item?.id);
      places.load().catch(() => {}); // what another window has done since
      if (to) go(to);
    },
    // Ask for more items; answers a sentence if there are none.
    async more() {
      try {
        const { added, desk } = await api("POST", "study/more", { study: name, ahead: AHEAD });
        if (added) await places.load();
        if (added) came(/** @type {DeskOf<never, A>} */ (/** @type {unknown} */ (desk)));
        return added ? "" : t("No more items are available at the moment.");
      } catch (error) {
        return messageOf(error);
      }
    },
    // Save ``answer`` to what is shown. ``same(answer)``: whether the page still shows what was sent. ``stopped(problem)``
    // hears that the server does not take it, where the item is still shown; true says that it has seen to it.
    /** @type {(save: { answer: A, seconds: number, same(answer: A): boolean, stopped(problem: Refused<A>): unknown }) => Promise<void>} */
    async save({ answer, seconds, same, stopped }) {
      const desk = now();
      if (!desk?.item) return;
      const { item, revision, study } = desk;
      const press = sending.save({ study: study.name, id: study.id, item: item.id, answer, seconds, seen_revision: revision, then: "next" },
        drafts.drop(study.name, item.id));
      visits.set(item.id, desk);
      pressed = { item: item.id, same };
      if (sending.away) goOn(); // it may be long until the next try has failed as well
      if (!press) return;
      let told;
      try {
        told = await press;
      } catch (error) {
        const problem = /** @type {Refused<A>} */ (error);
        if (now()?.item?.id !== item.id || !stopped(problem)) refused(problem);
        return;
      }
      await acknowledged(told, same, now() !== visits.get(item.id));
    },
    // The first desk, once what an earlier visit could not send is sent.
    async begin(/** @type {DeskOf<At, A>} */ desk) {
      if (desk.joined) await places.load();
      const open = await late.settle({
        go,
        item: () => here()?.id,
        // Not by going there, which would keep what is shown as the draft.
        async again(item) {
          const again = await deskAt(item).catch(() => null);
          if (again && !headed && now()?.item?.id === item) show(again);
        },
        saved: ({ saved, sent, desk: next }) => { if (!headed && saved && next) stayed(saved, sent, next); },
      });
      if (!desk.joined) return show(/** @type {DeskOf<never, A>} */ (desk));
      if (open === null) return came(/** @type {DeskOf<never, A>} */ (desk));
      show(await deskAt(open));
    },
  };
  return work;
}
