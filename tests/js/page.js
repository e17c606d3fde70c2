// As much of a browser as the modules under test ask for: storage, events of the page, a server that is played.

const events = () => ({ ...Object.fromEntries(["hidden"].map((name) => [name, false])), documentElement: { dataset: {} }, heard: new Map(),
  addEventListener(name, hears) { this.heard.set(name, [...(this.heard.get(name) ?? []), hears]); },
  happens(name) { for (const hears of this.heard.get(name) ?? []) hears(); } });
globalThis.document ??= events(); // modules listen to it as they are imported

// Sets the globals anew. ``answer({path, body})`` is the JSON of the server, or throws where nobody answers.
export function openPage(answer = () => ({})) {
  const store = new Map();
  const page = { document: events(), window: events(), calls: [], headers: [] };
  const given = {
    document: page.document, window: page.window,
    localStorage: { getItem: (key) => store.get(key) ?? null, setItem: (key, value) => store.set(key, value), removeItem: (key) => store.delete(key) },
    fetch: async (address, { body, headers }) => {
      const call = { path: new URL(address).pathname.replace(/^.*\/(study\/)/, "$1"), body: body ? JSON.parse(body) : undefined };
      page.calls.push(call);
      page.headers.push(headers);
      const { status = 200, ...value } = await answer(call);
      return { ok: status < 400, status, type: "basic", text: async () => JSON.stringify(value) };
    },
  };
  for (const [name, value] of Object.entries(given)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return { ...page, store };
}
