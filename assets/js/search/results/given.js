// What a person gives in this tab, kept by the server one after another: of several quick presses the last one stays.

/**
 * @template Data, Value @param {(data: Data, value: Value) => Promise<unknown>} send
 * @param {(problem: unknown) => void} failed what is given is then again what was kept last, if anything
 */
export function createGiven(send, failed) {
  const given = /** @type {Map<string, Value>} */ (new Map()), kept = /** @type {Map<string, Value>} */ (new Map());
  let sending = Promise.resolve();
  return {
    of: (/** @type {string} */ key) => given.get(key),
    /** @type {(key: string, value: Value, data: Data) => Promise<void>} ``key``: what the value is about */
    give(key, value, data) {
      given.set(key, value);
      const before = sending;
      sending = before.then(() => send(data, value)).then(() => { kept.set(key, value); }, (problem) => {
        if (given.get(key) === value) {
          const last = kept.get(key);
          if (last === undefined) given.delete(key);
          else given.set(key, last);
        }
        failed(problem);
      });
      return sending;
    },
  };
}
