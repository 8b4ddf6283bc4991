// @ts-check
/** The real Claude Code, offline: in a fresh HOME, against the fake model server, its processes ended. */

import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const TOOLS = ["Bash", "Read", "Write", "Edit", "NotebookEdit", "TodoWrite", "TaskCreate", "TaskUpdate"];
// Nobody answers whom it could ask, so a turn that takes this long hangs.
const LONGEST_MS = 300_000;

/** @typedef {{ program: string, url: string, home: string, project: string, hasTodoWrite: boolean }} Settings */

/**
 * Sends one prompt, and waits until it was answered.
 * @param {Settings} settings
 * @param {{ prompt: string, id: string, resumes: boolean }} turn
 */
export async function ask({ program, url, home, project, hasTodoWrite }, { prompt, id, resumes }) {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-ant-none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    // Either the one list of tasks or the other.
    CLAUDE_CODE_ENABLE_TASKS: hasTodoWrite ? "0" : "1",
  };
  const args = ["-p", prompt, resumes ? "--resume" : "--session-id", id, "--allowedTools", TOOLS.join(" "), "--output-format", "json"];
  // In a group of its own, so that whatever it leaves running can be ended with it.
  const child = spawn(program, args, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let [output, errors, isLate] = ["", "", false];
  child.stdout.on("data", (text) => (output += text));
  child.stderr.on("data", (text) => (errors += text));
  const timer = setTimeout(() => {
    isLate = true;
    endGroup(child.pid);
  }, LONGEST_MS);
  const status = await new Promise((resolve, reject) => child.on("close", resolve).on("error", reject));
  clearTimeout(timer);
  endGroup(child.pid);
  if (isLate || status !== 0) throw new Error(`expected Claude Code to answer, but found ${isLate ? "nothing in time" : `exit ${status}`} instead: ${errors}${output}`.slice(0, 4000));
}

/** The file that it keeps of a session. @param {string} home @param {string} id */
export function fileOf(home, id) {
  const folder = join(home, ".claude", "projects");
  const name = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((one) => one.endsWith(`${id}.jsonl`));
  if (!name) throw new Error(`expected a file of session ${id} under ${folder}, but found none`);
  return join(folder, name);
}

/** @param {number | undefined} pid */
function endGroup(pid) {
  if (!pid) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
  }
}
