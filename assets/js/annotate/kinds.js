// What differs between kinds of studies whose items are answered in any order: what an item is called, and its screen.
import { style } from "../shared/common.js";

/** @type {Record<string, { one: string, load(): Promise<ScreenModule> }>} */
export const KINDS = {
  validity: { one: "item", load: () => import("./validity/screen.js") },
  sessions: { one: "session", load: () => style("sessions").then(() => import("./sessions/screen.js")) },
  targets: { one: "query", load: () => style("targets").then(() => import("./targets/screen.js")) },
};
