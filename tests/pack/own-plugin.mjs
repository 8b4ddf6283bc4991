// Runs the example of a plugin for OpenCode, as OpenCode does: a session notes a task, and another one asks what is open.
// Arguments: the example, and the project's folder.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [example = "", directory = ""] = process.argv.slice(2);
const { OpenTasks } = await import(pathToFileURL(example).href);
/** @type {string[]} */
const failures = [];
/** @type {import("leftoff/opencode").OpenCodeClient} */
const client = {
  session: {
    get: async ({ path: { id } }) => ({ data: { id, title: `Session ${id}` } }),
    messages: async () => ({ data: [] }),
  },
  app: { log: async ({ body }) => void failures.push(body.message) },
};
const todos = [{ id: "1", content: "Write the changelog", status: "pending", priority: "high" }];
const { event, tool, dispose } = await OpenTasks({ client, directory });

/** @param {string} sessionID @param {object} info @param {object} part */
async function say(sessionID, info, part) {
  const id = `msg_${sessionID}`;
  const whole = { id, sessionID, time: { created: 1790000000000, completed: 1790000000009 }, ...info };
  await event({ event: { type: "message.updated", properties: { info: whole } } });
  const told = { id: `prt_${sessionID}`, sessionID, messageID: id, ...part };
  await event({ event: { type: "message.part.updated", properties: { part: told } } });
}

const noted = {
  status: "completed",
  input: { todos },
  output: JSON.stringify(todos),
  time: {},
  metadata: {},
  title: "",
};
await say("one", { role: "assistant" }, { type: "tool", tool: "todowrite", callID: "call_1", state: noted });
await say("two", { role: "user" }, { type: "text", text: "What is open?" });
const answer = (/** @type {string} */ sessionID) => tool.open_tasks.execute({}, { sessionID });
// Its own session is recorded by the time that the tool answers; another one's, once its client rests.
assert.equal(await answer("one"), "Nothing is open.");
assert.equal(await answer("two"), "Session one: Write the changelog");
await dispose();
assert.deepEqual(failures, []);
