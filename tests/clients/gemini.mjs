// @ts-check
/** The real Gemini CLI, offline. */

import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFiles, runProgram } from "./driving.mjs";
import { commandIn } from "./install.mjs";

/** @import { Client } from "./driving.mjs" */

const SETTINGS = {
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  // Resumed in another minute than it began in, a session would be deleted at the next start.
  general: { enableAutoUpdate: false, sessionRetention: { enabled: false } },
};

/** What leads it to the fake model server. @param {string} url */
export const geminiEnv = (url) => ({
  GEMINI_API_KEY: "none",
  GOOGLE_GEMINI_BASE_URL: url,
  GEMINI_CLI_TRUST_WORKSPACE: "true",
});

/** @type {Client} */
export const gemini = {
  name: "Gemini CLI",
  agent: "gemini",
  package: "@google/gemini-cli",
  node: () => process.execPath,
  program: (look) => commandIn(look, "@google/gemini-cli", "gemini"),

  prepare({ home }) {
    mkdirSync(join(home, ".gemini"), { recursive: true });
    writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(SETTINGS));
  },

  async ask({ program, home, project, url }, { prompt, id = "", resumes }) {
    const args = [
      program,
      "--model",
      "gemini-2.5-pro",
      "--yolo",
      "--skip-trust",
      resumes ? "--resume" : "--session-id",
      id,
      "--prompt",
      prompt,
    ];
    await runProgram(gemini.name, {
      program: process.execPath,
      args,
      project,
      home,
      env: geminiEnv(url),
    });
    return id;
  },

  // Each resume in another minute leaves one more file, without a message in it.
  async fileOf({ home }, id) {
    const files = findFiles(join(home, ".gemini", "tmp"), `-${id.slice(0, 8)}.jsonl`);
    return files.reduce((one, other) => (statSync(other).size > statSync(one).size ? other : one));
  },

  repeatsResults: true,

  tools: {
    shell: (command) => ({ name: "run_shell_command", input: { command } }),
    read: (file_path) => ({ name: "read_file", input: { file_path } }),
    write: (file_path, content) => ({ name: "write_file", input: { file_path, content } }),
  },
};
