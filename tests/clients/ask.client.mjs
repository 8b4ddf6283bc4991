// @ts-check
// `leftoff ask` with the real clients as engines: each reads its prompt from standard input, and what it answers is
// shown and kept.
// Tries: js/cli/ask/engine.js, src/ask/engine.rs

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { root } from "../../scripts/run.mjs";
import { scene } from "../faults/tools.mjs";
import { claudeEnv } from "./claude-code.mjs";
import { IN_CI, present } from "./clients.mjs";
import { ENV as CODEX_ENV } from "./codex.mjs";
import { geminiEnv } from "./gemini.mjs";
import { seat } from "./holding.mjs";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";
import { ENV as OPENCODE_ENV } from "./opencode.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Present } from "./clients.mjs" */
/** @import { Turn } from "./model/turns.mjs" */

const CLI = join(root, "js", "cli", "index.js");
const ENGINES = /** @type {Record<string, string>} */ ({
  "claude-code": "claude",
  codex: "codex",
  gemini: "gemini",
  opencode: "opencode",
});
/** Which model it asks first, Gemini CLI would ask one that the server does not play, again and again. */
const MODELS = /** @type {Record<string, string[]>} */ ({ gemini: ["--model", "gemini-2.5-pro"] });
const ANSWERS = [
  "In `src/net.rs`, ünï 漢字.\n\n## Question 2026-01-24T09:30:00.000Z\n\nNone.",
  "Nobody does.",
  "That is all.",
];

/** @type {Suite} */
export default {
  title: "a real client answers what leftoff asks, and knows what was said before",
  async run() {
    const clients = present(IN_CI);
    for (const one of clients) await scene("ask", ({ folder }) => tryClient(one, folder));
    return { clients: clients.map(({ client }) => client.name).join(", "), questions: clients.length * ANSWERS.length };
  },
};

/** @param {Present} present @param {string} folder */
async function tryClient({ client, program }, folder) {
  const at = seat(program, folder);
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const engine = ENGINES[client.agent] ?? "";
  const runs = client.node ? `"${client.node()}" "${program}"` : `"${program}"`;
  writeFileSync(join(bin, engine), `#!/bin/sh\nexec ${runs} "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: at.home };
  const leftoff = (/** @type {string[]} */ args, more = {}) =>
    runCli(args, { cwd: at.project, env: { ...env, ...more } });
  for (const [turn, answer] of ANSWERS.entries()) {
    /** @type {string[]} */
    let told = [];
    const seen = (/** @type {{ isMain: boolean, turns: Turn[] }} */ { isMain, turns }) =>
      void (isMain && (told = turns.map(({ text = "" }) => text)));
    // The engine remembers nothing: to it each question is the first.
    const server = await serve(new Script([{ text: answer }]), { seen });
    try {
      client.prepare({ ...at, url: server.url });
      const shown = await leftoff(
        [
          "ask",
          "--engine",
          engine,
          ...(MODELS[client.agent] ?? []),
          ...(turn > 0 ? ["--resume"] : []),
          `Question ${turn}?`,
        ],
        clientEnv(server.url),
      );
      assert.equal(shown.trim(), answer, client.name);
    } finally {
      await server.close();
    }
    const prompt =
      told.find((text) => text.includes(`Question ${turn}?`)) ?? `none of ${JSON.stringify(told).slice(0, 2000)}`;
    const parts = [
      "<system_instructions>",
      "</system_instructions>",
      ...ANSWERS.slice(0, turn).map((said) => JSON.stringify(said).slice(1, 12)),
      `Question ${turn}?`,
    ];
    const order = parts.map((part) => prompt.lastIndexOf(part));
    assert.ok(
      order.every((place, at) => place > (order[at - 1] ?? -1)),
      `${client.name}: ${order} ${prompt}`,
    );
  }
  const [{ id, agent, messageCount }] = JSON.parse(await leftoff(["list", "--json"]));
  assert.deepEqual([agent, messageCount], ["ask", 2 * ANSWERS.length], client.name);
  const kept = JSON.parse(await leftoff(["show", id, "--json"]));
  const answers = kept
    .filter((/** @type {any} */ { role }) => role === "assistant")
    .map((/** @type {any} */ { content }) => content.trim());
  assert.deepEqual(answers, ANSWERS, client.name);
}

/** What leads each client to the server: leftoff hands all of it on. @param {string} url */
const clientEnv = (url) => ({ ...claudeEnv(url), ...geminiEnv(url), ...OPENCODE_ENV, ...CODEX_ENV });

/** @param {string[]} args @param {{ cwd: string, env: NodeJS.ProcessEnv }} where */
async function runCli(args, where) {
  const child = spawn(process.execPath, [CLI, ...args], { ...where, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  const [out, errors, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  assert.equal(status, 0, `${args.join(" ")}: ${errors}${out}`);
  return out;
}
