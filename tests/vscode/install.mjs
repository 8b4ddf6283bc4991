// @ts-check
/** Installs the editor that the extension is tried in, and `vsce`, each pinned, into `target/vscode`. */

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { installPackages } from "../../scripts/debian.mjs";
import { ask, root, run } from "../../scripts/run.mjs";
import { installLocked, lookIn, newerNode as newerNodeOf } from "../clients/install.mjs";

const folder = join(root, "target", "vscode");

/** Installs them unless they are there. */
export const installEditor = () => installLocked({ lock: join(root, "tests", "vscode"), folder, build: buildEditor });

function buildEditor() {
  // The editor is built here against Kerberos, whose headers few machines have.
  if (process.getuid?.() === 0 && ask("krb5-config", ["--version"]) === null) installPackages(["libkrb5-dev"]);
  const env = {
    PATH: `${dirname(newerNode())}${delimiter}${process.env.PATH}`,
    // Node's version is asked of npm's name of itself, which an npm that runs this hands down.
    npm_config_user_agent: `npm node/${ask(newerNode(), ["--version"])}`,
    // Where the headers are, which would else be loaded.
    npm_config_nodedir: join(dirname(newerNode()), ".."),
  };
  run("npm", ["rebuild", "code-server"], { cwd: folder, quiet: true, env });
}

/** The Node that the editor and its packer want. */
export const newerNode = () => newerNodeOf(lookIn([folder]));

export const vsce = () => join(folder, "node_modules", "@vscode", "vsce", "vsce");
export const codeServer = () => join(folder, "node_modules", "code-server", "out", "node", "entry.js");

/**
 * Installs another extension, which asks or gives what only an extension can: into the host that tries leftoff, which
 * has no models of another.
 * @param {{ folder: string, home: string }} at @param {{ source?: string, isWebOnly?: boolean }} [which] `source`: its
 *   folder
 */
export function installProbe({ folder: own, home }, { source, isWebOnly = false } = {}) {
  const probe = join(own, "probe");
  cpSync(source ?? join(root, "tests", "vscode", "probe"), probe, { recursive: true });
  const { main, ...manifest } = JSON.parse(readFileSync(join(probe, "package.json"), "utf8"));
  writeFileSync(join(probe, "package.json"), JSON.stringify({ ...manifest, ...(!isWebOnly && { main }) }));
  const flags = ["--no-dependencies", "--skip-license", "--allow-missing-repository"];
  run(newerNode(), [vsce(), "package", ...flags, "--out", `${probe}.vsix`], { cwd: probe, quiet: true });
  const folders = ["--extensions-dir", join(own, "extensions"), "--user-data-dir", join(own, "data")];
  run(newerNode(), [codeServer(), ...folders, "--install-extension", `${probe}.vsix`], {
    env: { HOME: home },
    quiet: true,
  });
}
