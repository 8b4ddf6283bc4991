// @ts-check
// Laws of the whole command line, tried on every command and every option that there is: the list is what help says,
// which is made from the definitions.
// Tries: js/cli/arguments.js, js/cli/index.js, js/cli/input-files.js, js/cli/main.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

/** @typedef {{ status: number | null, stdout: string, stderr: string }} CliResult */
/**
 * @typedef {{ command: string, name: string, hint: string, needed: string[] }} Option `hint` is empty for a flag;
 *   `needed`: what has to stand before it
 */
/**
 * @typedef {(args: string[], where?: { env?: Record<string, string>, uid?: number, cwd?: string }) => CliResult} RunCli
 */

/**
 * @param {string} law
 * @param {(parts: { typed: RunCli, folder: string, options: Option[] }) => void} body
 * @param {string | false} [skip]
 */
function check(law, body, skip = false) {
  test(law, { skip }, () =>
    inFolder(async (folder) => {
      const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
      /** @type {RunCli} */
      const typed = (args, { env: more, uid, cwd = folder } = {}) =>
        spawnSync(nodePath, [entry, ...args], { cwd, uid, input: "", env: { ...env, ...more }, encoding: "utf8" });
      typed(["new", "--title", "Some session"]);
      body({ typed, folder, options: everyOption(typed) });
    }),
  );
}

/**
 * A value that stands for each needed argument, so that the options behind it are looked at.
 * @type {Record<string, string>}
 */
const STANDS_FOR = {
  SESSION: "last",
  MESSAGE: "m",
  "SESSION...": "last",
  "TITLE...": "t",
  "WORDS...": "w",
  "QUESTION...": "q",
  OLD: "/old",
  NEW: "/new",
  AGENT: "claude-code",
  SHELL: "bash",
};

/** @param {RunCli} typed @returns {Option[]} */
function everyOption(typed) {
  const commands = Array.from(
    typed(["completions", "bash", "--", ""]).stdout.matchAll(/^([a-z]+)\t/gm),
    ([, name = ""]) => name,
  );
  assert.ok(commands.length > 20);
  return commands.flatMap((command) => {
    const help = typed([command, "--help"], { env: { COLUMNS: "100" } }).stdout;
    const needed = Array.from(
      (/^leftoff .*$/m.exec(help)?.[0] ?? "").matchAll(/ ([A-Z.]+)(?= )/g),
      ([, place = ""]) => STANDS_FOR[place] ?? assert.fail(`nothing stands for ${place}`),
    );
    return Array.from(help.matchAll(/^ {2}--(?<name>[\w-]+)(?: (?<hint>[A-Z]+))?(?: |$)/gm), ({ groups }) => ({
      command,
      name: groups?.name ?? "",
      hint: groups?.hint ?? "",
      needed,
    }));
  });
}

/**
 * Refused as wrong usage, for a person and for a program alike; gives the sentence.
 * @param {RunCli} typed
 * @param {string[]} args
 */
function expectUsageError(typed, args) {
  const { status, stdout, stderr } = typed(args);
  assert.deepEqual([status, stdout], [2, ""], `${args.join(" ")}: ${stderr}`);
  assert.match(
    stderr,
    /^leftoff: (?:expected |unknown option -|--[\w-]+ (?:takes|needs) )[^\n]+ \(usage\)\n$/,
    args.join(" "),
  );
  return stderr;
}

check("whatever a flag is given, it is refused, with the flag and the value", ({ typed, options }) => {
  const flags = options.filter(({ hint }) => !hint);
  assert.ok(flags.some(({ command, name }) => command === "new" && name === "here"));
  // What stands everywhere is tried with one command.
  for (const { command, name, needed } of flags.filter(
    ({ command, name }) => command === "list" || !["json", "no-color"].includes(name),
  )) {
    const said = expectUsageError(typed, [command, ...needed, `--${name}=robot`]);
    assert.ok(said.includes(`--${name}`) && said.includes('not "robot"'), said);
  }
});

