// @ts-check
// A tab whose worker keeps sessions.

const worker = new Worker("/tests/keeper.mjs", { type: "module" });
/** What waits for the worker's next answer. */
let answered = Promise.withResolvers();
const ready = answered.promise;

worker.addEventListener("message", ({ data }) => {
  if (data.acknowledged) return /** @type {any} */ (globalThis).acknowledge(data.acknowledged);
  answered.resolve(data);
});
worker.addEventListener("error", ({ message }) => answered.reject(new Error(message)));

Object.assign(globalThis, {
  /** Has the worker do something, one thing at a time. @param {string} name @param {unknown[]} given */
  run: async (name, ...given) => {
    await ready;
    answered = Promise.withResolvers();
    worker.postMessage({ name, given });
    return answered.promise;
  },
});
