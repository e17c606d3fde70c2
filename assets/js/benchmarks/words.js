// The words of this screen for what the server names.
import { chip, count, lasting, plural } from "../shared/words.js";

/** @type {Record<string, string>} */
export const STAGES = { success: "Success", "multi-turn": "Several turns", text: "First text", "rank margin": "Rank margin", redundancy: "Redundancy",
  "repeated image": "Repeated image" };
/** What a stage drops. @type {Record<string, string>} */
export const DROPS = { success: "no target was found", "multi-turn": "turn 1 found a target", text: "turn 1 has no text",
  "rank margin": "a turn moves the target back by more than ε", redundancy: "two texts have a cosine of τ or more", "repeated image": "an image is used twice" };
/** @type {Record<string, string>} */
export const SORTS = { constructed: "As constructed", turns: "Turns", rank: "Final rank", regression: "Biggest rank regression", similarity: "Highest text similarity",
  naturalness: "Naturalness", coherence: "Coherence", progress: "Progress", redundancy: "Low redundancy", overall: "Overall" };

// Of queries with targets.
/** @type {Record<string, string>} */
export const TARGETS_SHOWN = { all: "All", with: "With targets", without: "Without targets", several: "Three or more targets", lost: "Original target not among them" };
/** @type {Record<string, string>} */
export const TARGET_SORTS = { constructed: "As constructed", targets: "Number of targets", lowest: "Lowest confidence of a target", original: "Confidence of the original target" };
export const LARGEST_THRESHOLD = 1;
/** Where a candidate came from. @type {Record<string, string>} */
export const GROUPS = { caption_query: "first sentence", joined_query: "both sentences", tg_img: "target’s image" };

/** Two to four decimals: "0.85", "0.8495". A rounder number could be on the other side of the threshold. */
export const confidence = (/** @type {number | null} */ number) => (number === null ? "–" : number.toFixed(4).replace(/0{1,2}$/, ""));
/** How many of the confidences, the lowest first, are targets. @param {number[]} confidences @param {number} threshold */
export const targetsAt = (confidences, threshold) => confidences.filter((one) => one >= threshold).length;
export const placeOf = (/** @type {CandidatePlace} */ { group, rank }) => `${GROUPS[group] ?? group} #${count(rank)}`;

/** @type {Record<string, [string, string]>} */
const STATES = { running: ["Running", "unsure"], stopped: ["Stopped", "warn"], finished: ["Finished", "on"], unreadable: ["Cannot be read", "warn"] };
export const stateChip = (/** @type {string} */ state) => chip(...(STATES[state] ?? [state, ""]));

/** @type {Record<Benchmark["kind"], [string, string]>} */
export const THINGS = { sessions: ["session", "sessions"], targets: ["query", "queries"] };
/** How far a construction is, in a sentence. @param {ConstructionRun} run @param {[string, string]} thing */
export function howFar({ text, done, total, rate, running }, thing = THINGS.sessions) {
  const far = total ? `${count(done)} of ${plural(total, ...thing)}` : plural(done, ...thing);
  if (!running) return far;
  if (!done && !rate) return `${text}…`;
  const left = rate && total > done ? `${lasting((total - done) / rate)} left` : "";
  return [far, rate ? `${rateOf(rate)}` : "", left].filter(Boolean).join(" · ");
}
export const rateOf = (/** @type {number} */ rate) => (rate >= 1 ? `${rate.toFixed(rate < 10 ? 1 : 0)} a second` : `${(60 * rate).toFixed(rate < 1 / 6 ? 1 : 0)} a minute`);
export const decimals = (/** @type {number} */ number, /** @type {number} */ digits) => number.toFixed(digits).replace("-", "−");
