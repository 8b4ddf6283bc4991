// Keeps one conversation in the browser's private files: only a worker may write to them. In place of a model, it
// repeats what it was told.

const place = new URL(location.href).searchParams.get("leftoff");
// With a bundler: import { openStore } from "leftoff"; import { OpfsStorage } from "leftoff/storage/opfs";
const [{ openStore }, { OpfsStorage }] = await Promise.all([import(`${place}index.js`), import(`${place}opfs.js`)]);

const store = await openStore({ storage: new OpfsStorage() });
const session = await store.continue({ model: "gpt-5" });

async function tell() {
  const messages = [];
  for await (const { role, content } of session.messages()) messages.push({ role, content });
  postMessage({ messages });
}

// One after another, in the order in which they were said.
let turn = tell();
addEventListener("message", ({ data }) => {
  turn = turn
    .then(async () => {
      await session.append({ role: "user", content: data });
      const { messages } = await session.context({ window: 8_000, encoding: "estimate-1" });
      await session.append({ role: "assistant", content: `You said: ${messages.at(-1).content}` });
      await tell();
    })
    .catch((error) => postMessage({ error: error.message }));
});
