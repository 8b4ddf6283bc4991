// @ts-check
/** The real pi, offline. */

import { mkdirSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { findFiles, runProgram } from "./driving.mjs";
import { commandIn, newerNode } from "./install.mjs";

/** @import { Client } from "./driving.mjs" */

/** @type {Client} */
export const pi = {
  name: "pi",
  agent: "pi",
  package: "@earendil-works/pi-coding-agent",
  node: newerNode,
  program: (look) => commandIn(look, "@earendil-works/pi-coding-agent", "pi"),

  prepare({ home, url }) {
    const model = {
      id: "script",
      name: "Script",
      reasoning: true,
      input: ["text", "image"],
      contextWindow: 1_000_000,
      maxTokens: 32_000,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    };
    const folder = join(home, ".pi", "agent");
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, "models.json"),
      JSON.stringify({
        providers: { script: { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "none", models: [model] } },
      }),
    );
  },

  async ask({ program, home, project }, { prompt, id = randomUUID(), resumes }) {
    const args = [
      program,
      "--offline",
      "--provider",
      "script",
      "--model",
      "script",
      resumes ? "--session" : "--session-id",
      id,
      "--print",
      prompt,
    ];
    await runProgram(pi.name, { program: newerNode(), args, project, home });
    return id;
  },

  fileOf: async ({ home }, id) => findFiles(join(home, ".pi", "agent", "sessions"), `${id}.jsonl`)[0],

  tools: {
    shell: (command) => ({ name: "bash", input: { command } }),
    read: (path) => ({ name: "read", input: { path } }),
    write: (path, content) => ({ name: "write", input: { path, content } }),
  },
};
