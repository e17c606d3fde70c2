// A person's way through a study, whatever its kind: to other items, and on after a save.
import { api, toast } from "./common.js";

const LINGER_MS = 1500;

// ``now()``: the desk that is shown. ``show(desk)`` shows another one, ``problem(text)`` says what went wrong.
export function createWork({ name, drafts, sending, places, progress, now, show, problem }) {
  const query = `study=${encodeURIComponent(name)}`;
  let asked = 0;

  // To the item with this id; without one, to the first that is open.
  async function go(item) {
    const mine = ++asked;
    problem("");
    await Promise.race([drafts.send(), new Promise((resolve) => setTimeout(resolve, LINGER_MS))]);
    try {
      const next = await api("GET", item ? `study/at?${query}&item=${encodeURIComponent(item)}` : `study/at?${query}`);
      if (mine === asked) show(next);
    } catch (error) {
      if (mine === asked) problem(error.message);
    }
  }

  return {
    go,
    step(by) {
      const { item } = now();
      const to = item ? places.from(item, by) : by < 0 ? places.last : undefined;
      if (to) return go(to);
      toast(by < 0 ? "This is the first one." : "This is the last one.");
    },
    async map() {
      const to = await places.choose(now().item?.id);
      places.load().catch(() => {}); // what another window has done since
      if (to) go(to);
    },
    // Ask for more items; answers a sentence if there are none.
    async more() {
      try {
        const { added, desk } = await api("POST", "study/more", { study: name });
        if (added) await places.load();
        if (added) show(desk);
        return added ? "" : "There is nothing more to take at the moment.";
      } catch (error) {
        return error.message;
      }
    },
    // ``same(answer)``: whether the page still shows what was sent; if not, ``stayed(saved, sent, next)``.
    acknowledged({ saved, desk: next, sent, replaced }, { same, stayed }) {
      places.note(sent.item, saved.unsure ? "unsure" : "done");
      if (saved.overtook && !replaced) {
        toast(saved.repeated ? "You had answered this in another window already, and the same."
          : `You had answered this in another window; that answer is kept as revision ${saved.revision - 1}.`);
      }
      if (now().item?.id !== sent.item) { // gone back or forth meanwhile
        progress.draw(next.study.name, next.progress);
        return toast("The answer of before is saved.");
      }
      if (same(sent.answer)) return show(next);
      stayed(saved, sent, next);
      toast("Saved. What you have changed since is not saved yet.");
    },
    // The first desk, once what an earlier visit could not send is sent.
    async begin(desk) {
      const late = await sending.catchUp((refused, error) => {
        drafts.hold(refused);
        toast(`An answer from before was not taken: ${error.message}`);
      });
      if (late) toast(late === 1 ? "An answer from before was still waiting here; it is saved now." : `${late} answers from before were still waiting here; they are saved now.`);
      const first = late ? await api("GET", `study/at?${query}`) : desk;
      await places.load();
      show(first);
    },
  };
}
