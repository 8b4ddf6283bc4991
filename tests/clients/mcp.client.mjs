// @ts-check
// `leftoff mcp` in real clients: the model calls a tool, and reads what was said in another session.
// Tries: js/mcp/server.js, js/cli/mcp.js

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/run.mjs";
import { openStore } from "../../js/index.js";
import { scene } from "../faults/tools.mjs";
import { claudeEnv } from "./claude-code.mjs";
import { geminiEnv } from "./gemini.mjs";
import { IN_CI, present } from "./clients.mjs";
import { runProgram } from "./driving.mjs";
import { seat } from "./holding.mjs";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Present } from "./clients.mjs" */
/** @import { Turn } from "./model/turns.mjs" */

const SERVER = { command: process.execPath, args: [join(root, "js", "cli", "index.js"), "mcp"] };
const SAID = "The parser's entry point is called tidewater.";

/**
 * What a client calls the tool, and how it is started with a prompt.
 * @type {Record<string, { tool: string, ask: (url: string, project: string) => { args: string[], env: Record<string, string> } }>}
 */
const SERVED = {
  "claude-code": {
    tool: "mcp__leftoff__search",
    ask(url, project) {
      const file = join(project, "mcp.json");
      writeFileSync(file, JSON.stringify({ mcpServers: { leftoff: SERVER } }));
      return {
        args: ["--mcp-config", file, "--allowedTools", "mcp__leftoff__search", "--output-format", "json"],
        env: claudeEnv(url),
      };
    },
  },
  gemini: {
    tool: "mcp_leftoff_search",
    ask: (url) => ({
      args: ["--model", "gemini-2.5-pro", "--yolo", "--skip-trust"],
      env: geminiEnv(url),
    }),
  },
};

/** @type {Suite} */
export default {
  title: "a model in a real client searches what was said elsewhere, by the Model Context Protocol",
  async run() {
    const clients = present(IN_CI).filter(({ client }) => Object.hasOwn(SERVED, client.agent));
    const all = await Promise.allSettled(clients.map((one) => scene("mcp", ({ folder }) => tryClient(one, folder))));
    const errors = all.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${clients.length} clients`);
    return { clients: clients.length };
  },
};

/** @param {Present} present @param {string} folder */
async function tryClient({ client, program }, folder) {
  const at = seat(program, folder);
  const store = await openStore({ home: join(at.home, ".leftoff"), project: at.project });
  const session = await store.create({ title: "The parser" });
  await session.append({ role: "user", content: SAID });
  await session.stop();
  await store.close();
  const { tool, ask } = /** @type {typeof SERVED[string]} */ (SERVED[client.agent]);
  /** @type {Turn[]} */
  let seen = [];
  const steps = [{ text: "Looking.", calls: [{ name: tool, input: { words: "tidewater" } }] }, { text: "Done." }];
  const server = await serve(new Script(steps), {
    seen: (request) => (request.isMain ? (seen = request.turns) : undefined),
  });
  try {
    client.prepare({ ...at, url: server.url });
    if (client.agent === "gemini") useServer(at.home);
    const { args, env } = ask(server.url, at.project);
    const node = client.node?.();
    await runProgram(client.name, {
      program: node ?? program,
      args: [...(node ? [program] : []), ...args, "-p", "What is the parser's entry point called?"],
      project: at.project,
      home: at.home,
      env,
    });
  } finally {
    await server.close();
  }
  const results = seen.flatMap((turn) => turn.results ?? []).map(({ text }) => text);
  assert.ok(
    results.some((text) => text.includes(session.id) && text.includes("tidewater")),
    `${client.name}: ${results}`,
  );
}

/** Names the server in Gemini CLI's settings. @param {string} home */
function useServer(home) {
  const file = join(home, ".gemini", "settings.json");
  const settings = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...settings, mcpServers: { leftoff: { ...SERVER, trust: true } } }));
}
