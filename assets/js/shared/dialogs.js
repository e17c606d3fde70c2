// Dialogs: the keys, a question, and signing in again in the middle of work.
import { at, field, h, tellIn, typing } from "./elements.js";
import { bind, bindUsual, canBind, kbd, pressedFor } from "./key-table.js";
import { until } from "./rest.js";
import { t, told } from "./language.js";

export const closer = () => h("button", { class: "cq-icon close", type: "button", "aria-label": t("Close"), title: `${t("Close")} (Esc)`,
  text: "×", onclick: (event) => event.target.closest("dialog")?.close() });

/** A dialog that closes by Esc, its × and a click beside it. @param {Props} props @param {...Child} children */
export function dialog(props, ...children) {
  const element = h("dialog", props, ...children);
  let outside = false;
  element.addEventListener("mousedown", (event) => { outside = event.target === element; });
  element.addEventListener("click", (event) => { if (event.target === element && outside) element.close(); });
  document.body.append(element);
  return element;
}
export const dialogOpen = () => Boolean(document.querySelector("dialog[open]"));

// Shows a dialog that was made for this once, and takes it off the page. Resolves to what it was closed with: "" by Esc, × or a click beside it.
export const once = (/** @type {HTMLDialogElement} */ element) => new Promise((/** @type {(closed: string) => void} */ resolve) => {
  element.addEventListener("close", () => { element.remove(); resolve(element.returnValue); });
  element.showModal();
});

// Ask before something that is not easily undone: await confirm("Close the study?", "…", "Close it")
export async function confirm(/** @type {string} */ title, /** @type {string} */ text, yes = "Yes", no = "Cancel") {
  const asks = dialog({ class: "cq-small", "aria-label": title },
    h("header", {}, h("h2", { text: title })), h("p", { text }),
    h("div", { class: "cq-row" },
      h("button", { class: "cq-btn primary", type: "button", text: yes, onclick: () => asks.close("yes") }),
      h("button", { class: "cq-btn", type: "button", text: no, onclick: () => asks.close("") })));
  return (await once(asks)) === "yes";
}

// Something to be read before it goes on.
export function tell(/** @type {string} */ title, /** @type {string} */ text, /** @type {string} */ button) {
  const tells = dialog({ class: "cq-small", "aria-label": title }, h("header", {}, h("h2", { text: title })),
    h("p", { role: "alert", text, dir: "auto" }),
    h("div", { class: "cq-row" }, h("button", { class: "cq-btn primary", type: "button", text: button, onclick: () => tells.close() })));
  return once(tells);
}

// One line of text: await askText("Name this branch", "darker", "for example: …"). Null where nobody wants to.
export async function askText(/** @type {string} */ title, value = "", hint = "") {
  const input = h("input", { type: "text", maxlength: 80, value, placeholder: hint, "aria-label": title });
  const asks = dialog({ class: "cq-small", "aria-label": title }, h("form", { method: "dialog" }, h("header", {}, h("h2", { text: title })), input,
    h("div", { class: "cq-row" }, h("button", { class: "cq-btn primary", value: "ok", text: "Save" }),
      h("button", { class: "cq-btn", type: "button", text: "Cancel", onclick: () => asks.close("") }))));
  const closed = once(asks);
  input.select();
  return (await closed) === "ok" ? input.value.trim() : null;
}

// --- the keys --------------------------------------------------------------------------------

