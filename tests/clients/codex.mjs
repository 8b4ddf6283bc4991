// @ts-check
/** The real Codex, offline. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFiles, runProgram, findField } from "./driving.mjs";

/** @import { Client } from "./driving.mjs" */

const TRIPLES = { linux: "unknown-linux-musl", darwin: "apple-darwin", win32: "pc-windows-msvc" };
const CPUS = { x64: "x86_64", arm64: "aarch64" };

/** The key that its settings name. */
export const ENV = { SCRIPT_KEY: "none" };

/** @type {Client} */
export const codex = {
  name: "Codex",
  agent: "codex",
  package: "@openai/codex",

  program(look) {
    const { platform, arch } = process;
    const triple = `${CPUS[/** @type {"x64"} */ (arch)]}-${TRIPLES[/** @type {"linux"} */ (platform)]}`;
    return look(
      `@openai/codex-${platform}-${arch}`,
      join("vendor", triple, "bin", platform === "win32" ? "codex.exe" : "codex"),
    );
  },

  prepare({ home, project, url }) {
    mkdirSync(join(home, ".codex"), { recursive: true });
    writeFileSync(
      join(home, ".codex", "config.toml"),
      `model = "gpt-5.5"
model_provider = "script"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.script]
name = "Script"
base_url = "${url}/v1"
env_key = "SCRIPT_KEY"
wire_api = "responses"
[projects.${JSON.stringify(project)}]
trust_level = "trusted"
`,
    );
  },

  async ask({ program, home, project }, { prompt, id = "", resumes }) {
    const args = [
      "exec",
      ...(resumes ? ["resume", id] : []),
      "--json",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      "--dangerously-bypass-hook-trust",
      prompt,
    ];
    return findField(await runProgram(codex.name, { program, args, project, home, env: ENV }), "thread_id");
  },

  fileOf: async ({ home }, id) => findFiles(join(home, ".codex", "sessions"), `${id}.jsonl`)[0],

  tools: {
    shell: (cmd) => ({ name: "exec_command", input: { cmd } }),
    // It has no tool that reads.
    read: (path) => ({ name: "exec_command", input: { cmd: `cat '${path}'` } }),
    write: (path, text) => ({
      name: "apply_patch",
      input: {
        input: `*** Begin Patch\n*** Add File: ${path}\n${text.replace(/\n$/, "").replace(/^/gm, "+")}\n*** End Patch\n`,
      },
    }),
  },
};
