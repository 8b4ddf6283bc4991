// @ts-check
/** The folders in which agents keep what they have, and the variables that name others. */

import { homedir } from "node:os";
import { join } from "node:path";

/** @typedef {Record<string, string | undefined>} Env */

/** @param {Env} env */
export function userHome(env) {
  return env.HOME || homedir();
}

/** @param {Env} env @param {string} [home] */
export function agentHomes(env, home = userHome(env)) {
  const data = env.XDG_DATA_HOME || join(home, ".local", "share");
  return {
    "claude-code": env.CLAUDE_CONFIG_DIR || join(home, ".claude"),
    codex: env.CODEX_HOME || join(home, ".codex"),
    opencode: join(data, "opencode"),
    gemini: join(env.GEMINI_CLI_HOME || home, ".gemini"),
    qwen: env.QWEN_HOME || join(home, ".qwen"),
    copilot: env.COPILOT_HOME || join(home, ".copilot"),
    cline: join(home, ".cline"),
    continue: env.CONTINUE_GLOBAL_DIR || join(home, ".continue"),
    nanocoder: env.NANOCODER_DATA_DIR || join(data, "nanocoder"),
    pi: env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent"),
  };
}
