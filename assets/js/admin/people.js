// The people screen: who may sign in and as what, and links with which others make an account.
import { ApiProblem, api, at, confirm, copy, dialog, field, h, once, openScreen, say, setKeys, toast } from "../shared/common.js";
import { day } from "../shared/words.js";

const LEAST = 8; // characters of a password

setKeys([["?", "These keys"]]);

export const mount = (/** @type {HTMLElement} */ element) => openScreen(element, { page: "people", styles: ["study", "people"], css: "cq-pe" },
  async (body, { me }) => screen(body, me, await api("GET", "people/all")));

function screen(/** @type {HTMLElement} */ body, /** @type {Me} */ me, /** @type {People} */ first) {
  const roles = first.roles.map(({ role }) => role);
  const list = h("section", { "aria-label": "Accounts" });
  const links = h("section", { "aria-label": "Invitations" });

  /** Says what went wrong, and answers null then. @param {string} path @param {object} sent @param {string} [done] */
  async function change(path, sent, done) {
    try {
      const answer = /** @type {People} */ (await api("POST", `people/${path}`, sent));
      draw(answer);
      if (done) toast(`${done}${withdrawn(answer)}`);
      return answer;
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      toast(error.message);
      return null;
    }
  }

  const mine = (/** @type {Account} */ person) => !me.open && person.name === me.name;
  const choice = (/** @type {Props} */ props, /** @type {string} */ chosen, /** @type {string[]} */ from = roles) => h("select", props,
    from.map((role) => h("option", { value: role, text: role, selected: role === chosen })));

  function row(/** @type {Account} */ person) {
    const role = choice({ "aria-label": `Role of ${person.name}`, onchange: async () => {
      const sure = !mine(person) || await confirm("Change your own role?", "You may not be able to open this page afterwards.", "Change it");
      if (!sure || !(await change("role", { name: person.name, role: role.value }, `${person.name} is ${role.value} now.`))) {
        role.value = person.role;
      } else if (mine(person)) window.location.reload();
    } }, person.role);
    const shut = person.active
      ? h("button", { class: "cq-btn small", type: "button", text: "Deactivate", "aria-label": `Deactivate ${person.name}`, onclick: () => deactivate(person) })
      : h("button", { class: "cq-btn small", type: "button", text: "Reactivate", "aria-label": `Reactivate ${person.name}`,
        onclick: () => change("active", { name: person.name, active: true }, `${person.name} may sign in again.`) });
    return h("tr", { class: person.active ? null : "off" },
      h("th", { scope: "row" }, h("b", { text: person.name, dir: "auto" }), mine(person) ? h("span", { class: "cq-quiet", text: " you" }) : null,
        person.active ? null : h("span", { class: "cq-quiet", text: " cannot sign in" })),
      h("td", {}, role),
      h("td", { class: "cq-quiet cq-pesince", text: `since ${day(person.created_at)}` }),
      h("td", {}, h("div", { class: "cq-row" },
        h("button", { class: "cq-btn small", type: "button", text: "New password", "aria-label": `New password for ${person.name}`, onclick: () => askPassword(person) }), shut)));
  }

  async function deactivate(/** @type {Account} */ person) {
    const yes = await confirm(mine(person) ? "Deactivate yourself?" : `Deactivate ${person.name}?`,
      `${mine(person) ? "You are" : `${person.name} is`} signed out at once, and open invitations are withdrawn. Their judgements are kept, and an admin can undo this.`, "Deactivate");
    if (yes && await change("active", { name: person.name, active: false }, `${person.name} can no longer sign in.`) && mine(person)) {
      window.location.assign(at("sign-in"));
    }
  }

  async function withdraw(/** @type {Invitation} */ { invitation, role }) {
    const yes = await confirm("Withdraw this invitation?",
      `The link of ${invitation} (${role}) can no longer be used. Accounts created with it stay.`, "Withdraw it");
    if (yes) await change("withdraw", { invitation }, "The invitation is withdrawn.");
  }

  function askPassword(/** @type {Account} */ person) {
    const password = passwordField();
    const form = h("form", { onsubmit: async (event) => {
      event.preventDefault();
      if (!(await change("password", { name: person.name, password: password.input.value }))) return;
      const done = h("button", { class: "cq-btn primary", type: "button", text: "Done", onclick: () => asks.close() });
      form.replaceChildren(h("header", {}, h("h2", {}, h("bdi", { text: person.name }), " has a new password")),
        ...shownOnce("The new password", password.input.value), h("div", { class: "cq-row" }, done));
      done.focus();
    } }, h("header", {}, h("h2", {}, "New password for ", h("bdi", { text: person.name }))),
    h("p", { text: mine(person) ? "You are signed out everywhere; sign in again with the new password." : "This ends their sign-ins. Pass the password on yourself." }),
    password.element,
    h("div", { class: "cq-row" }, h("button", { class: "cq-btn primary", text: "Set it" }),
      h("button", { class: "cq-btn", type: "button", text: "Cancel", onclick: () => asks.close() })));
    const asks = dialog({ class: "cq-small", "aria-label": `New password for ${person.name}` }, form);
    once(asks);
    password.input.focus();
  }

  function addForm() {
    const name = h("input", { name: "name", required: true, maxlength: 64, autocomplete: "off", spellcheck: "false", dir: "auto" });
    const role = choice({ name: "role" }, me.open ? "admin" : "annotator", me.open ? ["admin"] : roles);
    const password = passwordField();
    const made = h("div", { "aria-live": "polite" });
    const form = h("form", { class: "cq-peform", onsubmit: async (event) => {
      event.preventDefault();
      const added = await change("add", { name: name.value, password: password.input.value, role: role.value });
      if (!added) return;
      if (me.open) return window.location.assign(`${at("sign-in")}?next=%2Fpeople`);
      made.replaceChildren(...shownOnce(`Password of ${added.added}`, password.input.value));
      toast(`${added.added} may sign in now.`);
      form.reset();
      name.focus();
    } }, field("Name", name), field("Role", role), password.element, h("button", { class: "cq-btn primary", text: me.open ? "Create the admin account" : "Add" }));
    return h("section", { "aria-label": "Add a person" }, h("h2", { text: me.open ? "Create the first account" : "Add a person" }),
      h("p", { class: "cq-quiet", text: me.open
        ? "No accounts yet: no sign-in is needed, and cirque is reachable from this machine only. The first account must be an admin. From then on everyone has to sign in, including you."
        : "You choose the name and password and pass them on. With an invitation, people choose their own." }), form, made);
  }

  function inviteForm() {
    const role = choice({ name: "role" }, "annotator");
    const days = h("input", { type: "number", name: "days", min: 1, max: 365, step: 1, value: 7, required: true });
    const uses = h("input", { type: "number", name: "uses", min: 1, max: 1000, step: 1, value: 1, required: true });
    const made = h("div", { "aria-live": "polite" });
    const form = h("form", { class: "cq-peform", onsubmit: async (event) => {
      event.preventDefault();
      const answer = await change("invite", { role: role.value, days: Number(days.value), uses: Number(uses.value) });
      if (answer?.path) made.replaceChildren(...shownOnce("Invitation link", at(answer.path)));
    } }, field("Role", role), field("Valid for (days)", days), field("Number of uses", uses), h("button", { class: "cq-btn primary", text: "Create link" }));
    return h("section", { "aria-label": "Invite" }, h("h2", { text: "Invite" }),
      h("p", { class: "cq-quiet", text: "Anyone with the link can create an account." }), form, made, links);
  }

  function draw(/** @type {People} */ { people, invitations }) {
    list.replaceChildren(people.length
      ? h("div", { class: "cq-pescroll" }, h("table", { class: "cq-petable" },
        h("thead", { class: "sr" }, h("tr", {}, ["Name", "Role", "Since", "Change"].map((text) => h("th", { scope: "col", text })))),
        h("tbody", {}, people.map(row))))
      : h("p", { class: "cq-quiet", text: "No accounts yet." }));
    links.replaceChildren(...(invitations.length ? [h("h3", { class: "cq-label", text: "Open invitations" }),
      h("ul", { class: "cq-quiet cq-peopen" }, invitations.map((one) => h("li", {}, h("code", { text: one.invitation }),
        h("span", {}, `${one.role}, ${one.uses_left === 1 ? "one person" : `${one.uses_left} people`}, until ${day(one.expires_at)}, by `, h("bdi", { text: one.created_by })),
        h("button", { class: "cq-btn small", type: "button", text: "Withdraw", "aria-label": `Withdraw the invitation ${one.invitation}`, onclick: () => withdraw(one) }))))] : []));
  }

  body.replaceChildren(h("h1", { text: "People" }), ...(first.notice ? [h("p", { class: "cq-note", role: "note", text: first.notice })] : []), list, ...(me.open ? [] : [inviteForm()]), addForm(),
    h("section", { "aria-label": "Roles" }, h("h2", { text: "Roles" }),
      h("dl", { class: "cq-peroles" }, first.roles.map(({ role, says }) => h("div", {}, h("dt", { text: role }), h("dd", { text: says }))))));
  draw(first);
  say(first.people.length === 1 ? "1 person" : `${first.people.length} people`);
}

