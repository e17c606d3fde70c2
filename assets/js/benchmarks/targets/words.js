// The words of queries with targets, and their numbers.
import { count } from "../../studies/words.js";

/** Where a candidate came from. @type {Record<string, string>} */
export const GROUPS = { caption_query: "first sentence", joined_query: "both sentences", tg_img: "target’s image" };

/** Two to four decimals: "0.85", "0.8495". A rounder number could be on the other side of the threshold. */
export const confidence = (/** @type {number | null} */ number) => (number === null ? "–" : number.toFixed(4).replace(/0{1,2}$/, ""));
/** How many of the confidences, the lowest first, are targets. @param {number[]} confidences @param {number} threshold */
export const targetsAt = (confidences, threshold) => confidences.filter((one) => one >= threshold).length;
export const placeOf = (/** @type {CandidatePlace} */ { group, rank }) => `${GROUPS[group] ?? group} #${count(rank)}`;
