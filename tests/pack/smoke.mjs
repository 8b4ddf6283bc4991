// @ts-check
// What a program does with the package, whatever loaded it.

/** @param {typeof import("../../js/index.js")} leftoff @param {{ project: string, home: string }} places */
export async function smoke({ openStore, countTokens, LeftoffError, MemoryStorage }, { project, home }) {
  /** @param {unknown} found @param {unknown} expected */
  const equal = (found, expected) => {
    if (JSON.stringify(found) !== JSON.stringify(expected))
      throw new Error(`expected ${JSON.stringify(expected)}, but found ${JSON.stringify(found)}`);
  };
  equal(await countTokens("hello world"), 2);
  const store = await openStore({ project, home });
  const session = await store.continue({ model: "gpt-5" });
  const { acknowledged } = await session.append({ role: "user", content: "what is left?" });
  equal(acknowledged, "durable");
  const { messages } = await session.context({ window: 8_000, format: "ai-sdk" });
  equal(messages, [{ role: "user", content: "what is left?" }]);
  await store.close();
  const again = await openStore({ project, home });
  equal(
    (await again.list()).map((one) => one.messageCount),
    [1],
  );
  await again.close();
  const inMemory = await openStore({ project, storage: new MemoryStorage() });
  equal((await (await inMemory.create()).append({ role: "user", content: "x" })).acknowledged, "volatile");
  const refused = await (
    await inMemory.create()
  )
    .append({ role: "boss" })
    .catch((/** @type {unknown} */ error) => error);
  equal(refused instanceof LeftoffError && refused.code, "invalid_request");
  console.log("  the package works");
}
