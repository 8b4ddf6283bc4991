// @ts-check
// What the storages' contract suite uses of Node, where there is none: tests that run one after another, and what they
// assert.

/** @typedef {{ name: string, error?: string }} Result */

/** @type {[name: string, work: () => unknown][]} */
const waiting = [];

/** @param {string} _ @param {() => void} body */
export const describe = (_, body) => body();
/** @param {string} name @param {() => unknown} work */
export const test = (name, work) => void waiting.push([name, work]);

/** What came of all of them. @returns {Promise<Result[]>} */
export async function runWaiting() {
  const results = [];
  for (const [name, work] of waiting.splice(0)) {
    const error = await Promise.resolve()
      .then(work)
      .then(
        () => undefined,
        (cause) => String(cause?.stack ?? cause),
      );
    results.push({ name, error });
  }
  return results;
}

/** @param {any} a @param {any} b @returns {boolean} */
function isDeepEqual(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isDeepEqual(a[key], b[key]))
  );
}

/** @param {boolean} is @param {string | undefined} message @param {unknown[]} shown */
function claim(is, message, ...shown) {
  if (!is) throw new Error(`${message ?? "expected something else"}: ${JSON.stringify(shown)?.slice(0, 500)}`);
}

/** @param {any} promise @param {any} [expected] a function that says whether it is the right error, or fields of it */
async function rejects(promise, expected) {
  const error = await Promise.resolve(typeof promise === "function" ? promise() : promise).then(
    () => undefined,
    (cause) => cause,
  );
  claim(error !== undefined, "expected an error, but found none");
  if (typeof expected === "function") claim(expected(error) === true, "expected another error", String(error));
  else
    for (const [key, value] of Object.entries(expected ?? {}))
      claim(isDeepEqual(error[key], value), `expected another ${key}`, error[key], value);
}

// `node:test` and `node:assert/strict`, both.
export default {
  ok: (/** @type {unknown} */ is, /** @type {string} */ message) => claim(Boolean(is), message),
  equal: (/** @type {unknown} */ a, /** @type {unknown} */ b, /** @type {string} */ message) =>
    claim(Object.is(a, b), message, a, b),
  deepEqual: (/** @type {unknown} */ a, /** @type {unknown} */ b, /** @type {string} */ message) =>
    claim(isDeepEqual(a, b), message, a, b),
  notDeepEqual: (/** @type {unknown} */ a, /** @type {unknown} */ b, /** @type {string} */ message) =>
    claim(!isDeepEqual(a, b), message, a, b),
  rejects,
};