let list = /** @type {ListedKeys[]} */ ([]);
// The keys of this page, as ["1  2  3", "what they do"] (two blanks between keys). "?" shows them.
export const setKeys = (/** @type {ListedKeys[]} */ rows) => { list = rows; };
export async function showKeys() {
  let changing = false, changed = false, waiting = "";
  const said = h("p", { class: "cq-quiet", role: "status" }), rows = h("dl", { class: "cq-keys" });
  const change = h("button", { class: "cq-btn small", type: "button", text: t("Change keys"), onclick: () => { changing = !changing; waiting = ""; draw(); } });
  const usual = h("button", { class: "cq-btn small", type: "button", text: t("Use the usual keys"), onclick: () => { changed = bindUsual() || changed; waiting = ""; draw(); } });
  const keys = dialog({ class: "cq-small cq-keysheet", "aria-label": t("Keys") },
    h("header", {}, h("h2", { text: t("Keys") }), closer()), h("div", { class: "cq-keychange" }, h("div", { class: "cq-row" }, change, usual), said), rows);
  const button = (/** @type {string} */ key, /** @type {string} */ what) => h("button", { class: "cq-btn small", type: "button", "data-key": key, "aria-pressed": String(waiting === key),
    text: waiting === key ? "…" : pressedFor(key), "aria-label": t("{key}: {does}. Change this key", { key: pressedFor(key), does: what }), onclick: () => { waiting = key; draw(); } });
  function draw(at = waiting) { // ``at``: the key that has the focus then
    rows.replaceChildren(...list.map(([shown, what, own = []]) => h("div", {},
      h("dt", {}, changing && own.length ? own.map((key) => button(key, what)) : changed && own.length ? own.map(kbd) : shown.split("  ").map((key) => h("kbd", { text: key, "aria-hidden": "true" }))), h("dd", { text: what }))));
    change.textContent = changing ? t("Done") : t("Change keys");
    usual.hidden = !changing;
    said.textContent = !changing ? "" : waiting ? t("Press the new key for “{does}”. Esc keeps the old one.", { does: list.find(([, , own]) => own?.includes(waiting))?.[1] })
      : t("Choose a key to change it. If the new one is in use, the two change places. This holds for this browser.");
    if (at) /** @type {HTMLElement | null} */ (rows.querySelector(`[data-key="${CSS.escape(at)}"]`))?.focus();
  }
  keys.addEventListener("keydown", (event) => {
    if (waiting && event.key === "Escape") event.preventDefault();
    else if (waiting && canBind(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      bind(waiting, event.key);
      changed = true;
    } else if (!waiting && event.key === "?") {
      event.preventDefault();
      return keys.close();
    } else return;
    const at = waiting;
    waiting = "";
    draw(at);
  });
  draw();
  change.hidden = !list.some(([, , own]) => own?.length);
  await once(keys);
  if (changed) window.location.reload(); // keys stand on buttons, too; what was typed is kept
}
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || dialogOpen()) return;
  event.preventDefault();
  showKeys();
});

// --- signing in again ------------------------------------------------------------------------

let who = "";
export const signedInAs = (/** @type {string} */ name) => { who = name; };
let asking = /** @type {Promise<boolean> | null} */ (null);

// One dialog however many calls found out at once. Resolves to whether the person is back.
export const signIn = () => (asking ??= ask().finally(() => { asking = null; }));

async function ask() {
  const name = h("input", { type: "text", autocomplete: "username", value: who, readonly: Boolean(who), "aria-label": t("Name"), required: true });
  const password = h("input", { type: "password", autocomplete: "current-password", "aria-label": t("Password"), required: true });
  const problem = h("p", { class: "cq-inline", role: "alert", hidden: true });
  const enter = h("button", { class: "cq-btn primary", text: t("Sign in") });
  const form = h("form", {},
    h("header", {}, h("h2", { text: t("Sign in again") })),
    h("p", { text: t("Your sign-in has expired. Nothing on this page is lost: sign in to continue.") }),
    field(t("Name"), name), field(t("Password"), password), problem, h("div", { class: "cq-row" }, enter,
      h("button", { class: "cq-btn", type: "button", text: t("Not now"), onclick: () => { asks.close(""); } })));
  const asks = h("dialog", { class: "cq-small cq-signin", "aria-label": t("Sign in again") }, form);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (enter.disabled) return;
    enter.disabled = true;
    problem.hidden = true;
    const failure = await until(attempt(name.value, password.value));
    enter.disabled = false;
    if (!failure) return void asks.close("yes");
    tellIn(problem, failure);
    password.select();
  });
  document.body.append(asks);
  const closed = once(asks);
  (who ? password : name).focus();
  return (await closed) === "yes";
}

/** "" once signed in, else a sentence. @param {string} name @param {string} password */
async function attempt(name, password) {
  try {
    const answer = await fetch(at("sign-in"), { method: "POST", body: JSON.stringify({ name, password }),
      headers: { "Content-Type": "application/json", Accept: "application/json" } });
    if (answer.ok) return "";
    return told((await answer.json()).problem ?? "") || t("That did not work. Try again.");
  } catch {
    return t("The server does not answer. Check that it is running and try again.");
  }
}
