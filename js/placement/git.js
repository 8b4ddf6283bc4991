// @ts-check
/**
 * What leftoff asks of git, by running git itself: what else a project is known by, and a commit of one conversation.
 *
 * Reading runs no code that a repository chooses, asks nobody, and reaches no network. A commit is the user's own:
 * with their name, their hooks, their filters and their signature. Nothing is fetched and nothing is pushed.
 */

import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, lstatSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import process from "node:process";

import { called } from "../wasm/core.js";
import { LeftoffError } from "../error.js";

/** @import { Committed } from "../types/index.js" */

/**
 * What a project is known by beside its path. Worktrees and clones of one repository have the same. They are hints:
 * whoever makes a repository chooses them.
 * @typedef {object} Aliases
 * @property {string} [remote] host and path of `origin`, else of the only remote: no scheme, user or password
 * @property {string} [firstCommit] the first one of HEAD's first parents; of a shallow clone nobody knows it
 * @property {string} [folder] where in the repository the project lies, if not at its top
 */

/** @typedef {{ status: number | null, out: Buffer, words: string, isLate: boolean }} Answer */
/** @typedef {(args: string[], options?: { input?: Uint8Array, limitMs?: number }) => Promise<Answer>} Ask */

const READ_LIMIT_MS = 10_000;
/** Hooks may run a project's tests, and a signature may wait for a key to be touched. */
const COMMIT_LIMIT_MS = 600_000;
/** How long a process that was told to end may take to, and what it left behind may hold its pipes. */
const GRACE_MS = 500;
/** What is waited, in milliseconds, while another process has the index locked. */
const WAITS_MS = [50, 150, 400];
const MAX_WORDS = 4_000;

/** What a session is made of, where a rule may ignore it; what others put beside it is theirs. */
const PARTS = ["session.json", "events.jsonl", "messages.jsonl", "tools.jsonl", "summaries", "blobs", ".gitattributes"].map((name) => `.session/${name}`);

/** What may be under way in a repository, and by which refs or files git knows. */
const UNDER_WAY = [
  ["merge", "MERGE_HEAD"],
  ["cherry-pick", "CHERRY_PICK_HEAD"],
  ["rebase", "rebase-merge", "rebase-apply"],
  ["bisection", "BISECT_LOG"],
];

/** Where leftoff runs in a hook, git names that repository and index to it; here the folder decides. */
const PLACES = [
  "DIR", "WORK_TREE", "INDEX_FILE", "PREFIX", "COMMON_DIR", "OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES", "NAMESPACE", "GRAFT_FILE", "SHALLOW_FILE",
  "IMPLICIT_WORK_TREE", "INTERNAL_SUPER_PREFIX", "LITERAL_PATHSPECS", "GLOB_PATHSPECS", "NOGLOB_PATHSPECS", "ICASE_PATHSPECS",
].map((name) => `GIT_${name}`);

/** What git must not do where it only reads: lock, ask, page, fetch what a partial clone lacks, take one commit for another, or speak another language. */
const READING = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  // Where git is too old for the line above: no way of fetching has this name.
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_REPLACE_OBJECTS: "1",
  LC_ALL: "C",
};

/**
 * What else a project is known by; nothing where git or the repository does not say. A folder below the top of a
 * repository counts where HEAD has it.
 * @param {string} folder
 * @param {{ limitMs?: number }} [options]
 * @returns {Promise<Aliases>}
 */
export async function aliasesOf(folder, { limitMs = READ_LIMIT_MS } = {}) {
  const git = findGit();
  if (!git || !isFolder(folder)) return {};
  const ask = reader(git, folder);
  /** @param {string[]} args */
  const said = async (...args) => {
    const { status, out } = await ask(args, { limitMs });
    return status === 0 ? out.toString() : "";
  };
  const answer = await said("rev-parse", "--is-inside-work-tree", "--is-shallow-repository", "--show-prefix");
  const where = called((core) => core.gitWhere(answer));
  if (!where) return {};
  const [hasFirstCommit, within] = where;
  if (within && !(await said("rev-parse", "--quiet", "--verify", "HEAD:./"))) return {};
  const [names, roots] = await Promise.all([
    said("remote"),
    hasFirstCommit ? said("rev-list", "--max-parents=0", "--first-parent", "HEAD") : "",
  ]);
  const name = called((core) => core.remoteThatCounts(names));
  const url = name ? await said("remote", "get-url", "--", name) : "";
  return composed(called((core) => core.projectAliases(url, roots, within)) ?? {});
}

// The core has no tables of Unicode for it.
/** @param {Aliases} aliases @returns {Aliases} */
function composed(aliases) {
  return Object.fromEntries(Object.entries(aliases).map(([key, value]) => [key, value.normalize("NFC")]));
}

/**
 * Commits what lies in a conversation's folder, its session with it, and nothing else: what is staged elsewhere stays
 * staged. Where it fails, the index is as it was.
 *
 * Codes: `not_found`, `git_missing`, `not_a_repository`, `session_ignored`, `git_busy`, `git_failed`.
 * @param {{ folder: string, title: string, limitMs?: number }} conversation
 * @returns {Promise<Committed>}
 */
