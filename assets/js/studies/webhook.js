// The webhook of a study: its address, the key that a receiver checks, a test, and the latest messages.
import { copy, field, h } from "../shared/common.js";
import { ago, chip, lasting, plural } from "../shared/words.js";

/** @type {Record<WebhookCall["event"], string>} */
const EVENTS = { begun: "begun", away: "away too long", returned: "came back", finished: "finished", "below-mark": "below the mark", "screened-out": "screened out", "over-quota": "over quota", test: "test" };

/** Draws itself anew after each act: what is typed elsewhere on the page stays. An act that failed has said so, and gives null.
 * @param {Recruiting} known @param {Record<"test" | "again", () => Promise<Recruiting | null>> & { save: (address: string) => Promise<Recruiting | null> }} does */
export function webhookPart(known, does) {
  const element = h("details", { class: "cq-stbox cq-sthook" });
  const shows = (/** @type {Recruiting | null} */ answer) => {
    if (!answer) return false;
    known = answer;
    draw();
    return true;
  };
  function draw() {
    const { settings, webhook } = known, focused = element.querySelector("button:focus")?.textContent;
    const address = h("input", { type: "url", value: settings.webhook, placeholder: "https://…", maxlength: 2000 });
    const button = (/** @type {string} */ text, /** @type {() => Promise<boolean>} */ act) => {
      const made = h("button", { class: "cq-btn small", type: "button", text, onclick: async () => {
        made.disabled = true;
        await act();
        made.disabled = false;
      } });
      return made;
    };
    const save = async () => shows(await does.save(address.value.trim()));
    const test = async () => (address.value.trim() === settings.webhook || await save()) && shows(await does.test());
    element.replaceChildren(
      h("summary", {}, "Webhook ", webhook?.undelivered ? chip(`${webhook.undelivered} undelivered`, "warn") : null),
      h("form", { class: "cq-stform", onsubmit: (event) => { event.preventDefault(); save(); } },
        h("p", { class: "cq-quiet", text: "cirque notifies a program of yours when a participant begins, finishes, is screened out, finds no place, or is away too long: a signed POST with the event and the participant’s id, without answers. Failed messages are sent again for two days." }),
        field("Address", address), h("div", { class: "cq-row" }, h("button", { class: "cq-btn small", type: "submit", text: "Save" }), webhook ? button("Send a test", test) : null,
          webhook?.undelivered ? button(`Send ${plural(webhook.undelivered, "undelivered message")} now`, async () => shows(await does.again())) : null)),
      ...(webhook ? [h("div", { class: "cq-row cq-stlink" }, h("span", { text: "Key for signatures" }), h("code", { text: webhook.secret }),
        h("button", { class: "cq-btn small", type: "button", text: "Copy", "aria-label": "Copy the key", onclick: () => copy(webhook.secret) })), messages(webhook.calls)] : []));
    [...element.querySelectorAll("button")].find((one) => one.textContent === focused)?.focus();
  }
  draw();
  return element;
}

function messages(/** @type {WebhookCall[]} */ calls) {
  if (!calls.length) return h("p", { class: "cq-quiet", text: "No message has been sent yet." });
  const head = ["Time", "Event", "Participant", "Delivery"].map((text) => h("th", { scope: "col", text }));
  return h("div", { class: "cq-stscroll", tabindex: "0" }, h("table", { class: "cq-sttable" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, calls.map((call) =>
    h("tr", {}, h("td", { text: ago(call.at), title: call.at }), h("td", { text: EVENTS[call.event] }), h("td", { text: call.participant ?? "" }), h("td", {}, delivery(call)))))));
}

function delivery(/** @type {WebhookCall} */ { delivered_at: at, next_at: next, attempts, problem }) {
  if (at) return chip("delivered", "on");
  const left = next && attempts ? `next in ${lasting(Math.max(0, (new Date(next).getTime() - Date.now()) / 1000))}` : "";
  return [chip(next ? "waiting" : "not delivered", "warn"), h("small", { text: [problem, attempts ? plural(attempts, "attempt") : "", left].filter(Boolean).join(" · ") })];
}
