// @ts-check
/** The real Copilot CLI, offline, with a model of one's own. */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { runProgram } from "./driving.mjs";

/** @import { Client } from "./driving.mjs" */

/** @type {Client} */
export const copilot = {
  name: "Copilot CLI",
  agent: "copilot",
  package: "@github/copilot",
  program: (look) =>
    look(
      `@github/copilot-${process.platform}-${process.arch}`,
      process.platform === "win32" ? "copilot.exe" : "copilot",
    ),

  // All that it needs is in its environment.
  prepare() {},

  async ask({ program, home, project, url }, { prompt, id = randomUUID(), resumes }) {
    const env = {
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: "none",
      COPILOT_MODEL: "script",
      COPILOT_AUTO_UPDATE: "false",
    };
    const args = [
      "--prompt",
      prompt,
      resumes ? `--resume=${id}` : `--session-id=${id}`,
      "--allow-all-tools",
      "--allow-all-paths",
    ];
    await runProgram(copilot.name, { program, args, project, home, env });
    return id;
  },

  fileOf: async ({ home }, id) => join(home, ".copilot", "session-state", id, "events.jsonl"),

  tools: {
    shell: (command) => ({ name: "bash", input: { command, description: "As the script says" } }),
    read: (path) => ({ name: "view", input: { path } }),
    write: (path, file_text) => ({ name: "create", input: { path, file_text } }),
  },
};