check("an option without a value is refused, with the option", ({ typed, options }) => {
  for (const { command, name, needed, hint } of options.filter(
    ({ hint, command, name }) => hint && (command === "list" || !["home", "workspace", "redact"].includes(name)),
  )) {
    assert.ok(expectUsageError(typed, [command, ...needed, `--${name}=`]).includes(`--${name}`), hint);
  }
});

check(
  "what is no whole number is refused wherever one is wanted, with the option and the value, before anything is done",
  ({ typed, options, folder }) => {
    const numbers = options.filter(({ hint }) => hint === "N");
    assert.ok(numbers.length > 10);
    const before = fs.readdirSync(folder, { recursive: true }).length;
    for (const [place, { command, name, needed }] of numbers.entries()) {
      const value = ["-1", "robot", "1.5", "1e3", "٣", "99999999999", "0x10"][place % 7];
      const said = expectUsageError(typed, [command, ...needed, `--${name}=${value}`]);
      assert.ok(said.includes(`--${name} takes a whole number`) && said.includes(`not "${value}"`), said);
    }
    assert.equal(fs.readdirSync(folder, { recursive: true }).length, before);
  },
);

check("an option that nobody knows is refused by every command as it was typed", ({ typed, options }) => {
  for (const command of new Set(options.map((one) => one.command))) {
    const { needed = [] } = options.find((one) => one.command === command) ?? {};
    for (const flag of ["--robot", "-x"])
      assert.ok(expectUsageError(typed, [command, ...needed, flag]).includes(`unknown option ${flag}`), command);
  }
});

check(
  "with --json a refusal is one value of JSON on standard error, with its code, and nothing is on standard output",
  ({ typed, options }) => {
    for (const command of new Set(options.map((one) => one.command))) {
      const { needed = [] } = options.find((one) => one.command === command) ?? {};
      const text = typed([command, ...needed, "--robot"]);
      const { status, stdout, stderr } = typed([command, ...needed, "--robot", "--json"]);
      assert.deepEqual([status, stdout], [2, ""], command);
      const { error, ...rest } = JSON.parse(stderr);
      assert.deepEqual([rest, error.code], [{}, "usage"], command);
      assert.equal(text.stderr, `leftoff: ${error.message} (${error.code})\n`);
    }
    for (const [args, code] of /** @type {const} */ ([
      [["robot"], "usage"],
      [["show", "nobody"], "not_found"],
      [["context", "--model", "nobody-1"], "invalid_request"],
      [["import", "/nowhere"], "not_found"],
      [["fork", "--at", "m"], "not_found"],
    ])) {
      const { stdout, stderr, status } = typed([...args, "--json"]);
      assert.notEqual(status, 0, args.join(" "));
      assert.deepEqual([stdout, JSON.parse(stderr).error.code], ["", code], args.join(" "));
    }
  },
);

check("what the library calls by a name is named as the option that was typed", ({ typed }) => {
  for (const args of [
    ["context", "--model", "nobody-1"],
    ["compact", "--model", "nobody-1"],
    ["resume", "last", "--print", "--model", "nobody-1"],
  ]) {
    const { stderr } = typed(args);
    assert.doesNotMatch(stderr, /"window"/, stderr);
  }
});

const notRoot = process.getuid?.() !== 0 && "needs root, to become somebody else";
const NOBODY = 65_534;