// Of who invites nobody any more; the server counts them.
/** @type {(answer: People) => string} */
const withdrawn = ({ withdrawn: count }) => (!count ? "" : count === 1 ? " An open invitation was withdrawn." : ` ${count} open invitations were withdrawn.`);

// In plain sight: an admin has to pass it on.
function passwordField() {
  const input = h("input", { name: "password", required: true, minlength: LEAST, maxlength: 1024, autocomplete: "off", spellcheck: "false" });
  const invent = h("button", { class: "cq-btn", type: "button", text: "Generate", onclick: () => { input.value = invented(); input.focus(); } });
  return { input, element: h("div", { class: "cq-pepassword" }, field(`Password (at least ${LEAST} characters)`, input), invent) };
}

// Twelve of 32 letters and digits that are not mistaken for each other: 60 bits.
function invented() {
  const letters = "abcdefghjkmnpqrstuvwxyz123456789";
  const drawn = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => letters[byte % letters.length]).join("");
  return drawn.replace(/(.{4})(?=.)/g, "$1-");
}

function shownOnce(/** @type {string} */ label, /** @type {string} */ value) {
  const shown = h("input", { readonly: true, value, onfocus: () => { shown.select(); } });
  return [h("div", { class: "cq-peonce" }, field(label, shown),
    h("button", { class: "cq-btn", type: "button", text: "Copy", onclick: () => copy(value, { shown }) })), h("p", { class: "cq-quiet", text: "Copy it now: it is shown only once." })];
}
