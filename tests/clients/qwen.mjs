// @ts-check
/** The real Qwen Code, offline. */

import { mkdirSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { findFiles, runProgram } from "./driving.mjs";
import { newerNode } from "./install.mjs";

/** @import { Client } from "./driving.mjs" */

const SETTINGS = {
  security: { auth: { selectedType: "openai" } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
  model: { generationConfig: { modalities: { image: true } } },
  // Without a terminal a command's output is lost where it is read after the command has ended.
  tools: { shell: { enableInteractiveShell: true } },
  // Else another agent, with tools, goes through the conversation after it.
  memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false },
};

/** @type {Client} */
export const qwen = {
  name: "Qwen Code",
  agent: "qwen",
  package: "@qwen-code/qwen-code",
  node: newerNode,
  // Its command would start this one, in a second process.
  program: (look) => look("@qwen-code/qwen-code", "cli.js"),

  prepare({ home }) {
    mkdirSync(join(home, ".qwen"), { recursive: true });
    writeFileSync(join(home, ".qwen", "settings.json"), JSON.stringify(SETTINGS));
  },

  async ask({ program, home, project, url }, { prompt, id = randomUUID(), resumes }) {
    const args = [program, "--yolo", resumes ? "--resume" : "--session-id", id, "--prompt", prompt];
    await runProgram(qwen.name, {
      program: newerNode(),
      args,
      project,
      home,
      env: { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "script" },
    });
    return id;
  },

  fileOf: async ({ home }, id) => findFiles(join(home, ".qwen", "projects"), `${id}.jsonl`)[0],

  tools: {
    shell: (command) => ({ name: "run_shell_command", input: { command, is_background: false } }),
    read: (file_path) => ({ name: "read_file", input: { file_path } }),
    write: (file_path, content) => ({ name: "write_file", input: { file_path, content } }),
  },
};
