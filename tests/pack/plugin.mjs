// Records a prompt as OpenCode tells of it, with the plugin as a package has it, and finds it in the store.
// Arguments: the store's folder, the project's.

import assert from "node:assert/strict";
import { openStore } from "leftoff";
import plugin from "leftoff/server";

const [home = "", directory = ""] = process.argv.slice(2);
const of = { sessionID: "ses_1", messageID: "msg_1" };
const info = { id: "msg_1", sessionID: "ses_1", role: "user", time: { created: 1790000000000 } };
const part = { id: "prt_1", ...of, type: "text", text: "Rename the parser." };
/** @type {string[]} */
const failures = [];
/** @type {import("leftoff/opencode").OpenCodeClient} */
const client = {
  session: { get: async () => ({ data: { id: "ses_1" } }), messages: async () => ({ data: [] }) },
  app: { log: async ({ body }) => void failures.push(body.message) },
};
const hooks = /** @type {import("leftoff/opencode").OpenCodeHooks} */ (
  await plugin.server({ client, directory }, { home })
);
assert.deepEqual(await plugin.server({ client, directory }, { home }), {}, "it runs once in a project");
await hooks.event({ event: { type: "message.updated", properties: { info } } });
await hooks.event({ event: { type: "message.part.updated", properties: { part } } });
const asked = { words: "parser", cursor: "" };
await hooks["experimental.session.compacting"]({ sessionID: "ses_1" }, { context: [] });
assert.match(await hooks.tool.leftoff_search.execute(asked, { sessionID: "ses_2" }), /Rename the parser\./);
await hooks.dispose();
const store = await openStore({ home, project: directory });
const session = await store.session({ source: { agent: "opencode", id: "ses_1" } });
const said = [];
for await (const { role, content } of session.messages()) said.push([role, content]);
assert.deepEqual(said, [["user", "Rename the parser."]]);
assert.deepEqual(failures, []);
await store.close();
