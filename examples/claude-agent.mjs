// Asks Claude by the Claude Agent SDK, and keeps the session in leftoff: it can go on where nothing but the store is, and
// is listed, searched and resumed in other agents.
//
//     node claude-agent.mjs "Rename the parser."
//     node claude-agent.mjs "And its tests?" SESSION

import { foldSessionSummary, query } from "@anthropic-ai/claude-agent-sdk";
import { openStore } from "leftoff";
import { sessionStore } from "leftoff/claude";

const [prompt = "", resume] = process.argv.slice(2);
const store = await openStore();
const sessions = sessionStore({ store, foldSessionSummary });
for await (const message of query({ prompt, options: { sessionStore: sessions, resume } })) {
  if (message.type === "result") console.log(`${message.result}\n\nsession ${message.session_id}`);
  // A batch that could not be stored, the disk being full.
  if (message.type === "system" && message.subtype === "mirror_error") console.error(message.error);
}
await sessions.close();
await store.close();
