// @ts-check
/** The real OpenCode, offline. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../../scripts/run.mjs";
import { runProgram, findField } from "./driving.mjs";

/** @import { Client, Place, Seat, Turn } from "./driving.mjs" */

// Nothing is looked up, fetched or installed at the start.
export const ENV = {
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
};

const NAME = "OpenCode";

/** @satisfies {Client} */
export const opencode = {
  name: NAME,
  agent: "opencode",
  package: "opencode-ai",

  program(look) {
    const platform = process.platform === "win32" ? "windows" : process.platform;
    return look(
      `opencode-${platform}-${process.arch}`,
      join("bin", platform === "windows" ? "opencode.exe" : "opencode"),
    );
  },

  prepare({ home, url }) {
    const model = {
      name: "Script",
      reasoning: true,
      tool_call: true,
      attachment: true,
      modalities: { input: ["text", "image"], output: ["text"] },
      limit: { context: 1_000_000, output: 32_000 },
    };
    const provider = {
      npm: "@ai-sdk/openai-compatible",
      name: "Script",
      options: { baseURL: `${url}/v1`, apiKey: "none" },
      models: { script: model },
    };
    const settings = {
      model: "script/script",
      small_model: "script/script",
      autoupdate: false,
      share: "disabled",
      permission: { "*": "allow" },
      provider: { script: provider },
    };
    const folder = join(home, ".config", "opencode");
    // It looks only whether these are there; else it would install packages into the folder.
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    writeFileSync(
      join(folder, "package-lock.json"),
      JSON.stringify({ packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } }),
    );
    writeFileSync(join(folder, "opencode.json"), JSON.stringify(settings));
  },

  /** @param {Place & { hasPlugins?: boolean }} place @param {Turn} turn */
  async ask({ hasPlugins = false, ...place }, { prompt, id = "", resumes }) {
    const session = resumes ? ["--session", id] : [];
    const args = ["run", ...(hasPlugins ? [] : ["--pure"]), "--format", "json", ...session];
    const [, command, typed = ""] = /^\/(\S+) ?(.*)$/s.exec(prompt) ?? [];
    // As an argument a prompt would be put in quotes.
    const printed = command
      ? run(place, [...args, "--command", command, ...(typed ? [typed] : [])])
      : run(place, args, prompt);
    return findField(await printed, "sessionID");
  },

  // It keeps a database; this is what it gives to others, and takes from them.
  async fileOf(at, id) {
    const file = join(at.home, `${id}.json`);
    writeFileSync(file, await run(at, ["export", id]));
    return file;
  },

  async take(at, file) {
    await run(at, ["import", file]);
  },

  tools: {
    shell: (command) => ({ name: "bash", input: { command, description: "As the script says" } }),
    read: (filePath) => ({ name: "read", input: { filePath } }),
    write: (filePath, content) => ({ name: "write", input: { filePath, content } }),
  },
};

/**
 * Writes OpenCode's settings, with a plugin, which is loaded as a package is: leftoff's unless given.
 * @param {Place} place
 * @param {import("../../js/types/opencode.js").OpenCodePluginOptions} [options]
 * @param {string} [plugin] its folder or file
 */
export function usePlugin(place, options = {}, plugin = root) {
  opencode.prepare(place);
  const file = join(place.home, ".config", "opencode", "opencode.json");
  const settings = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...settings, plugin: [[pathToFileURL(plugin).href, options]] }));
}

/** Has a session compacted, with the user's plugins, by the client's own server. @param {Seat} at @param {string} id */
export async function compactSession({ program, home, project }, id) {
  const options = { cwd: project, env: { PATH: process.env.PATH, HOME: home, ...ENV } };
  const child = spawn(program, ["serve", "--port", "0"], { ...options, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  try {
    let printed = "";
    for await (const text of child.stdout.setEncoding("utf8")) {
      printed += text;
      const [url] = /http:\/\/[\d.]+:\d+/.exec(printed) ?? [];
      if (!url) continue;
      const post = async (/** @type {string} */ path, body = {}) => {
        const headers = { "content-type": "application/json" };
        const at = `${url}${path}?directory=${encodeURIComponent(project)}`;
        const asked = await fetch(at, { method: "POST", headers, body: JSON.stringify(body) });
        if (!asked.ok) throw new Error(`expected ${NAME} to take ${path}, but found: ${await asked.text()}`);
      };
      await post(`/session/${id}/summarize`, { providerID: "script", modelID: "script" });
      // Then its plugins have ended, too.
      await post("/instance/dispose");
      return;
    }
    throw new Error(`expected ${NAME} to serve, but found: ${printed}`);
  } finally {
    child.kill();
    await ended;
  }
}

/** @param {Seat} at @param {string[]} args @param {string} [input] */
function run({ program, home, project }, args, input) {
  return runProgram(NAME, { program, args, project, home, env: ENV, input });
}
