// Files of a new study: chosen or dropped, sent one after the other, and what has come.
import { ApiProblem, api, at, h, messageOf, tellIn, until } from "../../shared/common.js";
import { plural } from "../../shared/words.js";

const AT_ONCE = 3;

// Sends a file's bytes; ``told`` hears which part of them has gone.
/** @type {(draft: string, part: DraftPart, file: File, told: (part: number) => void) => Promise<DraftFiles>} */
function send(draft, part, file, told) {
  const { promise, resolve, reject } = /** @type {PromiseWithResolvers<DraftFiles>} */ (Promise.withResolvers());
  const call = new XMLHttpRequest();
  const away = () => reject(new ApiProblem(0, "The server does not answer. Choose the files again; those already sent are kept.", "away"));
  call.open("POST", at(`studies/new/file?draft=${draft}&part=${part}`));
  call.setRequestHeader("X-File-Name", encodeURIComponent(file.webkitRelativePath || file.name));
  call.setRequestHeader("Accept", "application/json");
  call.upload.onprogress = ({ loaded, total }) => told(total ? loaded / total : 1);
  call.onerror = away;
  call.onload = () => {
    let answer = null;
    try {
      answer = JSON.parse(call.responseText);
    } catch { /* a proxy in between says so in HTML */ }
    if (call.status === 200 && answer) resolve(answer);
    else if (call.status === 413 && !answer) reject(new ApiProblem(413, `${file.name} is larger than the proxy in front of cirque allows. Ask its administrator (docs/how-to/operate/deployment.md), or split the file.`, "too-large"));
    else if (answer) reject(new ApiProblem(call.status, answer.problem || answer.error, answer.kind || "other"));
    else away();
  };
  call.send(file);
  return promise;
}

/**
 * The draft that files go into, begun when it is first needed, and the calls about it: a study takes the draft's files
 * away, so that it is created only when all of them have ended.
 * @param {{ draft: string }} typed @param {() => void} keep
 */
export function draftOf(typed, keep) {
  let beginning = /** @type {Promise<string> | null} */ (null);
  const calls = /** @type {Set<Promise<unknown>>} */ (new Set());
  return {
    draft: async () => {
      if (typed.draft) return typed.draft;
      beginning ??= api("POST", "studies/new/begin", {}).then((found) => { typed.draft = found.draft; keep(); return found.draft; }).finally(() => { beginning = null; });
      return beginning;
    },
    /** @type {<T>(call: Promise<T>) => Promise<T>} */
    during(call) {
      const over = () => calls.delete(call);
      calls.add(call);
      call.then(over, over);
      return call;
    },
    async ended(/** @type {() => void} */ waiting) {
      while (calls.size) {
        waiting();
        await Promise.allSettled(calls);
      }
    },
    /** What was sent before a reload; null without any, and where it is gone, which ``problem`` then says. @param {HTMLElement} problem */
    async uploaded(problem) {
      if (!typed.draft) return null;
      try {
        return await api("GET", `studies/new/files?draft=${typed.draft}`);
      } catch (error) {
        if (!(error instanceof ApiProblem) || error.kind === "away") throw error;
        typed.draft = "";
        tellIn(problem, messageOf(error));
        return null;
      }
    },
    async drop() {
      if (typed.draft) await api("POST", "studies/new/drop", { draft: typed.draft, part: "" }).catch(() => {});
    },
  };
}

const size = (/** @type {{ bytes: number }[]} */ files) => {
  const kb = files.reduce((sum, { bytes }) => sum + bytes, 0) / 1024;
  return kb < 1000 ? `${Math.ceil(kb)} kB` : `${kb < 10240 ? (kb / 1024).toFixed(1) : Math.round(kb / 1024).toLocaleString("en")} MB`;
};

/**
 * A place for files of a part. ``changed(files)`` hears what is there then.
 * @param {{ part: DraftPart, label: string, hint: string, accept: string, many?: boolean, folder?: boolean, draft(): Promise<string>, during(work: Promise<unknown>): unknown, changed(files: DraftFiles): unknown }} of
 */
export function fileBox({ part, label, hint, accept, many = false, folder = false, draft, during, changed }) {
  const problem = h("p", { class: "cq-inline cq-stlines", role: "alert", hidden: true }), state = h("p", { class: "cq-quiet", role: "status" });
  const bar = h("progress", { class: "st-bar", max: 1, value: 0, hidden: true, "aria-label": `${label}: sent` });
  const chosen = (/** @type {HTMLInputElement} */ input) => { during(take([...(input.files ?? [])])); input.value = ""; };
  const input = h("input", { type: "file", class: "sr", accept, multiple: many, "aria-label": label, onchange: () => { chosen(input); } });
  const whole = h("input", { type: "file", class: "sr", webkitdirectory: true, multiple: true, "aria-label": `${label}: a folder`, onchange: () => { chosen(whole); } });
  const drop = h("button", { class: "cq-btn small", type: "button", text: "Remove", hidden: true, onclick: async () => {
    try {
      took(await api("POST", "studies/new/drop", { draft: await draft(), part }));
    } catch (error) {
      tellIn(problem, messageOf(error));
    }
  } });
  const element = h("div", { class: "cq-stdrop", ondragover: (event) => { event.preventDefault(); element.classList.add("over"); },
    ondragleave: () => { element.classList.remove("over"); },
    ondrop: (event) => {
      event.preventDefault();
      element.classList.remove("over");
      during(take([...(event.dataTransfer?.files ?? [])]));
    } },
  h("div", { class: "cq-row" }, h("button", { class: "cq-btn", type: "button", text: many ? "Choose files" : "Choose a file", "aria-label": `${label}: choose`, onclick: () => input.click() }),
    folder ? h("button", { class: "cq-btn", type: "button", text: "Choose a folder", onclick: () => whole.click() }) : null, h("span", { class: "cq-quiet", text: hint }), input, folder ? whole : null),
  bar, h("div", { class: "cq-row" }, state, drop), problem);

  function took(/** @type {DraftFiles} */ files) {
    show(files);
    changed(files);
  }
  function show(/** @type {DraftFiles} */ files) {
    const there = files[part];
    state.textContent = !there.length ? "" : there.length === 1 ? `${there[0].name}, ${size(there)}` : `${plural(there.length, "file")}, ${size(there)}`;
    drop.hidden = !there.length;
  }
  async function take(/** @type {File[]} */ files) {
    const wanted = (many ? files : files.slice(0, 1)).filter(({ name }) => !name.startsWith("."));
    if (!wanted.length) return;
    tellIn(problem, "");
    bar.hidden = false;
    const parts = wanted.map(() => 0), queue = [...wanted.keys()];
    let last = /** @type {DraftFiles | null} */ (null);
    const failed = /** @type {string[]} */ ([]);
    try {
      const into = await draft();
      await until(Promise.all(Array.from({ length: AT_ONCE }, async () => {
        for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
          const number = one, file = wanted[number];
          try {
            last = await send(into, part, file, (gone) => { parts[number] = gone; bar.value = parts.reduce((sum, it) => sum + it, 0) / parts.length; });
          } catch (error) {
            failed.push(`${file.name}: ${messageOf(error)}`);
            if (!(error instanceof ApiProblem) || error.status !== 400) queue.length = 0; // the others would fare the same
          }
        }
      })));
      if (last) took(await api("GET", `studies/new/files?draft=${into}`));
    } catch (error) {
      failed.push(messageOf(error));
    }
    bar.hidden = true;
    tellIn(problem, failed.slice(0, 5).join("\n"));
  }
  return { element, show };
}