export async function commit({ folder, title, limitMs = COMMIT_LIMIT_MS }) {
  const at = resolve(folder);
  // Of a link git keeps where it leads, and nothing of what lies there.
  if (!lstatSync(join(at, ".session"), { throwIfNoEntry: false })?.isDirectory()) refuse("not_found", `expected a session in "${at}", but found none`);
  const git = findGit();
  if (!git) throw refused("git_missing", "expected git on the PATH, but found none");
  const read = reader(git, at);
  await refuseOutside(read, at);
  await refuseWhileBusy(read, at);
  await refuseIgnored(read);
  const fresh = await untracked(read);
  const write = adder(git, at);
  await marked(write, fresh, ["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"]);
  try {
    const files = await changed(read);
    const isSessionOnly = files.length > 0 && files.every((file) => file.startsWith(".session/"));
    if (files.length === 0) {
      await unmarked(write, fresh);
      return { commit: null, message: "", isSessionOnly, files };
    }
    const message = `${called((core) => core.commitTitle(title))}: ${isSessionOnly ? "session update" : "conversation and session saved"}`;
    const options = ["--quiet", "--only", "--cleanup=whitespace", `--message=${message}`];
    const commitIt = ["-c", "i18n.commitEncoding=UTF-8", "commit", ...options, "--", "."];
    succeeded(await patiently(() => run(git, { at, args: commitIt, env: environment({}), limitMs })), "commit");
    const head = succeeded(await read(["rev-parse", "--verify", "HEAD"]), "rev-parse");
    return { commit: head.toString().trim(), message, isSessionOnly, files };
  } catch (error) {
    await unmarked(write, fresh).catch((left) => {
      if (error instanceof Error) error.message += `\nand the new files stay marked with 'git add --intent-to-add': ${left.message}`;
    });
    throw error;
  }
}

/** @param {Ask} read @param {string} at */
async function refuseOutside(read, at) {
  const { status, out, words } = await read(["rev-parse", "--is-inside-work-tree"]);
  if (status === 0 && out.toString().trim() === "true") return;
  const isNone = status === 0 || words.includes("not a git repository");
  if (isNone) refuse("not_a_repository", `expected "${at}" to be in a git repository, but found none; 'git init' makes one`);
  refuse("git_failed", `expected git to read the repository of "${at}", but it said: ${words}`);
}

// While a merge or a cherry-pick is under way, git commits no part. While a rebase or a bisection is, it does; but to
// give that up takes the commit away again, and the conversation's files with it.
/** @param {Ask} read @param {string} at */
async function refuseWhileBusy(read, at) {
  for (const [name, ...signs] of UNDER_WAY) {
    const found = await Promise.all(signs.map((sign) => (sign.endsWith("_HEAD") ? isRef(read, sign) : isInGitFolder(read, at, sign))));
    if (found.includes(true)) refuse("git_busy", `expected no ${name} under way, but found one; finish it or give it up, and commit then`);
  }
  // Git would take the marks of a conflict for its solution.
  const [unmerged] = names(succeeded(await read(["ls-files", "--unmerged", "-z", "--", "."]), "ls-files"));
  if (unmerged) refuse("git_busy", `expected no conflict, but found one in "${unmerged.slice(unmerged.indexOf("\t") + 1)}"; settle it with git add`);
}

/** @param {Ask} read @param {string} name */
async function isRef(read, name) {
  return (await read(["rev-parse", "--quiet", "--verify", name])).status === 0;
}

/** @param {Ask} read @param {string} at @param {string} name */
async function isInGitFolder(read, at, name) {
  const path = succeeded(await read(["rev-parse", "--git-path", name]), "rev-parse").toString();
  return existsSync(resolve(at, path.replace(/\n$/, "")));
}

/** @param {Ask} read */
async function refuseIgnored(read) {
  const [ignored] = names(succeeded(await read(["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", ...PARTS]), "ls-files"));
  if (!ignored) return;
  const [source, line, pattern] = names(succeeded(await read(["check-ignore", "--verbose", "-z", "--stdin"], { input: Buffer.from(`${ignored}\0`) }), "check-ignore"));
  refuse("session_ignored", `expected the session to be committed, but found "${ignored}" ignored by the rule "${pattern}" in "${source}", line ${line}`);
}

// As bytes: git gets them back as it gave them. A repository within is left to itself.
/** @param {Ask} read */
async function untracked(read) {
  const all = succeeded(await read(["ls-files", "--others", "--exclude-standard", "-z", "--", "."]), "ls-files");
  const paths = all.toString("latin1").split("\0").filter((path) => path && !path.endsWith("/"));
  return Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
}

/** What a commit would have of the folder that HEAD has not. @param {Ask} read */
async function changed(read) {
  const nothing = async () => succeeded(await read(["hash-object", "-t", "tree", "--stdin"], { input: new Uint8Array() }), "hash-object");
  const before = (await isRef(read, "HEAD")) ? "HEAD" : (await nothing()).toString().trim();
  const how = ["--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--relative", "-z"];
  return names(succeeded(await read(["diff", ...how, before, "--", "."]), "diff"));
}

