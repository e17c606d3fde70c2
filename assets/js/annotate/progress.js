// How far, how fast, how long still, and how long without a break.
import { h, kept } from "../shared/elements.js";
import { t } from "../shared/language.js";

const KEPT = "cirque.shift", BREAK_MS = 300000, TOLD_S = 900;

/** Seconds of work since the last break of five minutes, in all tabs and studies of this browser: for oneself alone. */
export function workedFor(now = Date.now()) {
  const { began, seen } = kept.read(KEPT, { began: now, seen: now });
  const since = now - seen > BREAK_MS || seen > now ? now : began;
  kept.write(KEPT, { began: since, seen: now });
  return (now - since) / 1000;
}

// 5400 → "1 h 30"
export function duration(/** @type {number} */ seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return t("less than a minute");
  const near = minutes < 60 ? minutes : 5 * Math.round(minutes / 5);
  const [hours, rest] = [Math.floor(near / 60), near % 60];
  return hours ? `${hours} h${rest ? ` ${String(rest).padStart(2, "0")}` : ""}` : `${rest} min`;
}

export function createProgress(/** @type {() => void} */ openMap) {
  const bar = h("progress", { class: "st-bar", "aria-label": t("Progress"), max: 1, value: 0 });
  const words = h("button", { class: "st-pace", type: "button", title: t("All items (o)"), onclick: openMap });
  const name = h("b", { class: "st-study", dir: "auto" });
  return {
    element: h("div", { class: "st-progress" }, name, words, bar),
    /** @param {string} study @param {Progress} progress @param {string} where in other words than how many are done */
    draw(study, { done, total, median_seconds: pace, seconds_left: left }, where = "") {
      name.textContent = study;
      bar.max = Math.max(1, total);
      bar.value = done;
      const worked = workedFor();
      words.replaceChildren(
        h("span", { text: where || t("{done} of {total}", { done, total }) }),
        pace === null ? "" : h("span", { class: "st-more", text: ` · ${t("{seconds} s each", { seconds: Math.round(pace) })}` }),
        left === null || done >= total ? "" : h("span", { class: "st-more", text: ` · ${t(left < 60 ? "{time} left" : "about {time} left", { time: duration(left) })}` }),
        worked < TOLD_S ? "" : h("span", { class: "st-more", title: t("A break is five minutes without an answer. Only you see this."), text: ` · ${t("{time} without a break", { time: duration(worked) })}` }));
    },
  };
}
