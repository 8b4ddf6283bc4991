// @ts-check
// Lists as they are typed: what a number means, what words mean, what is shown of which sessions, and how.
// Tries: js/cli/find.js, js/cli/rows.js, js/cli/width.js, js/cli/numbered-lists.js, js/cli/pager.js, js/cli/times.js,
// js/cli/import.js, js/cli/losses.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import widthOf from "fast-string-width";

import { age, rowsText, uniqueLength } from "../../js/cli/rows.js";
import { parseTime } from "../../js/cli/times.js";
import { openStore } from "../../js/index.js";
import { nodePath } from "./node-path.js";
import { entry, noTerminal, onTerminal } from "./terminal.js";

/** @typedef {(...args: string[]) => { status: number | null, stdout: string, stderr: string }} RunCli */
/** @typedef {{ title?: string, project?: string, said?: string, day?: number, agent?: string }} SessionSpec */
/**
 * @typedef {{ folder: string, home: string, typed: RunCli, from: (project: string) => RunCli, held: (...all: SessionSpec[]) => Promise<string[]> }} CliScene `held`: sessions, the first one the newest
 */

/**
 * @param {string} name
 * @param {(where: CliScene) => Promise<void>} work
 * @param {{ skip?: string | false }} [options]
 */
function check(name, work, options = {}) {
  test(name, options, async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-lists-")));
    const home = join(folder, "home");
    const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: home };
    const from = (/** @type {string} */ project) => {
      mkdirSync(join(folder, project), { recursive: true });
      return (/** @type {string[]} */ ...args) =>
        spawnSync(nodePath, [entry, ...args], {
          cwd: join(folder, project),
          env,
          encoding: "utf8",
          maxBuffer: 2 ** 28,
        });
    };
    try {
      await work({ folder, home, typed: from("here"), from, held: (...all) => createSessions(folder, all) });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

/** @param {string} folder @param {SessionSpec[]} all */
async function createSessions(folder, all) {
  const ids = [];
  for (const [place, { title, project = "here", said = "words", day = 20 }] of all.entries()) {
    mkdirSync(join(folder, project), { recursive: true });
    const store = await openStore({ home: join(folder, "home"), project: join(folder, project), countTokens: false });
    const session = await store.create({ title });
    await session.append({
      role: "user",
      content: said,
      timestamp: new Date(Date.UTC(2026, 9, day, 12, 59 - (place % 60))).toISOString(),
    });
    await session.pause();
    ids.push(session.id);
    await store.close();
  }
  return ids;
}

/** @param {ReturnType<RunCli>} answer */
const value = ({ status, stdout, stderr }) => {
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
};

check("a number means the list that was shown last, whatever is typed with it", async ({ typed, held }) => {
  const [other = "", mine = "", third = ""] = await held(
    { title: "Other", project: "there", day: 22 },
    { title: "Mine", day: 21 },
    { title: "Third one", day: 19 },
  );
  const taken = (/** @type {string} */ number) => value(typed("resume", number, "--print", "--json")).id;
  typed("list", "--all");
  assert.deepEqual([taken("1"), taken("2"), taken("3")], [other, mine, third]);
  for (const command of [["info"], ["context", "--window", "9000"], ["compact", "--window", "9000"]])
    assert.equal(typed(...command, "1").status, 0, command[0]);
  assert.equal(value(typed("info", "1", "--json")).id, other);
  assert.match(typed("export", "3", "--to", "markdown").stdout, /^# Third one/);
  assert.equal(value(typed("rename", "3", "Called so", "--json")).id, third);
  assert.equal(value(typed("complete", "1", "--json")).id, other);
  assert.equal(value(typed("doctor", "2", "--json"))[0].id, mine);
  typed("list");
  assert.deepEqual([taken("1"), taken("2")], [mine, third]);
  typed("search", "called");
  assert.equal(taken("1"), third);
  // What a program reads has no numbers.
  typed("list", "--all", "--json");
  assert.equal(taken("1"), third);
  typed("list", "--status", "archived");
  assert.match(
    typed("resume", "1", "--print").stderr,
    /no session 1: the last list was empty\. Run 'leftoff list' \(not_found\)\n$/,
  );
});

check("a number of no list is refused, and says what to do", async ({ typed, from, held }) => {
  await held({ title: "One" }, { title: "Two", project: "there" });
  for (const command of ["resume", "show", "info", "stop", "delete", "doctor"]) {
    const { status, stdout, stderr } = typed(command, "1");
    assert.deepEqual([status, stdout], [1, ""], command);
    assert.match(
      stderr,
      /^leftoff: no session 1: no list was shown here yet\. Run 'leftoff list' \(not_found\)\n$/,
      command,
    );
  }
  typed("list");
  assert.match(
    typed("show", "2").stderr,
    /no session 2: the last list ended at 1\. Run 'leftoff list' \(not_found\)\n$/,
  );
  // Another project has seen none.
  assert.match(from("there")("show", "1").stderr, /\(not_found\)\n$/);
});

check("an agent's client has a list of its own", async ({ typed, held }) => {
  const [one = "", two = ""] = await held({ title: "One", day: 22 }, { title: "Two", day: 21 });
  typed("list", "--sort", "title", "--limit", "1");
  typed("typed", "sessions", "--from", "codex");
  typed("search", "two");
  assert.equal(value(typed("resume", "2", "--from", "codex", "--json")).id, two);
  assert.equal(value(typed("resume", "1", "--from", "codex", "--json")).id, one);
  assert.equal(value(typed("info", "1", "--json")).id, two);
});

check("every command takes words of a title, and never what only resembles them", async ({ typed, held }) => {
  const [api = "", fix = "", fixed = ""] = await held(
    { title: "API Dësign" },
    { title: "Fix the parser" },
    { title: "Fix the parser's tests" },
  );
  for (const [words, id] of /** @type {[string[], string][]} */ ([
    [["api", "design"], api],
    [["API Dësign"], api],
    [["parser's"], fixed],
    [["fix the parser"], fix],
    [["design", "api"], api],
  ])) {
    assert.equal(value(typed("info", ...words, "--json")).id, id, words.join(" "));
    assert.equal(value(typed("resume", ...words, "--print", "--json")).id, id, words.join(" "));
    assert.equal(value(typed("doctor", ...words, "--json"))[0].id, id, words.join(" "));
  }
  for (const command of [
    ["show"],
    ["export", "--to", "json"],
    ["context", "--window", "9000"],
    ["stop"],
    ["archive"],
    ["unarchive"],
    ["fork"],
  ])
    assert.equal(typed(...command, "api", "design").status, 0, command[0]);
  for (const command of ["show", "resume", "delete", "archive", "stop"]) {
    const { status, stderr } = typed(command, "fx", "prser");
    assert.equal(status, 1, command);
    assert.match(stderr, /^leftoff: no session "fx prser".*Fix the parser.*\(not_found\)\n$/, command);
  }
  assert.equal(value(typed("delete", "parser's", "--yes", "--json")).id, fixed);
});

check("where several are meant five are named, one a line, and how many more there are", async ({ typed, held }) => {
  const ids = await held(...Array.from({ length: 9 }, (_, n) => ({ title: `Fix\n${n}`, day: 20 - n })));
  for (const command of [
    ["show", "fix"],
    ["resume", "fix", "--print"],
    ["info", (ids[0] ?? "").slice(0, 3)],
  ]) {
    const { status, stdout, stderr } = typed(...command);
    assert.deepEqual([status, stdout], [2, ""]);
    const lines = stderr.split("\n");
    assert.match(lines[0] ?? "", /matches 9 sessions:$/);
    assert.deepEqual(
      lines.slice(1, 6).map((line) => /^ {2}([0-9a-f-]{36}) {2}Fix \d$/.test(line)),
      [true, true, true, true, true],
      stderr,
    );
    assert.equal(lines[6], "  and 4 more");
    assert.match(lines[7] ?? "", /^name one by .*\(ambiguous\)$/);
  }
});

check("a list has what is asked for, in the order that is asked for, as JSON, too", async ({ folder, typed, held }) => {
  const [a = "", b = "", c = ""] = await held(
    { title: "b10", day: 22 },
    { title: "B9", project: "there", day: 21, said: "x" },
    { title: "a", day: 19 },
  );
  const transcript = join(folder, "t.jsonl");
  writeFileSync(
    transcript,
    `${JSON.stringify({ type: "user", uuid: "1", sessionId: "s", cwd: join(folder, "here"), timestamp: "2026-10-18T12:00:00.000Z", message: { role: "user", content: "Imported" } })}\n`,
  );
  const [{ id: d }] = value(typed("import", transcript, "--json"));
  const ids = (/** @type {string[]} */ ...args) =>
    value(typed("list", ...args, "--json")).map((/** @type {any} */ one) => one.id);
  for (const [args, expected] of /** @type {[string[], string[]][]} */ ([
    [[], [a, c, d]],
    [["--all"], [a, b, c, d]],
    [["--agent", "claude-code"], [d]],
    [["--agent", "codex", "--all"], []],
    [["--project", "there"], [b]],
    [["--project", join(folder, "there")], [b]],
    [["--project", "../there"], [b]],
    [
      ["--project", "."],
      [a, c, d],
    ],
    [
      ["--all", "--since", "2026-10-21"],
      [a, b],
    ],
    [
      ["--all", "--until", "2026-10-21T23:00:00Z"],
      [b, c, d],
    ],
    [["--all", "--since", "2026-10-19T00:00:00Z", "--until", "2026-10-21T00:00:00Z"], [c]],
    [["--all", "--since", "1d"], []],
    [
      ["--all", "--sort", "title"],
      [c, b, a, d],
    ],
    [["--all", "--sort", "created", "--limit", "1"], [d]],
    [
      ["--all", "--sort", "agent"],
      [a, b, c, d],
    ],
    [
      ["--all", "--sort", "project"],
      [a, c, d, b],
    ],
    [
      ["--all", "--limit", "2"],
      [a, b],
    ],
  ]))
    assert.deepEqual(
      args.includes("created") ? ids(...args).length : ids(...args),
      args.includes("created") ? 1 : expected,
      args.join(" "),
    );
  const [mine, , , imported] = value(typed("list", "--all", "--json"));
  assert.deepEqual(Object.keys(mine), [
    "id",
    "project",
    "type",
    "title",
    "status",
    "lastActive",
    "summary",
    "messageCount",
    "placement",
    "path",
  ]);
  assert.deepEqual([imported.agent, imported.project], ["claude-code", join(folder, "here")]);
  assert.deepEqual(value(typed("search", "a", "--agent", "claude-code", "--json")), []);
  for (const [args, code] of /** @type {[string[], RegExp][]} */ ([
    [["--since", "soon"], /--since takes a time such as .*not "soon".*\(usage\)/],
    [["--since", "2026-02-30"], /\(usage\)/],
    [["--sort", "size"], /--sort takes active, created.*not "size".*\(usage\)/],
    [["--agent", "me"], /\(usage\)/],
  ])) {
    const { status, stderr } = typed("list", ...args);
    assert.equal(status, 2);
    assert.match(stderr, code);
  }
});

check("an empty list says why it is empty, and what helps", async ({ typed, from, held }) => {
  const said = (/** @type {string[]} */ ...args) => {
    const { status, stdout, stderr } = typed("list", ...args);
    assert.deepEqual([status, stdout], [0, ""]);
    assert.equal((stderr.match(/'/g)?.length ?? 0) % 2, 0, stderr);
    return stderr.replace(/^leftoff: /, "");
  };
  assert.match(
    said(),
    /^no sessions here; 'leftoff new' starts one, 'leftoff import --all' imports those of your agents\n$/,
  );
  await held({ project: "there" }, { project: "there" });
  assert.match(said(), /'leftoff list --all' shows the 2 of other projects\n$/);
  const filtered = from("there")("list", "--agent", "codex", "--since", "2026-10-01").stderr;
  assert.match(
    filtered,
    /^leftoff: no session of this project matches --agent and --since; without them there are 2\n$/,
  );
  from("there")("list");
  from("there")("archive", "1");
  from("there")("archive", "2");
  assert.match(from("there")("list").stderr, /'leftoff list --status archived' shows what is archived\n$/);
});

check(
  "on a terminal a session has one line, as wide as that is; in a pipe all its columns",
  async ({ folder, home, typed, held }) => {
    const titles = [
      "Fix \u001b[31mthe\u001b[0m parser",
      "日本語のとても長い題名".repeat(9),
      "👩‍👩‍👧‍👦".repeat(60),
      "[x] done",
      "word ".repeat(60),
      "a\nb",
    ];
    await held(...titles.map((title, n) => ({ title, day: 20 - n, project: n % 2 ? "here" : "there" })));
    for (const [columns, rows] of /** @type {const} */ ([
      [80, 24],
      [40, 10],
      [200, 50],
      [24, 10],
    ])) {
      const shown = await listOnTerminal(["--all"], { folder, home, columns, rows });
      const lines = shown.split("\r\n").filter(Boolean);
      assert.equal(lines.length, titles.length, shown);
      for (const [place, line] of lines.entries()) {
        assert.ok(widthOf(line) < columns, `${columns}: ${line}`);
        assert.match(line, new RegExp(`^ *${place + 1}  `));
      }
      if (columns >= 80) assert.match(shown, /Fix the parser[^]*\[x\] done/);
    }
    // In a pipe a line for each, its columns with a tab between.
    for (const line of typed("list", "--all").stdout.trimEnd().split("\n"))
      assert.equal(line.split("\t").length, 8, line);
  },
  { skip: noTerminal },
);

check(
  "colors are a terminal's alone, and nobody's who does not want them",
  async ({ folder, home, typed, held }) => {
    await held({ title: "One" });
    const raw = async (/** @type {string[]} */ args, env = {}) =>
      (
        await onTerminal(
          ["list", "--all", ...args],
          { cwd: folder, env: { HOME: folder, PATH: process.env.PATH ?? "", LEFTOFF_HOME: home, ...env } },
          async () => {},
        )
      ).raw;
    assert.match(await raw([]), /\u001b\[33m/);
    for (const plain of [await raw(["--no-color"]), await raw([], { NO_COLOR: "1" }), typed("list", "--all").stdout])
      assert.doesNotMatch(plain, /\u001b/);
  },
  { skip: noTerminal },
);

check(
  "what is longer than the screen goes through the pager; what is not there is no reason to show nothing",
  async ({ folder, home, held }) => {
    await held(...Array.from({ length: 12 }, (_, n) => ({ title: `Title ${n}`, day: 20 - n })));
    const lines = async (/** @type {string} */ PAGER, rows = 10) =>
      (await listOnTerminal(["--all"], { folder, home, columns: 80, rows, env: { PAGER } }))
        .split("\r\n")
        .filter((line) => /Title/.test(line)).length;
    assert.equal(await lines("head -n 3"), 3);
    assert.equal(await lines("head -n 3", 24), 12);
    assert.equal(await lines("cat"), 12);
    assert.equal(await lines("/no/such/program"), 12);
  },
  { skip: noTerminal },
);

check(
  "a home that cannot be written has its list, and numbers that say what they cannot",
  async ({ home, held, typed }) => {
    await held({ title: "One" });
    typed("list");
    chmodSync(join(home, "cache", "shown"), 0o500);
    for (const name of readdirSync(join(home, "cache", "shown"))) chmodSync(join(home, "cache", "shown", name), 0o400);
    const { status, stdout, stderr } = typed("list");
    assert.deepEqual([status, /One/.test(stdout)], [0, true]);
    assert.match(stderr, /could not be saved/);
    chmodSync(join(home, "cache", "shown"), 0o700);
  },
  { skip: process.getuid?.() === 0 && "root may write everywhere" },
);

/** A Claude Code transcript. @param {string} id @param {number} count how many messages */
const transcript = (id, count) =>
  Array.from(
    { length: count },
    (_, n) =>
      `${JSON.stringify({ type: "user", uuid: `${id}-${n}`, parentUuid: n ? `${id}-${n - 1}` : null, sessionId: id, timestamp: "2026-10-18T12:00:00.000Z", message: { role: "user", content: `Said ${n}` } })}\n`,
  ).join("");

check(
  "an import of several has a line for each agent and a total, each session only where that is asked for; of one that one",
  async ({ folder, typed }) => {
    const many = join(folder, "many");
    mkdirSync(many);
    for (let n = 0; n < 7; n += 1) writeFileSync(join(many, `s${n}.jsonl`), transcript(`s${n}`, 2));
    const pi = [
      { type: "session", version: 3, id: "p", timestamp: "2026-10-18T12:00:00.000Z", cwd: folder },
      {
        type: "message",
        id: "a",
        parentId: null,
        timestamp: "2026-10-18T12:00:00.000Z",
        message: { role: "user", content: "Hi", timestamp: 1 },
      },
    ];
    writeFileSync(join(many, "p.jsonl"), pi.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const ids = /^[0-9a-f-]{36} {2}[a-z-]+ {2}\d+ messages?, \d+ new$/gm;
    const short = typed("import", many).stdout;
    assert.match(
      short,
      /^claude-code {2}7 sessions {2}14 new messages\npi {11}1 session {4}1 new message\ntotal {8}8 sessions {2}15 new messages\nall belong to other projects; 'leftoff list --all' shows them\n$/,
    );
    for (let n = 0; n < 7; n += 1) writeFileSync(join(many, `s${n}.jsonl`), transcript(`s${n}`, 3));
    const long = typed("import", many, "--verbose").stdout;
    assert.equal(long.match(ids)?.length, 7, long);
    assert.match(long, /^claude-code {2}7 sessions {2}7 new messages\n/m);
    assert.doesNotMatch(long, /^total/m);
    assert.match(long, /^1 file unchanged\n/m);
    assert.equal(typed("import", join(many, "s0.jsonl")).stdout.match(ids)?.length, 1);
  },
);

check("a fork says what it is called, and a narrow list still shows which is which", async ({ typed, held }) => {
  const [id = ""] = await held({ title: "A plan for the parser of configuration files" });
  const { id: fork, title } = value(typed("fork", id, "--json"));
  assert.equal(title, "A plan for the parser of configuration files (fork)");
  assert.match(
    typed("fork", id).stdout,
    /^forked "A plan [^"]*files"\. The fork is "A plan [^"]*files \(fork 2\)": [0-9a-f-]{36}\n$/,
  );
  const one = {
    id: fork,
    title,
    lastActive: "2026-10-20T12:00:00.000Z",
    messageCount: 1,
    status: "active",
    project: "/p",
  };
  for (const columns of [40, 60])
    assert.match(
      rowsText([/** @type {any} */ (one)], { columns, isColored: false, idLength: 8 }),
      /A plan[^…]*… \(fork\) /,
    );
});

check("only what was lost of the talk is said without being asked, with its reason", async ({ folder, typed }) => {
  const path = join(folder, "t.jsonl");
  const line = (/** @type {string} */ uuid, /** @type {object} */ more) =>
    `${JSON.stringify({ type: "user", uuid, sessionId: "s", userType: "external", timestamp: "2026-10-18T12:00:00.000Z", message: { role: "user", content: [{ type: "text", text: "Look." }] }, ...more })}\n`;
  writeFileSync(path, line("a", {}));
  const well = typed("import", path).stdout;
  assert.doesNotMatch(well, /not imported|incomplete/);
  writeFileSync(
    path,
    line("a", {}) +
      line("b", {
        message: {
          role: "user",
          content: [
            { type: "text", text: "And this." },
            { type: "hologram", data: "x" },
          ],
        },
      }),
  );
  const lost = typed("import", path).stdout;
  assert.match(lost, /\n {4}not imported, unknown type of block: user\.message\.content\[hologram\] \(1\)\n/);
  assert.doesNotMatch(lost, /userType/);
  writeFileSync(path, line("a", {}) + line("b", {}) + line("c", {}));
  assert.match(typed("import", path, "--verbose").stdout, /not imported, a client detail: user\.userType \(3\)/);
  // Of several, each that lacks something is named by its file: by then the folder counts as read.
  const many = join(folder, "many");
  mkdirSync(many);
  for (const name of ["one", "two"])
    writeFileSync(
      join(many, `${name}.jsonl`),
      line(name, {
        sessionId: name,
        ...(name === "two" && {
          message: { role: "user", content: [{ type: "hologram" }, { type: "text", text: "So." }] },
        }),
      }),
    );
  const { stdout } = typed("import", many);
  const told = [
    "incomplete: 1 session; 'leftoff import FILE --verbose' lists what a file lost",
    `    ${join(many, "two.jsonl")}`,
    "    not imported, unknown type of block: ",
  ];
  assert.ok(stdout.includes(`\n${told.join("\n")}`), stdout);
});

check("a file that is not there is named once, however it was typed", async ({ folder, typed }) => {
  assert.equal(
    typed("import", join(folder, "none")).stderr,
    `leftoff: no file or folder "${join(folder, "none")}" (not_found)\n`,
  );
});

check(
  "where no agent has a session, an import of all names the folders that it searched",
  async ({ folder, typed }) => {
    mkdirSync(join(folder, ".codex", "sessions"), { recursive: true });
    const { status, stdout } = typed("import", "--all");
    assert.equal(status, 0);
    assert.match(stdout, /^no sessions found\. Searched:\n/);
    const lines = stdout.split("\n").map((line) => line.trim().replace(/ +/, " "));
    assert.ok(lines.includes(`codex ${join(folder, ".codex", "sessions")}`), stdout);
    assert.ok(lines.includes(`claude-code ${join(folder, ".claude", "projects")} (does not exist)`), stdout);
    assert.match(stdout, /\nTo import from elsewhere: leftoff import PATH\n$/);
    mkdirSync(join(folder, "empty"));
    assert.equal(typed("import", join(folder, "empty")).stdout, `no sessions found in ${join(folder, "empty")}\n`);
  },
);

check("doctor tells what is wrong, and how many sessions are undamaged", async ({ home, typed, held }) => {
  assert.equal(typed("doctor").stdout, "no sessions here\n");
  const [torn = ""] = await held({ title: "Torn" }, { title: "Well" }, { title: "Well, too" });
  assert.equal(typed("doctor").stdout, "3 sessions are undamaged\n");
  const name = readdirSync(home, { recursive: true, encoding: "utf8" }).find((one) =>
    one.endsWith(join(`session-${torn}`, "messages.jsonl")),
  );
  appendFileSync(join(home, name ?? ""), '{"v":1,"id":"to');
  const { stdout } = typed("doctor");
  assert.match(
    stdout,
    new RegExp(
      `^${torn} {2}\\w+\\n {4}messages\\.jsonl, bytes \\d+ to \\d+: [^\\n]+ \\(torn_tail\\)\\n'leftoff doctor --fix' repairs what can be repaired\\n2 sessions are undamaged\\n$`,
    ),
  );
  assert.equal(typed("doctor", "Well, too").stdout, "1 session is undamaged\n");
  appendFileSync(join(home, name ?? ""), "}\n");
  const left = typed("doctor", "--fix").stdout;
  assert.match(
    left,
    / {4}messages\.jsonl, bytes [^\n]+\nthe problems not listed as repaired remain: [^\n]+\n2 sessions are undamaged\n$/,
  );
});

check(
  "a search that finds nothing leaves the numbers as they were, and says where else it may be",
  async ({ typed, held }) => {
    const [, hidden = ""] = await held({ title: "The parser" }, { title: "Hidden", said: "croniter" });
    assert.equal(typed("search", "croniter").stdout.match(/\n/g)?.length, 1);
    assert.equal(typed("archive", hidden).status, 0);
    assert.equal(
      typed("search", "croniter").stderr,
      'leftoff: "croniter" was found nowhere in this project; --all searches all projects; --status archived searches 1 session that lists hide\n',
    );
    assert.equal(typed("search", "croniter", "--all", "--status", "archived").stdout.match(/\n/g)?.length, 1);
    assert.equal(value(typed("info", "1", "--json")).id, hidden);
  },
);

check("a list makes no store where none is", async ({ folder, typed }) => {
  const missing = join(folder, "mistyped");
  for (const args of [["list"], ["search", "words"], ["list", "--all"]])
    assert.equal(typed(...args, "--home", missing).status, 0);
  assert.equal(existsSync(missing), false);
});

check("an import says where its sessions are listed", async ({ folder, typed }) => {
  const path = join(folder, "other.jsonl");
  writeFileSync(path, transcript("other", 2));
  const { stdout } = typed("import", path);
  assert.match(stdout, /\nit belongs to another project; 'leftoff list --all' shows it\n$/);
  assert.doesNotMatch(typed("list", "--all").stdout, /^no sessions/);
});

test("how far an import is grows to the end, also within one file", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-far-")));
  try {
    const path = join(folder, "large.jsonl");
    writeFileSync(path, transcript("large", 2000));
    const store = await openStore({ home: join(folder, "home"), project: folder, countTokens: false });
    /** @type {import("../../js/types/index.js").Progress[]} */
    const told = [];
    await store.import(path, { onProgress: (progress) => void told.push(progress) });
    await store.close();
    const shares = told.map(({ bytes, totalBytes }) => bytes / totalBytes);
    assert.deepEqual(
      shares,
      shares.toSorted((a, b) => a - b),
    );
    assert.ok(
      new Set(shares).size > 5 && shares[0] === 0 && (shares.at(-1) ?? 0) > 0.9 && shares.every((share) => share <= 1),
      String(shares),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/**
 * @param {string[]} args
 * @param {{ folder: string, home: string, columns: number, rows: number, env?: Record<string, string> }} where
 */
async function listOnTerminal(args, { folder, home, columns, rows, env = {} }) {
  const { raw } = await onTerminal(
    ["list", ...args],
    {
      cwd: folder,
      env: { HOME: folder, PATH: process.env.PATH ?? "", LEFTOFF_HOME: home, PAGER: "cat", ...env },
      columns,
      rows,
    },
    async () => {},
  );
  return stripVTControlCharacters(raw);
}

test("a short id is the beginning of one session alone", () => {
  const hex = (/** @type {number} */ n) => n.toString(16).padStart(12, "0");
  const all = Array.from({ length: 300 }, (_, n) => hex((n * 2_654_435_761) % 2 ** 44)).concat(hex(1), hex(2), hex(3));
  for (const some of [all, all.slice(0, 10), [hex(2)], []]) {
    const length = uniqueLength(some, all);
    for (const id of some) assert.equal(all.filter((one) => one.startsWith(id.slice(0, length))).length, 1, id);
  }
});

test("an age is told by its largest unit", () => {
  const now = new Date("2026-11-22T12:00:00Z");
  for (const [time, expected] of /** @type {const} */ ([
    ["2026-11-22T11:59:30Z", "now"],
    ["2026-11-22T11:55:00Z", "5m"],
    ["2026-11-22T09:00:00Z", "3h"],
    ["2026-11-20T12:00:00Z", "2d"],
    ["2026-11-01T12:00:00Z", "3w"],
    ["2026-08-01T12:00:00Z", "3mo"],
    ["2024-01-01T12:00:00Z", "2y"],
    ["2027-01-01T12:00:00Z", "now"],
    ["", ""],
  ]))
    assert.equal(age(time, now), expected, time);
  assert.equal(rowsText([], { columns: 80, isColored: true, idLength: 8 }), "");
});

test("a time is a day, a time, or how long ago", () => {
  const now = new Date(2026, 10, 22, 12, 0, 0);
  const check = (/** @type {string} */ typed, /** @type {Date} */ since, /** @type {Date} */ until = since) => {
    assert.deepEqual(parseTime(typed, "since", now), since, typed);
    assert.deepEqual(parseTime(typed, "until", now), until, typed);
  };
  check("2026-11-20", new Date(2026, 10, 20), new Date(new Date(2026, 10, 21).getTime() - 1));
  check("today", new Date(2026, 10, 22), new Date(new Date(2026, 10, 23).getTime() - 1));
  check("Yesterday", new Date(2026, 10, 21), new Date(new Date(2026, 10, 22).getTime() - 1));
  check("2026-11-20T09:30:00Z", new Date("2026-11-20T09:30:00Z"));
  check("2026-11-20 09:30", new Date(2026, 10, 20, 9, 30));
  check("90m", new Date(2026, 10, 22, 10, 30));
  check("3 days ago", new Date(now.getTime() - 3 * 86_400_000));
  check("2w", new Date(now.getTime() - 14 * 86_400_000));
  check("2mo", new Date(2026, 8, 22, 12));
  check("1 year", new Date(2025, 10, 22, 12));
  check("99999y", new Date(0));
  for (const wrong of [
    "",
    "soon",
    "2026-13-01",
    "2026-02-30",
    "2026-02-30T09:00",
    "3",
    "3 parsecs",
    "2026-11-20T99:00",
  ])
    assert.throws(() => parseTime(wrong, "since", now), /--since takes a time/, wrong);
});
