// The chat server of server.mjs as an Express application: `npm install express leftoff`.
//
//     node express.mjs store
//     curl -H 'content-type: application/json' -d '{"chat":"first","text":"Hello"}' localhost:8080

import process from "node:process";
import express from "express";
import { LeftoffError, openStore } from "leftoff";

const store = await openStore({ home: process.argv[2] });
/** The session of each chat. @type {Map<string, Promise<import("leftoff").Session>>} */
const chats = new Map();

/** @param {string} chat */
function sessionOf(chat) {
  const session = chats.get(chat) ?? store.create({ title: chat, model: "gpt-5" });
  chats.set(chat, session);
  return session;
}

const app = express();
app.post("/", express.json(), async ({ body: { chat, text } }, response) => {
  const session = await sessionOf(chat);
  await session.append({ role: "user", content: text });
  const { messages } = await session.context({ format: "openai-chat" });
  // Here a model is asked.
  const answer = `You said: ${messages.at(-1)?.content}`;
  await session.append({ role: "assistant", content: answer });
  response.json({ answer, messages: messages.length });
});
app.use((error, _request, response, _next) => {
  response.status(400).json({ error: error instanceof LeftoffError ? error.code : String(error) });
});
const server = app.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}`),
);
process.once("SIGTERM", () => server.close(() => void store.close()));
