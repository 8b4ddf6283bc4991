// @ts-check
/** The editor: code-server with the packed extension in it, on loopback, and a page of it in a browser. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../scripts/run.mjs";
import { codeServer, newerNode, vsce } from "./install.mjs";

/** How long the editor may take to be there, whatever else the machine is doing. */
const TIMEOUT_MS = 90_000;
const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "chat.commandCenter.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
};

/**
 * Installs another extension, which asks or gives what only an extension can.
 * @param {{ folder: string, home: string }} where @param {string} source its folder
 */
export function installProbe({ folder, home }, source) {
  const packed = join(folder, "probe.vsix");
  const flags = ["--no-dependencies", "--skip-license", "--allow-missing-repository"];
  run(newerNode(), [vsce(), "package", ...flags, "--out", packed], { cwd: source, quiet: true });
  const own = ["--extensions-dir", join(folder, "extensions"), "--user-data-dir", join(folder, "data")];
  run(newerNode(), [codeServer(), ...own, "--install-extension", packed], { env: { HOME: home }, quiet: true });
}

/**
 * Starts the editor for a user whose home is empty but for what is given.
 * @param {{ folder: string, home: string, project: string, vsix: string, settings?: object }} where `folder`: for its
 *   own files
 */
export async function startEditor({ folder, home, project, vsix, settings = {} }) {
  const own = ["--extensions-dir", join(folder, "extensions"), "--user-data-dir", join(folder, "data")];
  const user = join(folder, "data", "User");
  mkdirSync(user, { recursive: true });
  writeFileSync(join(user, "settings.json"), JSON.stringify({ ...SETTINGS, ...settings }));
  const env = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local"),
  };
  run(newerNode(), [codeServer(), ...own, "--install-extension", vsix], { env, quiet: true });
  const flags = ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"];
  const args = [codeServer(), ...own, ...flags, "--disable-workspace-trust", project];
  const child = spawn(newerNode(), args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const address = await addressOf(child);
  return {
    url: `${address}/?folder=${encodeURIComponent(project)}`,
    stop: async () => {
      child.kill();
      await once(child, "exit");
    },
  };
}

/** Where it answers, as it says itself. @param {import("node:child_process").ChildProcessByStdio<null, import("node:stream").Readable, import("node:stream").Readable>} child */
function addressOf(child) {
  return /** @type {Promise<string>} */ (
    new Promise((found, failed) => {
      let said = "";
      const take = (/** @type {Buffer} */ piece) => {
        said += piece;
        const address = /HTTP server listening on (http:\S+?)\/?\s/.exec(said)?.[1];
        if (address) found(address);
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.on("exit", () => failed(new Error(`the editor ended: ${said}`)));
      setTimeout(() => failed(new Error(`the editor does not say where it is: ${said}`)), TIMEOUT_MS).unref();
    })
  );
}
