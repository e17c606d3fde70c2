// The webhook of a study: its address, the key that a receiver checks, a test, and the latest messages.
import { copy, field, h } from "../shared/common.js";
import { ago, chip, lasting, plural } from "../shared/words.js";

/** @type {Record<WebhookCall["event"], string>} */
const EVENTS = { begun: "begun", away: "away too long", returned: "came back", finished: "finished", "below-mark": "below the mark", "screened-out": "screened out", "over-quota": "over quota", test: "test" };

/** @param {Recruiting} known
 * @param {{ save: (address: string) => Promise<unknown>, test: () => Promise<unknown>, again: () => Promise<unknown> }} does */
export function webhookPart({ settings, webhook }, does) {
  const address = h("input", { type: "url", value: settings.webhook, placeholder: "https://…", maxlength: 2000 });
  const button = (/** @type {string} */ text, /** @type {() => Promise<unknown>} */ act, props = {}) => {
    const element = h("button", { class: "cq-btn small", type: "button", text, ...props, onclick: async () => {
      element.disabled = true;
      await act();
      element.disabled = false;
    } });
    return element;
  };
  const form = h("form", { class: "cq-stform", onsubmit: (event) => { event.preventDefault(); does.save(address.value.trim()); } },
    h("p", { class: "cq-quiet", text: "Another program is told when somebody begins, finishes, is screened out, finds no place, or stays away: a signed POST with the event and the participant’s id, no answers. Failed messages are sent again for two days." }),
    field("Address", address), h("div", { class: "cq-row" }, h("button", { class: "cq-btn small", type: "submit", text: "Save" }),
      webhook ? button("Send a test", does.test) : null, webhook?.undelivered ? button(`Send ${plural(webhook.undelivered, "undelivered message")} now`, does.again) : null));
  return h("details", { class: "cq-stbox cq-sthook" }, h("summary", {}, "Webhook ", webhook?.undelivered ? chip(`${webhook.undelivered} undelivered`, "warn") : null), form, webhook ? [
    h("div", { class: "cq-row cq-stlink" }, h("span", { text: "Key for signatures" }), h("code", { text: webhook.secret }),
      h("button", { class: "cq-btn small", type: "button", text: "Copy", "aria-label": "Copy the key", onclick: () => copy(webhook.secret) })),
    webhook.calls.length ? h("div", { class: "cq-stscroll", tabindex: "0" }, h("table", { class: "cq-sttable" },
      h("thead", {}, h("tr", {}, ["Time", "Event", "Participant", "Delivery"].map((text) => h("th", { scope: "col", text })))),
      h("tbody", {}, webhook.calls.map((call) => h("tr", {}, h("td", { text: ago(call.at), title: call.at }), h("td", { text: EVENTS[call.event] }), h("td", { text: call.participant ?? "" }), h("td", {}, delivery(call)))))))
      : h("p", { class: "cq-quiet", text: "No message has been sent yet." })] : null);
}

function delivery(/** @type {WebhookCall} */ { delivered_at: at, next_at: next, attempts, problem }) {
  if (at) return chip("delivered", "on");
  const left = next && attempts ? `next in ${lasting(Math.max(0, (new Date(next).getTime() - Date.now()) / 1000))}` : "";
  return [chip(next ? "waiting" : "not delivered", "warn"), h("small", { text: [problem, attempts ? plural(attempts, "attempt") : "", left].filter(Boolean).join(" · ") })];
}
