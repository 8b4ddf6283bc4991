// @ts-check
// What a page or a worker does with the package, and what it got: by the package's name alone, whatever found it.

/** @param {string} what @param {unknown} found @param {unknown} expected */
function equal(what, found, expected) {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, but found ${JSON.stringify(found)} instead`);
}

/**
 * An agent's file, and what a model call would get of it.
 * @param {typeof import("../../js/index.js").readTranscript} readTranscript @param {Blob} file
 */
export async function readOf(readTranscript, file) {
  const transcript = await readTranscript(file);
  const { messages, tokensUsed } = await transcript.context({ window: 8_000, encoding: "o200k_base" });
  return { session: transcript.session, said: transcript.slice(), messages, tokensUsed };
}

/**
 * What a page hears that waits for nothing, before anything is loaded.
 * @param {typeof import("../../js/index.js")} leftoff
 */
export async function early({ LeftoffError, listText }) {
  const error = await Promise.resolve()
    .then(() => listText([]))
    .catch((cause) => cause);
  equal("what waits for nothing", error instanceof LeftoffError && error.code, "asset_missing");
}

/**
 * @param {typeof import("../../js/index.js")} leftoff
 * @param {{ transcript: Uint8Array<ArrayBuffer>, expected: unknown }} foreign an agent's own file, and what Node reads
 *   of it
 */
export async function exercisePackage(
  { LeftoffError, MemoryStorage, countTokens, listText, loadWasm, openStore, readTranscript },
  { transcript, expected },
) {
  equal("what Node reads of an agent's file", await readOf(readTranscript, new Blob([transcript])), expected);
  equal("exact counts", await countTokens(["hello world", "hello"], { encoding: "cl100k_base" }), [2, 1]);

  const storage = new MemoryStorage();
  const store = await openStore({ storage });
  const session = await store.create({ title: "The parser" });
  equal(
    "what memory acknowledges",
    (
      await session.append([
        { role: "user", content: "Where were we?" },
        { role: "assistant", content: "At the parser." },
      ])
    ).acknowledged,
    "volatile",
  );
  equal(
    "a stored session's context",
    (await session.context({ window: 8_000, format: "openai-chat" })).messages.map(({ role }) => role),
    ["user", "assistant"],
  );
  await store.close();
  const again = await openStore();
  equal("a store of nobody else's", (await again.list()).length, 0);
  const imported = await again.create();
  await imported.append({ role: "user", content: "kept as long as the page" });
  equal("sessions that words find", [(await again.find("kept")).length, (await again.list()).length], [1, 1]);
  for (const [code, refused] of /** @type {[string, Promise<unknown>][]} */ ([
    ["not_found", readTranscript("/etc/passwd")],
    ["git_missing", again.create({ placement: "workspace", name: "a" }).then((one) => again.commit(one))],
  ])) {
    const error = await refused.catch((cause) => cause);
    equal("what a page is refused", error instanceof LeftoffError && error.code, code);
  }
  await again.close();
  await loadWasm();
  equal("what waits for nothing, now", typeof listText([]), "string");
}
