// The search screen. Gradio draws its panels and calls what is exported here, which web/search/tab.py and events.py
// import by this file's address: nothing of cirque's is global.
import "./query.js"; // parts that hear of a drawing do so in this order
import "./results/folds.js"; // hides what is folded, before the selection is drawn
import "./results/map.js";
import "./results/thumbs.js";
import "./results/ledger.js";
import "./methods/editing.js";
import "./methods/settings.js";
import "./methods/chips.js";
import "./results/columns.js";
import "./results/columns.js";
import "./results/audit.js";
import "./query.js";
import "./live.js";
import "./news.js";
import "./menu.js";
import "./sessions.js";
import "./tour.js";
import "./clicks.js";
import "./keys.js";

export { done, mount } from "./actions.js";
export { opened } from "./address.js";