check(
  "a permission that is refused is told as that, with the path, by every command, and never as nothing found",
  ({ typed, folder, options }) => {
    const locked = join(folder, "locked");
    fs.mkdirSync(locked, { mode: 0o700 });
    fs.chmodSync(folder, 0o755);
    const where = { uid: NOBODY, cwd: "/", env: { HOME: locked, LEFTOFF_HOME: "" } };
    for (const command of new Set(options.map((one) => one.command))) {
      const { needed = [] } = options.find((one) => one.command === command) ?? {};
      // They need no home, or say nothing to a client; what is wrong with the arguments is told before.
      if (["hook", "completions"].includes(command)) continue;
      const args =
        command === "import"
          ? ["--all"]
          : command === "export"
            ? ["--to", "json"]
            : command === "typed"
              ? ["session"]
              : command === "search"
                ? ["words"]
                : command === "ask"
                  ? [...needed, "--engine", "cat"]
                  : command === "init"
                    ? [...needed, "--workspace", locked]
                    : needed;
      const { status, stdout, stderr } = typed([command, ...args], where);
      assert.deepEqual([status, stdout], [1, ""], `${command}: ${stderr}`);
      assert.match(stderr, /^leftoff: [^\n]+ \(permission_denied\)\n$/, command);
      assert.ok(stderr.includes(locked), stderr);
    }
  },
  notRoot,
);

check(
  "a file or a folder that an option names is refused as what it is: not there, a folder, not to be read",
  ({ typed, folder }) => {
    fs.chmodSync(folder, 0o777);
    const [secret, locked] = [join(folder, "secret"), join(folder, "sealed")];
    fs.writeFileSync(secret, "{}", { mode: 0o600 });
    fs.mkdirSync(locked, { mode: 0o700 });
    const mine = { uid: NOBODY, env: { HOME: folder, LEFTOFF_HOME: join(folder, "theirs") } };
    typed(["new"], mine);
    for (const [args, code] of /** @type {[string[], string][]} */ ([
      [["context", "--system", join(folder, "missing")], "not_found"],
      [["context", "--system", folder], "not_a_file"],
      [["context", "--system", secret], "permission_denied"],
      [["context", "--tools", join(locked, "tools.json")], "permission_denied"],
      [["export", "--to", "json", "--output", join(locked, "out")], "permission_denied"],
      [["export", "--to", "json", "--output", join(folder, "missing", "out")], "not_found"],
      [["export", "--to", "json", "--output", secret], "already_exists"],
      [["list", "--workspace", join(locked, "project")], "permission_denied"],
      [["list", "--workspace", join(secret, "project")], "not_a_folder"],
      [["relocate", "/old", join(locked, "project")], "permission_denied"],
      [["init", "codex", "--workspace", join(folder, "missing")], "not_found"],
      [["init", "claude-code", "--plugin", join(locked, "plugin")], "permission_denied"],
    ])) {
      const { status, stdout, stderr } = typed(args, mine);
      assert.deepEqual([status, stdout], [1, ""], args.join(" "));
      assert.match(stderr, new RegExp(`^leftoff: [^\\n]+ \\(${code}\\)\\n$`), args.join(" "));
    }
  },
  notRoot,
);

check("where no agent is installed, resume says what works without one", ({ typed, folder }) => {
  const where = { env: { PATH: folder } };
  const { status, stderr } = typed(["resume", "last"], where);
  assert.equal(status, 1);
  assert.match(stderr, /--print/);
  assert.equal(typed(["resume", "last", "--print"], where).status, 0);
});

check("no option is named like an argument, and what takes a value is denied by none", ({ typed, options }) => {
  for (const args of [
    ["complete", "--session=other"],
    ["complete", "--session"],
    ["archive", "--session=other"],
    ["settings", "--key=redact", "--value=replace"],
    ["trash", "--do=restore"],
    ["list", "--_=x"],
    ["list", "--_", "x"],
    ["show", "--no-session"],
  ]) {
    assert.match(expectUsageError(typed, args), /unknown option --?[^ ]+/, args.join(" "));
  }
  for (const { command, name, needed } of options.filter(({ hint }) => hint))
    assert.ok(
      expectUsageError(typed, [command, ...needed, `--no-${name}`]).includes(`unknown option --no-${name}`),
      `${command} --no-${name}`,
    );
  const [session] = JSON.parse(typed(["list", "--json"]).stdout);
  assert.equal(session.status, "active");
  // As a value it is one.
  assert.equal(typed(["rename", "last", "--", "--session=other"]).status, 0);
});
