// Takes an agent's file into a store, and says what a model with a small window would get of it. In Deno, with no more
// leave than this:
//
//     deno run --allow-read --allow-write import.mjs transcript.jsonl store

import { openStore } from "leftoff";

const [file, home] = globalThis.Deno?.args ?? process.argv.slice(2);
const store = await openStore({ home });
const { imported, problems } = await store.import(file);
for (const { id, agent } of imported) {
  const session = await store.session(id);
  const { messages, tokensUsed } = await session.context({ window: 8_000 });
  console.log(`${agent}: ${messages.length} messages in ${tokensUsed} tokens`);
}
for (const { message } of problems) console.error(message);
await store.close();
