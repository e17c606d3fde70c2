// The words of the page Jobs for what the server names.
import { rateOf } from "../benchmarks/words.js";
import { chip, count, percent } from "../shared/words.js";

/** @type {Record<Job["state"], [string, string]>} */
const STATES = { running: ["Running", "unsure"], stopped: ["Stopped", "warn"], failed: ["Failed", "warn"], interrupted: ["Interrupted", "warn"], done: ["Done", "on"] };

/** @type {(job: Job) => HTMLElement} */
export const stateChip = ({ state, stopping }) => (stopping ? chip("Stopping", "warn") : chip(...STATES[state]));
export const stateOf = (/** @type {Job} */ { state, stopping }) => (stopping ? "Stopping" : STATES[state][0]);

/** "Indexing demo · 120 of 300 · 40 % · 2.5 a second · 1 to 2 min left" @param {Job} job */
export function howFar({ state, stage, done, total, rate, left }) {
  const far = total ? [`${count(done)} of ${count(total)}`, `${percent(done, total)} %`] : done ? [count(done)] : [];
  return [state === "done" ? "" : stage || (state === "running" ? "Starting" : ""), ...far, rate ? rateOf(rate) : "", left && `${left} left`].filter(Boolean).join(" · ");
}

/** Why it is not running, and what that means. @param {Job} job */
export function problemOf({ state, error, resumes }) {
  if (state === "interrupted") return `Its process ended without a report: it was killed, or the machine was restarted. ${resumes ? "Finished parts are kept." : ""}`.trim();
  return error;
}

export const byWhom = (/** @type {Job} */ { by, screen }) => (screen ? `by ${by}` : `${by ? `by ${by} ` : ""}on the command line`);
