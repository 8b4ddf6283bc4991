// A chat server that keeps each conversation: what is posted is appended, and the model gets the context that fits it.
// In place of a model, this one repeats what it was told.
//
//     node server.mjs store
//     curl -d '{"chat":"first","text":"Hello"}' localhost:8080

import { createServer } from "node:http";
import process from "node:process";
import { openStore } from "leftoff";

const store = await openStore({ home: process.argv[2] });
/** The session of each chat. @type {Map<string, Promise<import("leftoff").Session>>} */
const chats = new Map();

/** @param {string} chat */
function sessionOf(chat) {
  const session = chats.get(chat) ?? store.create({ title: chat, model: "gpt-5" });
  chats.set(chat, session);
  return session;
}

/** @param {{ messages: { content?: unknown }[] }} context */
const model = async ({ messages }) => `You said: ${messages.at(-1)?.content}`;

const server = createServer(async (request, response) => {
  try {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const { chat, text } = JSON.parse(body);
    const session = await sessionOf(chat);
    await session.append({ role: "user", content: text });
    const context = await session.context({ format: "openai-chat" });
    const answer = await model(context);
    await session.append({ role: "assistant", content: answer });
    response.end(JSON.stringify({ answer, messages: context.messages.length }));
  } catch (error) {
    response.writeHead(400).end(JSON.stringify({ error: String(error) }));
  }
});
server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`),
);
process.once("SIGTERM", () => server.close(() => void store.close()));
