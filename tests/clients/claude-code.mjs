// @ts-check
/** The real Claude Code, offline. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { findFiles, runProgram } from "./driving.mjs";

/** @import { Client, Place, Seat, Turn } from "./driving.mjs" */
/** @import { Look } from "./install.mjs" */

const TOOLS = ["Bash", "Read", "Write", "Edit", "NotebookEdit", "TodoWrite", "TaskCreate", "TaskUpdate"];

/** What leads it to the fake model server, and nowhere else. @param {string} url */
export const claudeEnv = (url) => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: "sk-ant-none",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
});

/** @satisfies {Client} */
export const claudeCode = {
  name: "Claude Code",
  agent: "claude-code",
  package: "@anthropic-ai/claude-code",

  /** @param {Look} look */
  program(look) {
    const musl = existsSync("/etc/alpine-release") ? "-musl" : "";
    return look(
      `@anthropic-ai/claude-code-${process.platform}-${process.arch}${musl}`,
      process.platform === "win32" ? "claude.exe" : "claude",
    );
  },

  // All that it needs is in its environment.
  prepare() {},

  /** @param {Place & { hasTodoWrite?: boolean }} place with the one list of tasks or the other @param {Turn} turn */
  async ask({ program, url, home, project, hasTodoWrite = true }, { prompt, id = randomUUID(), resumes }) {
    const env = { ...claudeEnv(url), CLAUDE_CODE_ENABLE_TASKS: hasTodoWrite ? "0" : "1" };
    const args = [
      "-p",
      prompt,
      resumes ? "--resume" : "--session-id",
      id,
      "--allowedTools",
      TOOLS.join(" "),
      "--output-format",
      "json",
    ];
    await runProgram(claudeCode.name, { program, args, project, home, env });
    return id;
  },

  /** @param {Pick<Seat, "home">} at @param {string} id */
  fileOf: async ({ home }, id) => findFiles(join(home, ".claude", "projects"), `${id}.jsonl`)[0],

  tools: {
    shell: (/** @type {string} */ command) => ({ name: "Bash", input: { command } }),
    read: (/** @type {string} */ file_path) => ({ name: "Read", input: { file_path } }),
    write: (/** @type {string} */ file_path, /** @type {string} */ content) => ({
      name: "Write",
      input: { file_path, content },
    }),
  },
};
