// @ts-check
// `leftoff append`, while its input is open: an id that was printed is a message that is stored, whatever happens next.
// Tries: js/cli/append.js, js/compat/json-text.js
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import fc from "fast-check";

import { readLines } from "../../js/cli/append.js";
import { findParseLoss } from "../../js/compat/json-text.js";
import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

/** @typedef {{ status: number | null, stdout: string, stderr: string }} CliResult */

/** A session, and leftoff in its project. */
class Fixture {
  #where;
  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
    this.#where = { cwd: folder, env: { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: join(folder, "store") } };
    this.id = JSON.parse(this.runCli(["new", "--json"]).stdout).id;
  }

  /** @param {string[]} args @param {string | Uint8Array} [input] @returns {CliResult} */
  runCli(args, input = "") {
    return spawnSync(nodePath, [entry, ...args], { ...this.#where, input, encoding: "utf8", maxBuffer: 2 ** 28 });
  }

  /** @param {string | Uint8Array} input @param {string[]} [more] */
  append(input, more = []) {
    return this.runCli(["append", this.id, ...more], input);
  }

  /** A child whose input stays open; `id` waits for the next line that it prints. @param {string[]} [more] */
  open(more = []) {
    const child = spawn(nodePath, [entry, "append", this.id, ...more], {
      ...this.#where,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const printed = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ended = new Promise((resolve) => child.on("close", (status, signal) => resolve({ status, signal })));
    return { child, ended, line: async () => (await printed.next()).value };
  }

  /** @returns {{ id: string, role: string, content: string }[]} */
  storedMessages() {
    return JSON.parse(this.runCli(["show", this.id, "--json"]).stdout);
  }
}

/** @param {string} law @param {(fixture: Fixture) => Promise<void> | void} body */
function check(law, body) {
  test(law, () => inFolder(async (folder) => body(new Fixture(folder))));
}

const userLine = (/** @type {string} */ content) => JSON.stringify({ role: "user", content });
const contents = (/** @type {Fixture} */ fixture) => fixture.storedMessages().map(({ content }) => content);

check("each id is printed while the input is open, and what was printed survives kill -9", async (fixture) => {
  const { child, ended, line } = fixture.open();
  const ids = [];
  for (const content of ["one", "two", "three"]) {
    child.stdin.write(`${userLine(content)}\n`);
    ids.push(await line());
  }
  child.stdin.write('{"role":"user","content":"not who');
  child.kill("SIGKILL");
  assert.deepEqual(await ended, { status: null, signal: "SIGKILL" });
  assert.deepEqual(
    fixture.storedMessages().map(({ id, content }) => [id, content]),
    [
      [ids[0], "one"],
      [ids[1], "two"],
      [ids[2], "three"],
    ],
  );
});

check("with --json each id is a value of its own on a line, at once", async (fixture) => {
  const { child, ended, line } = fixture.open(["--json"]);
  child.stdin.write(`${userLine("one")}\n`);
  const { id, ...rest } = JSON.parse(String(await line()));
  assert.deepEqual(rest, {});
  child.stdin.end(userLine("two"));
  JSON.parse(String(await line()));
  assert.equal(await line(), undefined);
  assert.deepEqual(await ended, { status: 0, signal: null });
  assert.equal(fixture.storedMessages()[0]?.id, id);
});

check(
  "a line that is refused ends it while the input is open, is named by its number, and what came before is told",
  async (fixture) => {
    const { child, ended, line } = fixture.open();
    child.stdin.on("error", () => {}); // It is gone before it is written to again.
    child.stdin.write(`${userLine("kept")}\n\n{"role":"user"\n${userLine("never read")}\n`);
    const id = await line();
    assert.equal((await ended).status, 2);
    assert.deepEqual(
      fixture.storedMessages().map((one) => [one.id, one.content]),
      [[id, "kept"]],
    );
  },
);

check("with a name of its own all lines are one append, which counts once however often it is made", (fixture) => {
  const input = `${userLine("one")}\n${userLine("two")}\n`;
  const first = fixture.append(input, ["--operation", "step-7"]);
  assert.equal(first.status, 0, first.stderr);
  assert.equal(fixture.append(input, ["--operation", "step-7"]).stdout, first.stdout);
  assert.deepEqual(contents(fixture), ["one", "two"]);
  const other = fixture.append(userLine("three"), ["--operation", "step-7"]);
  assert.deepEqual([other.status, other.stdout], [1, ""]);
  assert.match(other.stderr, /step-7/);
  assert.deepEqual(contents(fixture), ["one", "two"]);
});

check("with an expected message all lines are stored behind it, or none is", (fixture) => {
  const first = fixture.append(userLine("one"), ["--expected", "none"]);
  assert.equal(first.status, 0, first.stderr);
  const late = fixture.append(`${userLine("two")}\n${userLine("three")}`, ["--expected", "none", "--json"]);
  assert.deepEqual([late.status, late.stdout], [1, ""]);
  const { error } = JSON.parse(late.stderr);
  assert.equal(error.code, "conflict");
  assert.ok(error.message.includes(first.stdout.trim()), error.message);
  assert.equal(
    fixture.append(`${userLine("two")}\n${userLine("three")}`, ["--expected", first.stdout.trim()]).status,
    0,
  );
  assert.deepEqual(contents(fixture), ["one", "two", "three"]);
});

check("where all lines are one append, a line that is refused costs all of them", (fixture) => {
  const { status, stdout, stderr } = fixture.append(`${userLine("one")}\nnot json\n`, ["--operation", "step-7"]);
  assert.deepEqual([status, stdout], [2, ""]);
  assert.match(stderr, /line 2.*nothing was stored/s);
  assert.deepEqual(contents(fixture), []);
});

for (const [what, bad, status, expected] of /** @type {const} */ ([
  ["no JSON", "not json", 2, "expected a message as JSON"],
  ["JSON cut short", '{"role":"user","content":"secret wor', 2, "expected a message as JSON"],
  ["an array", `[${userLine("a")},${userLine("b")}]`, 2, "found an array"],
  ["null", "null", 2, "found null"],
  ["a number", "-1", 2, "found -1"],
  ["a text", '"go on"', 2, 'found "go on"'],
  ["no role", '{"content":"x"}', 1, '"role"'],
  ["another role", '{"role":"robot","content":"x"}', 1, '"role"'],
  [
    "a number that no double holds",
    '{"role":"user","content":"x","ids":[1,12345678901234567891]}',
    2,
    'the number 12345678901234567891 for "ids[1]", which would be read as 12345678901234567000',
  ],
  [
    "a number that is too large",
    '{"role":"user","content":"x","mood":1e400}',
    2,
    'for "mood", which would be read as Infinity',
  ],
  ["a key that comes twice", '{"role":"user","content":"x","content":"y"}', 2, '"content" twice'],
  [
    "a key that comes twice, deep within",
    '{"role":"user","content":"x","mood":[{"a":{"b":1,"\\u0062":2}}]}',
    2,
    '"mood[0].a.b" twice',
  ],
  ["bytes that are no UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), 2, "expected UTF-8"],
])) {
  check(`what is no message is refused by its line, and no line behind it is stored: ${what}`, (fixture) => {
    const before = Buffer.from(`${userLine("one")}\r\n\r\n${userLine("two")}\r\n`);
    const input = Buffer.concat([before, Buffer.from(bad), Buffer.from(`\n${userLine("behind")}\n`)]);
    for (const more of [[], ["--json"]]) {
      const stored = fixture.storedMessages().length;
      const ran = fixture.append(input, more);
      assert.deepEqual([ran.status, ran.stdout.trim().split("\n").length], [status, 2], ran.stderr);
      assert.ok(ran.stderr.includes("line 4: "), ran.stderr);
      assert.doesNotMatch(ran.stderr, /secret wor/);
      const message = more.length > 0 ? JSON.parse(ran.stderr).error.message : ran.stderr;
      assert.ok(message.includes(expected), message);
      assert.match(message, /only the lines whose ids were printed are stored/);
      const ids = ran.stdout
        .trim()
        .split("\n")
        .map((line) => (more.length > 0 ? JSON.parse(line).id : line));
      assert.deepEqual(
        fixture
          .storedMessages()
          .slice(stored)
          .map(({ id }) => id),
        ids,
      );
    }
  });
}

check(
  "a byte order mark, CRLF, empty lines and a last line without a line feed are no part of a message",
  (fixture) => {
    const { status, stdout, stderr } = fixture.append(
      `\ufeff${userLine("first")}\r\n\r\n  \n${userLine("\ufeffmarked")}\n${userLine("last")}`,
    );
    assert.deepEqual([status, stderr, stdout.split("\n").length], [0, "", 4]);
    assert.deepEqual(contents(fixture), ["first", "\ufeffmarked", "last"]);
  },
);

check("a line of more than 8 MiB is a message like any other", (fixture) => {
  const long = "字é👩‍👩‍👧‍👦 ".repeat(500_000);
  assert.ok(Buffer.byteLength(long) > 9 * 2 ** 20);
  assert.equal(fixture.append(`${userLine(long)}\n${userLine("behind")}\n`).status, 0);
  assert.deepEqual(contents(fixture), [long, "behind"]);
});

check("without input nothing is printed, and nothing is wrong", (fixture) => {
  for (const more of [[], ["--json"]]) assert.deepEqual(fixture.append("\n", more).stdout, "");
  assert.deepEqual(fixture.storedMessages(), []);
});

check("whoever stops reading the ids stops nothing", (fixture) => {
  const line = `"$0" "$1" append ${fixture.id} | head -n 1; exit \${PIPESTATUS[0]}`;
  const input = Array.from({ length: 20 }, (_, place) => `${userLine(`message ${place}`)}\n`).join("");
  const env = { PATH: process.env.PATH, HOME: fixture.folder, LEFTOFF_HOME: join(fixture.folder, "store") };
  const { status, stderr } = spawnSync("bash", ["-c", line, nodePath, entry], {
    cwd: fixture.folder,
    env,
    input,
    encoding: "utf8",
  });
  assert.deepEqual([status, stderr, contents(fixture).length], [0, "", 20]);
});

test("a line is what stands between line feeds, wherever it is cut on its way", async () => {
  const bytes = fc.array(
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom(10, 13, 0xef, 0xbb, 0xbf) }, fc.integer({ min: 0, max: 255 })),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(bytes, fc.array(fc.nat(60), { maxLength: 8 }), async (all, cuts) => {
      const whole = Buffer.from(all);
      const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
      const pieces = places.slice(1).map((end, at) => whole.subarray(places[at], end));
      const found = [];
      for await (const { number, bytes: line } of readLines(
        (async function* () {
          yield* pieces;
        })(),
      ))
        found.push([number, Buffer.from(line).toString("latin1")]);
      assert.deepEqual(
        found,
        whole
          .toString("latin1")
          .split("\n")
          .map((line, at) => [at + 1, line]),
      );
    }),
    { numRuns: 1000 },
  );
});

test("JSON is found to be changed by a parser where it is, and nowhere else", () => {
  const same = [
    "0",
    "-0",
    "0.10",
    "1e2",
    "1E+2",
    "0e999",
    "0.1",
    "1.7976931348623157e308",
    "5e-324",
    "9007199254740992",
    "123456789012345680000",
    '"1e400"',
    '{"a":{"a":1},"b":[{"a":1},{"a":1}]}',
    '["a","a"]',
    '{"1e400":"\\"1e400"}',
  ];
  for (const text of same) assert.equal(findParseLoss(text), undefined, text);
  const others = [
    "9007199254740993",
    "0.30000000000000000001",
    "1e-400",
    "-1e309",
    "1.00000000000000000001",
    '{"a":1,"a":1}',
    '[{"__proto__":1,"__proto__":2}]',
    '{"":1,"":1}',
    '{"b":{"a":1},"b":1}',
  ];
  for (const text of others) assert.notEqual(findParseLoss(text), undefined, text);
  fc.assert(
    fc.property(fc.jsonValue(), (value) => assert.equal(findParseLoss(JSON.stringify(value)), undefined)),
    { numRuns: 2000 },
  );
  // Below that, a double that holds a whole number is written with all of its digits.
  const whole = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
  fc.assert(
    fc.property(whole, (one) =>
      assert.equal(findParseLoss(String(one)) === undefined, String(Number(one)) === String(one)),
    ),
    { numRuns: 2000 },
  );
});
