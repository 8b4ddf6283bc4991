// @ts-check
// The folders that leftoff writes for clients that take plugins and extensions: each passes its client's own check, and
// its commands, its hooks and its server of the Model Context Protocol work there.
// Tries: js/init/parts.js, js/init/install.js, js/cli/init.js

import assert from "node:assert/strict";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { scene } from "../faults/tools.mjs";
import { claudeEnv } from "./claude-code.mjs";
import { geminiEnv } from "./gemini.mjs";
import { IN_CI, present } from "./clients.mjs";
import { runProgram } from "./driving.mjs";
import { seat } from "./holding.mjs";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";
import { setUp } from "./set-up.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Present } from "./clients.mjs" */
/** @import { Seat } from "./driving.mjs" */
/** @import { Turn } from "./model/turns.mjs" */

const SAID = "The parser's entry point is called tidewater.";

/**
 * What checks a folder, what installs it in a client, what starts that with a prompt, and what its model calls the
 * tool.
 * @typedef {object} WithPlugin
 * @property {string} resumesBy
 * @property {string} tool
 * @property {(folder: string) => string[]} validate
 * @property {(folder: string) => string[]} [install]
 * @property {(folder: string, url: string) => { args: string[], env: Record<string, string> }} ask
 */
/** @type {Record<string, WithPlugin>} */
const WITH_PLUGIN = {
  "claude-code": {
    resumesBy: "/leftoff:workspace.resume",
    tool: "mcp__plugin_leftoff_leftoff__search",
    validate: (folder) => ["plugin", "validate", "--strict", folder],
    ask: (folder, url) => ({
      args: [
        ...["--plugin-dir", folder, "--output-format", "json"],
        ...["--allowedTools", "mcp__plugin_leftoff_leftoff__search"],
      ],
      env: claudeEnv(url),
    }),
  },
  gemini: {
    resumesBy: "/workspace.resume",
    tool: "mcp_leftoff_search",
    validate: (folder) => ["extensions", "validate", folder],
    install: (folder) => ["extensions", "link", folder, "--consent"],
    ask: (_, url) => ({
      args: ["--model", "gemini-2.5-pro", "--yolo"],
      env: geminiEnv(url),
    }),
  },
};

/** @type {Suite} */
export default {
  title: "what leftoff init writes as a plugin or an extension works in the real client",
  async run() {
    const clients = present(IN_CI).filter(({ client }) => WITH_PLUGIN[client.agent]);
    for (const one of clients) await scene("plugin", ({ folder }) => tryClient(one, folder));
    return { clients: clients.map(({ client }) => client.name).join(", ") };
  },
};

/** @param {Present} present @param {string} folder */
async function tryClient({ client, program }, folder) {
  const at = seat(program, folder);
  const plugin = join(folder, "plugin");
  setUp(client, at).leftoff("init", client.agent, "--plugin", plugin);
  const { resumesBy, tool, validate, install, ask } = /** @type {WithPlugin} */ (WITH_PLUGIN[client.agent]);
  const earlier = await sayEarlier(at);
  /** @type {Turn[]} */
  let seen = [];
  const looks = { text: "Looking.", calls: [{ name: tool, input: { words: "tidewater" } }] };
  const server = await serve(new Script([looks, { text: "Hello." }]), {
    seen: (request) => (request.isMain ? (seen = request.turns) : undefined),
  });
  let results = "";
  try {
    client.prepare({ ...at, url: server.url });
    const { args, env } = ask(plugin, server.url);
    const started = (/** @type {string[]} */ more) => run(client, at, more, env);
    await started(validate(plugin));
    if (install) await started(install(plugin));
    await started([...args, "-p", "Say hello."]);
    results = seen
      .flatMap((turn) => turn.results ?? [])
      .map(({ text }) => text)
      .join("\n");
    await started([...args, "-p", resumesBy]);
  } finally {
    await server.close();
  }
  assert.ok(results.includes(earlier) && results.includes(SAID), `${client.name}: ${results}`);
  const list = seen.map(({ text }) => text).join("\n");
  assert.match(list, /\. \[chat\] Say hello\./, client.name);
  assert.ok(list.includes(`Type ${resumesBy} with its number`), `${client.name}: ${list}`);
  const store = await openStore({ home: join(at.home, ".leftoff"), project: at.project });
  const sessions = await store.list();
  await store.close();
  assert.deepEqual(
    sessions.map(({ title, messageCount }) => [title, messageCount > 1]).sort(),
    [
      ["Say hello.", true],
      ["The parser", false],
    ],
    client.name,
  );
}

/** A session that the model has not seen; its id. @param {Seat} at */
async function sayEarlier(at) {
  const store = await openStore({ home: join(at.home, ".leftoff"), project: at.project });
  const session = await store.create({ title: "The parser" });
  await session.append({ role: "user", content: SAID });
  await session.stop();
  await store.close();
  return session.id;
}

/** @param {Present["client"]} client @param {Seat} at @param {string[]} args @param {Record<string, string>} env */
function run(client, { program, home, project }, args, env) {
  const node = client.node?.();
  return runProgram(client.name, {
    program: node ?? program,
    args: node ? [program, ...args] : args,
    project,
    home,
    env,
  });
}
