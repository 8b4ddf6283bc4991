// @ts-check

/** What the tests that speak to git share: git itself, in folders and with settings of their own. */

import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { devNull, tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { runGit } from "../../js/placement/git.js";
import { MemoryStorage } from "../../js/index.js";
import { NodeStorage } from "../../js/storage/node.js";
import { agents } from "../../js/wasm/agents.js";
import { fromBytes, coreModule } from "../../js/wasm/core.js";
import { CoreStore } from "../../js/wasm/store.js";

for (const name of Object.keys(process.env)) if (name.startsWith("GIT_")) delete process.env[name];

const SETTINGS = `[user]
	name = Ann
	email = ann@example.org
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
[gc]
	auto = 0
`;

/**
 * An empty folder, and in it a home with the settings of a user.
 * @param {(folder: string) => unknown} work
 */
export async function inFolder(work) {
  const folder = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), "leftoff-git-"));
  const before = { ...process.env };
  const settings = join(folder, "home", ".gitconfig");
  put(settings, SETTINGS);
  Object.assign(process.env, {
    HOME: dirname(settings),
    USERPROFILE: dirname(settings),
    XDG_CONFIG_HOME: dirname(settings),
    GIT_CONFIG_GLOBAL: settings,
    GIT_CONFIG_SYSTEM: devNull,
    LEFTOFF_HOME: join(folder, "store"),
  });
  try {
    await work(folder);
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
    fs.rmSync(folder, { recursive: true, maxRetries: 3 });
  }
}

/** @param {string} at @param {string[]} args @returns {string} */
export function git(at, ...args) {
  return execFileSync("git", args, { cwd: at, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Git where it fails. @param {string} at @param {string[]} args */
export function gitFails(at, ...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: at, encoding: "utf8" });
  if (status === 0) throw new Error(`expected git ${args.join(" ")} to fail`);
  return stdout + stderr;
}

/** @param {string} path @param {string | Uint8Array} content @param {number} [mode] */
export function put(path, content, mode = 0o644) {
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, content, { mode });
}

/** A repository with one commit. @param {string} at */
export function makeRepository(at) {
  fs.mkdirSync(at, { recursive: true });
  git(at, "init", "--quiet");
  put(join(at, "other.txt"), "one\n");
  git(at, "add", ".");
  git(at, "commit", "--quiet", "--message=first");
  return at;
}

export const PLACE = join("conversations", "2025-11-22", "001-topic");

/** A conversation with its session. @param {string} repository @param {string} [place] */
export function makeConversation(repository, place = PLACE) {
  const folder = join(repository, place);
  put(join(folder, "brainstorm.md"), "# Topic\n");
  put(join(folder, ".session", "session.json"), "{}\n");
  put(join(folder, ".session", "messages.jsonl"), '{"v":1}\n');
  put(join(folder, ".session", "blobs", "aa"), "a blob");
  return folder;
}

/** A hook that does as it says. @param {string} repository @param {string} name @param {string} script */
export function hook(repository, name, script) {
  put(join(repository, ".git", "hooks", name), `#!/bin/sh\n${script}\n`, 0o755);
}

/** All that a failed commit must leave as it was. @param {string} at */
export function stateOf(at) {
  return ["rev-parse --all HEAD", "ls-files --stage --debug", "status --porcelain", "diff --cached"].map((line) => {
    const { stdout } = spawnSync("git", line.split(" "), { cwd: at, encoding: "utf8" });
    // When and where a file was last looked at is no part of it.
    return stdout.replace(/^ {2}(?!size|.*flags).*\n/gm, "").replace(/size: \d+/g, "");
  });
}

/** The files of a commit. @param {string} at @param {string} [commit] */
export function filesOf(at, commit = "HEAD") {
  return git(at, "show", "--format=", "--name-only", "--no-renames", "-z", commit).split("\0").filter(Boolean);
}

const core = (
  /** @type {string} */ project,
  /** @type {import("../../js/storage/contract.js").Storage} */ storage,
  /** @type {any} */ module = coreModule,
) =>
  new CoreStore(
    {
      home: "/home",
      project,
      idleMs: 0,
      countTokens: false,
      storage,
      storageOf: () => storage,
      runGit,
      turn: async () => () => {},
      tell() {},
    },
    module,
  );

/** What else a project is known by, as its sessions say it: also of what is no folder. @param {string} project */
export async function aliasesOf(project) {
  const storage = new MemoryStorage();
  const { path } = await core(project, storage).run("create", "{}");
  const {
    project: { path: _, hash: __, name: ___, ...aliases },
  } = fromBytes(/** @type {Uint8Array} */ (await storage.read(join(path, "metadata.json"))));
  return Object.fromEntries(Object.entries(aliases).filter(([, value]) => value));
}

/**
 * A commit of a folder that no store knows.
 * @param {{ folder: string, title: string }} conversation
 * @returns {Promise<import("../../js/index.js").Committed & { commit: string }>}
 */
export function commit({ folder, title }) {
  return core("/", new NodeStorage({}), agents).run("commit", join(folder, ".session"), "workspace", title);
}
