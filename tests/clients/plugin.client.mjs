// @ts-check
// The folders that leftoff writes for clients that take plugins and extensions: their commands and their hooks work
// there.
// Tries: js/init/parts.js, js/init/install.js

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

/**
 * What installs a folder in a client, and what starts that with a prompt.
 * @type {Record<string, { resumesBy: string, install?: (folder: string) => string[], ask: (folder: string, url: string) => { args: string[], env: Record<string, string> } }>}
 */
const WITH_PLUGIN = {
  "claude-code": {
    resumesBy: "/leftoff:workspace.resume",
    ask: (folder, url) => ({
      args: ["--plugin-dir", folder, "--output-format", "json"],
      env: claudeEnv(url),
    }),
  },
  gemini: {
    resumesBy: "/workspace.resume",
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
  const { resumesBy, install, ask } = /** @type {typeof WITH_PLUGIN[string]} */ (WITH_PLUGIN[client.agent]);
  /** @type {Turn[]} */
  let seen = [];
  const server = await serve(new Script([{ text: "Hello." }, { text: "Done." }]), {
    seen: (request) => (request.isMain ? (seen = request.turns) : undefined),
  });
  try {
    client.prepare({ ...at, url: server.url });
    const { args, env } = ask(plugin, server.url);
    const started = (/** @type {string[]} */ more) => run(client, at, more, env);
    if (install) await started(install(plugin));
    await started([...args, "-p", "Say hello."]);
    await started([...args, "-p", resumesBy]);
  } finally {
    await server.close();
  }
  const list = seen.map(({ text }) => text).join("\n");
  assert.match(list, /1\. \[chat\] Say hello\./, client.name);
  assert.ok(list.includes(`Type ${resumesBy} with its number`), `${client.name}: ${list}`);
  const store = await openStore({ home: join(at.home, ".leftoff"), project: at.project });
  const sessions = await store.list();
  await store.close();
  assert.deepEqual(
    sessions.map(({ title, messageCount }) => [title, messageCount > 1]),
    [["Say hello.", true]],
    client.name,
  );
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