/** @param {Ask} write @param {Uint8Array} paths each ended by a NUL @param {string[]} args */
async function marked(write, paths, args) {
  if (paths.length > 0) succeeded(await patiently(() => write(args, { input: paths })), /** @type {string} */ (args[0]));
}

/** @param {Ask} write @param {Uint8Array} paths */
function unmarked(write, paths) {
  return marked(write, paths, ["update-index", "-z", "--force-remove", "--stdin"]);
}

/** Git's answer; asked again for a moment while another process has the index. @param {() => Promise<Answer>} work */
async function patiently(work) {
  for (const wait of WAITS_MS) {
    const answer = await work();
    if (answer.status === 0 || !isLocked(answer)) return answer;
    await new Promise((go) => setTimeout(go, wait));
  }
  return work();
}

// The name of the file is in it, whatever language git speaks.
/** @param {Answer} answer */
function isLocked({ words }) {
  return /\b(index|HEAD|refs\/\S+)\.lock\b/.test(words);
}

/** @param {Answer} answer @param {string} command @returns {Buffer} what git printed */
function succeeded(answer, command) {
  const { status, out, words, isLate } = answer;
  if (status === 0) return out;
  if (isLate) refuse("git_failed", `expected git ${command} to end in time, but it did not${words && `; it said: ${words}`}`);
  if (isLocked(answer)) refuse("git_busy", `expected to have the repository alone, but found it locked by another process: ${words}`);
  return refuse("git_failed", `expected git ${command} to succeed, but it said: ${words || `nothing, status ${status}`}`);
}

/** @param {string} git @param {string} at @returns {Ask} */
function reader(git, at) {
  const env = environment(READING);
  return (args, { input, limitMs = READ_LIMIT_MS } = {}) => run(git, { at, args: ["--no-pager", "-c", "core.fsmonitor=false", ...args], env, input, limitMs });
}

// Not for `commit`: its hooks would find their patterns taken literally.
/** @param {string} git @param {string} at @returns {Ask} */
function adder(git, at) {
  const env = environment({ GIT_LITERAL_PATHSPECS: "1" });
  return (args, { input, limitMs = COMMIT_LIMIT_MS } = {}) => run(git, { at, args, env, input, limitMs });
}

/** @param {Record<string, string>} more */
function environment(more) {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0", ...more };
  for (const name of PLACES) if (!Object.hasOwn(more, name)) delete (/** @type {Record<string, string | undefined>} */ (env)[name]);
  return env;
}

/**
 * Where git is. A relative folder on the PATH would lead into the repository; so would Windows, which looks there first.
 */
function findGit() {
  const name = process.platform === "win32" ? "git.exe" : "git";
  const paths = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute).map((folder) => join(folder, name));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false; // What cannot be looked at cannot be run either.
    }
  });
}

/** @param {string} path */
function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * @param {string} git
 * @param {{ at: string, args: string[], env: NodeJS.ProcessEnv, input?: Uint8Array, limitMs: number }} call
 * @returns {Promise<Answer>}
 */
function run(git, { at, args, env, input, limitMs }) {
  return new Promise((answer, reject) => {
    const child = spawn(git, args, { cwd: at, env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    /** @type {Buffer[]} */
    const out = [];
    let words = "";
    let isLate = false;
    /** @type {NodeJS.Timeout[]} */
    const timers = [];
    const finish = () => {
      timers.forEach(clearTimeout);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      answer({ status: child.exitCode, out: Buffer.concat(out), words: words.trim(), isLate });
    };
    const end = () => {
      isLate = true;
      // Told so, git removes its locks.
      child.kill("SIGTERM");
      timers.push(setTimeout(() => child.kill("SIGKILL"), GRACE_MS));
    };
    timers.push(setTimeout(end, limitMs));
    child.stdout.on("data", (bytes) => out.push(bytes));
    child.stderr.setEncoding("utf8").on("data", (text) => (words = (words + text).slice(-MAX_WORDS)));
    child.on("error", (cause) => {
      timers.forEach(clearTimeout);
      reject(refused("git_failed", `expected to run "${git}", but the system refused: ${cause.message}`, cause));
    });
    // What a hook leaves running keeps the pipes; git itself has answered.
    child.on("exit", () => timers.push(setTimeout(finish, GRACE_MS)));
    child.on("close", finish);
    // Who ends before reading all of it says why by its status.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/** @param {Buffer} out */
function names(out) {
  return out.toString().split("\0").filter(Boolean);
}

/** @param {import("../types/index.js").ErrorCode} code @param {string} message @param {unknown} [cause] */
function refused(code, message, cause) {
  return new LeftoffError({ code, message, cause });
}

/** @param {import("../types/index.js").ErrorCode} code @param {string} message @returns {never} */
function refuse(code, message) {
  throw refused(code, message);
}
