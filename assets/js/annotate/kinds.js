// The screen of each kind of study whose items are answered in any order; that of a survey opens itself.
import { style } from "../shared/common.js";

/** @type {Partial<Record<Kind, () => Promise<ScreenModule>>>} */
export const SCREENS = {
  validity: () => import("./validity/screen.js"),
  sessions: () => style("sessions").then(() => import("./sessions/screen.js")),
  targets: () => style("targets").then(() => import("./targets/screen.js")),
};

/** The screen on which a single item is answered. @type {(kind: Kind) => Promise<ScreenModule>} */
export const screenOf = (kind) => (SCREENS[kind] ?? (() => style("survey").then(() => import("./survey/screen.js"))))();
