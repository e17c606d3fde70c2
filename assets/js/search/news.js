// What has happened to the session elsewhere: in another tab, or by somebody else with its link.
import { ApiProblem, api, createDelay, h } from "../shared/common.js";
import { at } from "../shared/elements.js";
import { act, busy, onDraw } from "./actions.js";
import { $, shown } from "./page.js";

/** @typedef {{ turns: number, newest: string, running: boolean, gone?: boolean }} News */
const EVERY_MS = 10000;

/** What there is to say to a page that shows ``turns`` of a session, and the action that shows it.
 * @type {(news: News, turns: number) => { text: string, button?: string, action?: [name: string, data: object] } | null} */
function sayOf({ turns: now, newest, running, gone }, turns) {
  if (gone) return { text: "This session was removed elsewhere. What is shown here can be read, but not continued." };
  const more = now - turns;
  if (more > 0 && newest) {
    return { text: more === 1 ? "This session has a newer turn." : `This session has ${more} newer turns.`,
      button: more === 1 ? "Show it" : "Show the newest", action: ["turn", { turn: newest }] };
  }
  if (more < 0) return { text: "Turns of this session were removed elsewhere.", button: "Show what is left", action: ["open_session", {}] };
  return running ? { text: "A search is running in this session elsewhere." } : null;
}

const known = () => Number(shown().turns);
function tell(/** @type {News | null} */ news) {
  const line = $("[data-news]");
  if (!line) return;
  const say = news && sayOf(news, known()), { session } = shown();
  line.replaceChildren(say ? h("p", { class: "cq-banner" }, `${say.text} `, say.button ? h("button", { class: "cq-btn small", type: "button",
    text: say.button, onclick: () => say.action && act(say.action[0], { session, ...say.action[1] }) }) : null) : "");
}

async function look() {
  const { session } = shown();
  if (!session || document.hidden || busy()) return;
  const before = known();
  const path = `session/${encodeURIComponent(session)}/news?turns=${known()}`;
  const news = /** @type {News | null} */ (await api("GET", path, undefined, { ask: false, news: true }).catch(
    (problem) => (problem instanceof ApiProblem && problem.status === 404 ? { turns: 0, newest: "", running: false, gone: true } : null)));
  if (news && !busy() && shown().session === session && known() === before) tell(news);
}

if (globalThis.BroadcastChannel) {
  // Another tab of this browser says so itself; who is elsewhere is asked about now and then.
  const tabs = new BroadcastChannel(at("session"));
  const soon = createDelay(50);
  let turns = NaN, session = /** @type {string | undefined} */ ("");
  tabs.addEventListener("message", ({ data }) => { if (data === shown().session) soon.start(look); });
  onDraw(() => {
    if (shown().session === session && known() !== turns) tabs.postMessage(session);
    ({ session } = shown());
    turns = known();
  });
}
onDraw(() => tell(null));
setInterval(look, EVERY_MS);
document.addEventListener("visibilitychange", look);
