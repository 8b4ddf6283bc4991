// @ts-check
/** Which model OpenCode is set to: a session that it takes in has to name one that it knows. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { userHome } from "./homes.js";

/** @import { Env } from "./homes.js" */

/**
 * As `provider/model`: what the project's settings say, else the user's, else what was used last there.
 * @param {Env} env @param {string} folder
 * @returns {Promise<string | undefined>}
 */
export async function openCodeModel(env, folder) {
  const home = userHome(env);
  const settings = [folder, join(folder, ".opencode"), join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode")];
  for (const path of settings.flatMap((place) => ["opencode.json", "opencode.jsonc"].map((name) => join(place, name)))) {
    // The files may have comments: the first model of theirs that names its provider is looked for, no more.
    const found = /"model"\s*:\s*"([^"\s/]+\/[^"\s]+)"/.exec(await textOf(path))?.[1];
    if (found) return found;
  }
  const used = /"providerID"\s*:\s*"([^"]+)"\s*,\s*"modelID"\s*:\s*"([^"]+)"/.exec(await textOf(join(env.XDG_STATE_HOME || join(home, ".local", "state"), "opencode", "model.json")));
  return used ? `${used[1]}/${used[2]}` : undefined;
}

/** @param {string} path */
async function textOf(path) {
  return readFile(path, "utf8").catch(() => ""); // Whatever the reason, it says nothing.
}
