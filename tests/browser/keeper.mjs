// @ts-check
// A worker that keeps sessions in the origin's private files, as a tab's program has it: does what the tab says, and
// tells each append that was acknowledged.

const [{ loadWasm, openStore }, { OpfsStorage }] = await Promise.all(
  ["slim", "opfs"].map((name) => import(/** @type {string} */ (`/package/pkg/web/${name}.js`))),
);
const fileUrl = (/** @type {string} */ name) => new URL(`/package/pkg/${name}`, location.href);
await loadWasm({ leftoff: fileUrl("leftoff.wasm") });
/** @type {import("../../js/index.js").Store} */
const store = await openStore({ storage: new OpfsStorage() });
const files = new OpfsStorage();

/** What a message says beside its name, so that an append takes a while. */
const PADDING = "said at length ".repeat(500);

/** @param {string} id @param {string} name of the message */
async function append(id, name) {
  const session = await store.session(id);
  const { acknowledged } = await session.append({ role: "user", content: `${name} ${PADDING}` });
  postMessage({ acknowledged: name, how: acknowledged });
}

/** @type {Record<string, (...given: any[]) => Promise<unknown>>} */
const WORK = {
  create: async () => (await store.create({ title: "Kept" })).id,
  append,
  /** Appends until the tab is closed, once no other tab does. @param {string} id @param {string} tab @param {number} most */
  appendOn: (id, tab, most) =>
    navigator.locks.request(id, async () => {
      for (let place = 0; place < most; place += 1) await append(id, `${tab}/${place}`);
    }),
  /** What a session has, who has it open, and what is wrong with it. @param {string} id */
  async read(id) {
    await loadWasm({ agents: fileUrl("agents.wasm") });
    const session = await store.session(id);
    const names = [];
    for await (const { content } of session.messages()) names.push(content.split(" ")[0]);
    return { names, others: (await session.others()).length, problems: (await session.examine()).problems };
  },
  /** Puts so many bytes in a file's place. @param {number} size */
  replace: (size) => files.replace("/document", new Uint8Array(size)),
  size: async () => (await files.stat("/document"))?.size,
  remove: async (id) => void (await store.delete(await store.session(id), { purge: true })),
};

addEventListener("message", async ({ data: { name, given } }) => {
  const answer = await WORK[name](...given).then(
    (value) => ({ value }),
    ({ code, message }) => ({ error: { code, message } }),
  );
  postMessage(answer);
});
postMessage({ value: "ready" });
