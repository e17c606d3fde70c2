// The other screens, for whoever may see them, in the top panel, which the server draws again and again.
import { screens, visitor } from "../shared/common.js";
import { onDraw } from "./actions.js";
import { $ } from "./page.js";

let me = /** @type {Me | null} */ (null);
function draw() {
  const place = $("[data-pages]");
  if (me && place && !place.childElementCount) place.append(...screens(me, "search"));
}
onDraw(draw);
visitor({ ask: false }).then((known) => { me = known; draw(); }, () => {}); // without it the page still searches
