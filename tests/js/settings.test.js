// @ts-check
// Settings: two files, the project's over the home's, options over both. What cannot be used is reported and stops
// nothing.
// Tries: src/settings/, src/operation/store/settings.rs, js/cli/settings.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";
import { nodePath } from "./node-path.js";

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));

const DEFAULTS = {
  autoPersist: {
    enabled: true,
    saveAfterAssistantMessage: true,
    saveAfterToolExecution: true,
    debounceMs: 1000,
    updateMetadataIntervalMs: 5000,
    maxSessionsPerProject: 50,
    autoArchiveAfterDays: 30,
  },
  idleMinutes: 5,
  record: true,
  recall: "off",
  redact: "off",
  agent: "",
  ask: { engine: "", prompt: "" },
  outputs: { memoryBytes: 32_768 },
};

/** What holds where nobody can tell what a file forbids. */
const STRICTEST = { redact: "replace", record: false };

/**
 * @typedef {{ home: string, project: string, ofHome: string, ofProject: string, cli: (...args: string[]) => { status: number | null, stdout: string, stderr: string } }} Places
 */
/** What a store is opened by. @param {Places} places */
const storeOptions = ({ home, project }) => ({ home, project });

/** @param {(places: Places) => Promise<void>} work */
async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-settings-"));
  const [home, project] = [join(folder, "home"), join(folder, "project")];
  mkdirSync(home);
  mkdirSync(join(project, ".leftoff"), { recursive: true });
  const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: home };
  const cli = (/** @type {string[]} */ ...args) =>
    spawnSync(nodePath, [entry, ...args], { cwd: project, env, encoding: "utf8" });
  try {
    await work({
      home,
      project,
      ofHome: join(home, "settings.json"),
      ofProject: join(project, ".leftoff", "settings.json"),
      cli,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {{ home: string, project: string }} places */
async function read({ home, project }) {
  const store = await openStore({ home, project });
  const { settings, problems } = store;
  const listed = store.listSettings();
  await store.close();
  return { settings, problems, listed };
}

test("without files the default values hold, and nothing is written", () =>
  inFolder(async (places) => {
    const { settings, problems, listed } = await read(places);
    assert.deepEqual([settings, problems], [DEFAULTS, []]);
    assert.deepEqual(
      listed.map(({ source, path }) => [source, path]),
      Array(15).fill(["default", null]),
    );
    assert.ok(!existsSync(places.ofHome) && !existsSync(places.ofProject));
  }));

test("the project's file counts more than the home's, key by key", () =>
  inFolder(async (places) => {
    writeFileSync(places.ofHome, '{"idleMinutes":7,"autoPersist":{"debounceMs":1,"enabled":false}}');
    writeFileSync(places.ofProject, '\ufeff{"autoPersist":{"debounceMs":2}}');
    const { settings, problems, listed } = await read(places);
    assert.deepEqual(
      [settings, problems],
      [{ ...DEFAULTS, idleMinutes: 7, autoPersist: { ...DEFAULTS.autoPersist, enabled: false, debounceMs: 2 } }, []],
    );
    const found = Object.fromEntries(listed.map(({ key, ...rest }) => [key, rest]));
    assert.deepEqual(found["autoPersist.debounceMs"], {
      value: 2,
      source: "project",
      path: places.ofProject,
      inForce: true,
    });
    assert.deepEqual(found["autoPersist.enabled"], {
      value: false,
      source: "home",
      path: places.ofHome,
      inForce: true,
    });
  }));

test("a project's file names no command, and nothing that is obeyed", () =>
  inFolder(async (places) => {
    writeFileSync(places.ofHome, '{"ask":{"engine":"my engine","prompt":"mine.md"}}');
    writeFileSync(places.ofProject, '{"ask":{"engine":"rm -r .","prompt":"theirs.md"}}');
    const { settings, problems } = await read(places);
    assert.deepEqual(settings.ask, { engine: "my engine", prompt: "mine.md" });
    assert.equal(problems.length, 2);
    assert.match(
      problems[0]?.message ?? "",
      /"ask.engine" in .* must be one of claude, gemini, codex, opencode, ollama, not "rm -r \."/,
    );
    assert.match(problems[1]?.message ?? "", /"ask.prompt" can only be set in the settings of the home, not in/);
    writeFileSync(places.ofProject, '{"ask":{"engine":"codex"}}');
    assert.equal((await read(places)).settings.ask.engine, "codex");
    const store = await openStore(storeOptions(places));
    for (const [key, value] of [
      ["ask.engine", "rm -r ."],
      ["ask.prompt", "theirs.md"],
    ])
      await assert.rejects(store.writeSetting(String(key), value, { project: true }), { code: "invalid_setting" });
    await store.writeSetting("ask.engine", "gemini", { project: true });
    assert.equal(store.settings.ask.engine, "gemini");
    await store.close();
  }));

test("minutes of rest are a setting; an option counts more", () =>
  inFolder(async (places) => {
    writeFileSync(places.ofHome, '{"idleMinutes":0}');
    const store = await openStore(storeOptions(places));
    const session = await store.create();
    await session.append({ role: "user", content: "x", timestamp: "2020-01-01T00:00:00.000Z" });
    await store.close();
    const patient = await openStore({ ...storeOptions(places), idleMs: 1e15 });
    assert.deepEqual(
      (await patient.list()).map(({ status }) => status),
      ["active"],
    );
    await patient.close();
    const other = await openStore(storeOptions(places));
    assert.deepEqual(
      (await other.list()).map(({ status }) => status),
      ["paused"],
    );
    await other.close();
  }));

for (const [what, text, message] of /** @type {[string, string | Uint8Array, RegExp][]} */ ([
  ["an unknown key", '{"idleMinute":7}', /unknown setting "idleMinute".*; known are autoPersist, idleMinutes/],
  [
    "an unknown key of a group",
    '{"autoPersist":{"debounce":7}}',
    /unknown setting "autoPersist\.debounce".*; known are enabled,/,
  ],
  ["a key of every object", '{"constructor":7}', /"constructor"/],
  ["the key of a prototype", '{"__proto__":{"idleMinutes":9}}', /"__proto__"/],
  ["a text for a number", '{"idleMinutes":"7"}', /"idleMinutes" in .* must be a number, not "7"/],
  [
    "a number for a switch",
    '{"autoPersist":{"enabled":1}}',
    /"autoPersist\.enabled" in .* must be true or false, not 1/,
  ],
  ["null", '{"idleMinutes":null}', /"idleMinutes" in .* must be a number, not null/],
  ["less than nothing", '{"idleMinutes":-1}', /"idleMinutes" in .* must be 0 or more, not -1/],
  ["a number out of range", '{"idleMinutes":1e999}', /"idleMinutes" in .* must be 0 or more/],
  ["a value for a group", '{"autoPersist":true}', /"autoPersist" in .* must be an object, not true/],
])) {
  test(`${what} is reported with its file, is not used, and what stands beside it is`, () =>
    inFolder(async (places) => {
      writeFileSync(places.ofHome, '{"autoPersist":{"debounceMs":3}}');
      writeFileSync(places.ofProject, text);
      const { settings, problems } = await read(places);
      assert.deepEqual(settings, { ...DEFAULTS, autoPersist: { ...DEFAULTS.autoPersist, debounceMs: 3 } });
      assert.deepEqual(
        problems.map(({ code }) => code),
        ["invalid_setting"],
      );
      assert.match(problems[0]?.message ?? "", message);
      assert.ok(problems[0]?.message.includes(places.ofProject));
      assert.deepEqual(readFileSync(places.ofProject), Buffer.from(text));
    }));
}

for (const [what, text, strict, message] of /** @type {[string, string | Uint8Array, object, RegExp][]} */ ([
  ["a list", "[]", STRICTEST, /expected an object in .*found an array/],
  ["no JSON", "idleMinutes = 7", STRICTEST, /found "i" at line 1, column 1;/],
  ["an empty file", "", STRICTEST, /found the end at line 1, column 1;/],
  ["bytes that are no text", new Uint8Array([0xff, 0xfe, 0x7b]), STRICTEST, /line 1, column 1;/],
  [
    "a comma too many",
    '{\n  "redact": "replace",\n}',
    STRICTEST,
    /found "}" at line 3, column 1; until that is fixed, "redact" is "replace" and "record" is false/,
  ],
  ["a comma too few", '{"redact":"replace" "record":false}', STRICTEST, /found """ at line 1, column 21;/],
  ["a quote that is not closed", '{"redact":"replace}', STRICTEST, /at line 1, column 11;/],
  ["a comment", '// mine\n{"redact":"off"}', STRICTEST, /found "\/" at line 1, column 1;/],
  ["something behind the end", '{"redact":"off"}}', STRICTEST, /found "}" at line 1, column 17;/],
  ["an escape that is none", '{"redact":"\\q"}', STRICTEST, /column 11;/],
  ["a number that is none", '{"idleMinutes":01}', STRICTEST, /column 17;/],
  ["a file that was cut", '{"record":fal', STRICTEST, /column 11;/],
  [
    "a choice that is none",
    '{"redact":"replce"}',
    { redact: "replace" },
    /"redact" in .* must be off, report or replace, not "replce"/,
  ],
  [
    "a choice of another kind",
    '{"redact":true}',
    { redact: "replace" },
    /"redact" in .* must be off, report or replace, not true/,
  ],
  ["a text for a choice", '{"record":"false"}', { record: false }, /"record" in .* must be true or false, not "false"/],
  [
    "a choice that is said twice",
    '{"redact":"replace","redact":"off"}',
    { redact: "replace" },
    /say clearly what "redact" is;/,
  ],
  ["a choice in another case", '{"Redact":"replace"}', { redact: "replace" }, /"Redact"/],
  ["a choice with a letter changed", '{"recrod":false}', { record: false }, /"recrod"/],
])) {
  test(`what a file may have forbidden stays forbidden: ${what}`, () =>
    inFolder(async (places) => {
      for (const file of [places.ofHome, places.ofProject]) {
        writeFileSync(file, text);
        const { settings, problems } = await read(places);
        assert.deepEqual(settings, { ...DEFAULTS, ...strict });
        const told = problems.map((problem) => problem.message).join("\n");
        assert.match(told, message);
        assert.ok(told.includes(file));
        assert.deepEqual(readFileSync(file), Buffer.from(text));
        rmSync(file);
      }
    }));
}

test("no file that can be read opens what one that cannot may have shut", () =>
  inFolder(async (places) => {
    writeFileSync(places.ofHome, "{");
    writeFileSync(places.ofProject, '{"redact":"off","record":true}');
    const { settings, problems } = await read(places);
    assert.deepEqual(settings, { ...DEFAULTS, ...STRICTEST });
    assert.equal(problems.length, 3);
  }));

test("a folder or a link in its place is reported, and forbids what a file there may have forbidden", () =>
  inFolder(async (places) => {
    mkdirSync(places.ofHome);
    symlinkSync(join(places.home, "elsewhere.json"), places.ofProject);
    const { settings, problems } = await read(places);
    assert.deepEqual(settings, { ...DEFAULTS, ...STRICTEST });
    assert.equal(problems.length, 2);
    for (const [place, path] of [places.ofHome, places.ofProject].entries())
      assert.ok(problems[place]?.message.includes(path), problems[place]?.message);
  }));

test("with settings that cannot be read the command line lets no secret out, and names the file and the place", () =>
  inFolder(async ({ home, project, ofHome, cli }) => {
    const store = await openStore({ home, project });
    const session = await store.create();
    await session.append({
      role: "user",
      content: `it is ${["gh", "p_0123456789abcdefghijABCDEFGHIJklmnop"].join("")}`,
    });
    await store.close();
    writeFileSync(ofHome, '{"redact":"replace",}');
    const { stdout, stderr } = cli("show", session.id);
    assert.match(stdout, /it is \[redacted:/);
    assert.ok(stderr.includes(`"${ofHome}"`) && stderr.includes("line 1, column 21"), stderr);
  }));

test("one setting is written beside what is there, also beside what nobody knows", () =>
  inFolder(async (places) => {
    writeFileSync(places.ofProject, '{"theirs":{"a":[1]},"autoPersist":{"debounceMs":1,"odd":2}}');
    const store = await openStore(storeOptions(places));
    await store.writeSetting("autoPersist.enabled", false, { project: true });
    await store.writeSetting("idleMinutes", 9);
    assert.deepEqual([store.settings.autoPersist.enabled, store.settings.idleMinutes], [false, 9]);
    await store.close();
    assert.deepEqual(JSON.parse(readFileSync(places.ofProject, "utf8")), {
      version: 1,
      theirs: { a: [1] },
      autoPersist: { debounceMs: 1, odd: 2, enabled: false },
    });
    assert.deepEqual(JSON.parse(readFileSync(places.ofHome, "utf8")), { version: 1, idleMinutes: 9 });
  }));

test("a file that cannot be used is not written over, nor is a value that stands where others should", () =>
  inFolder(async (places) => {
    for (const text of ["{ torn", "[]", '{"autoPersist":"all"}']) {
      writeFileSync(places.ofHome, text);
      const store = await openStore(storeOptions(places));
      await assert.rejects(store.writeSetting("autoPersist.debounceMs", 5), { code: "invalid_setting" });
      await store.close();
      assert.equal(readFileSync(places.ofHome, "utf8"), text);
    }
  }));

test("no other key and no other kind of value is written", () =>
  inFolder(async (places) => {
    const store = await openStore(storeOptions(places));
    for (const [key, value] of /** @type {const} */ ([
      ["color", "red"],
      ["", 1],
      ["autoPersist", { debounceMs: 1 }],
      ["autoPersist.debounceMs.x", 1],
      ["__proto__.x", 1],
      ["constructor", 1],
      ["idleMinutes", "5"],
      ["idleMinutes", -1],
      ["idleMinutes", NaN],
      ["autoPersist.enabled", null],
    ])) {
      await assert.rejects(store.writeSetting(key, value), { code: "invalid_setting" }, key);
    }
    await store.close();
    assert.ok(!existsSync(places.ofHome));
  }));

test("a folder that holds the home has one file, not two", () =>
  inFolder(async ({ project }) => {
    const home = join(project, ".leftoff");
    writeFileSync(join(home, "settings.json"), '{"odd":1}');
    const { problems } = await read({ home, project });
    assert.equal(problems.length, 1);
  }));

test("the command line shows what holds and which file says so, all of it or one", () =>
  inFolder(async ({ ofHome, ofProject, cli }) => {
    assert.match(cli("settings").stdout, /^idleMinutes +5 +default$/m);
    assert.equal(cli("settings", "idleMinutes", "7").status, 0);
    assert.equal(cli("settings", "autoPersist.enabled", "false", "--project").status, 0);
    assert.deepEqual(
      [readFileSync(ofHome, "utf8"), readFileSync(ofProject, "utf8")].map((text) => JSON.parse(text)),
      [
        { version: 1, idleMinutes: 7 },
        { version: 1, autoPersist: { enabled: false } },
      ],
    );
    assert.equal(cli("settings", "idleMinutes").stdout, `idleMinutes  7  ${ofHome}\n`);
    const all = JSON.parse(cli("settings", "--json").stdout);
    assert.equal(all.length, 15);
    assert.deepEqual(
      all.find((/** @type {any} */ { key }) => key === "autoPersist.enabled"),
      { key: "autoPersist.enabled", value: false, source: "project", path: ofProject, inForce: true },
    );
    assert.deepEqual(JSON.parse(cli("settings", "idleMinutes", "--json").stdout), {
      key: "idleMinutes",
      value: 7,
      source: "home",
      path: ofHome,
      inForce: true,
    });
  }));

test("the command line notes once what in the files could not be used, and goes on", () =>
  inFolder(async ({ ofHome, cli }) => {
    writeFileSync(ofHome, '{"odd\\u001b[2J":1}');
    const { status, stderr } = cli("list");
    assert.equal(status, 0);
    assert.match(stderr, /^leftoff: [^\n\u001b]*"odd"[^\n\u001b]*\nleftoff: no sessions here[^\n\u001b]*\n$/);
    const forProgram = cli("list", "--json");
    assert.deepEqual([forProgram.status, forProgram.stdout], [0, "[]\n"]);
    assert.doesNotMatch(forProgram.stderr, /\u001b/);
    assert.match(JSON.parse(forProgram.stderr).note.message, /"odd/);
  }));

test("what cannot be set is refused on the command line, with a sentence and a code", () =>
  inFolder(async ({ ofHome, cli }) => {
    for (const [args, status, code] of /** @type {const} */ ([
      [["settings", "color"], 2, "usage"],
      [["settings", "color", "red"], 2, "usage"],
      [["settings", "idleMinutes", "soon"], 1, "invalid_setting"],
      [["settings", "idleMinutes", "--project"], 2, "usage"],
      [["settings", "idleMinutes", "5", "6"], 2, "usage"],
    ])) {
      const answer = cli(...args);
      assert.equal(answer.status, status, args.join(" "));
      assert.match(answer.stderr, new RegExp(`^leftoff: [^\\n]+\\(${code}\\)\\n$`));
      assert.equal(answer.stdout, "");
    }
    assert.ok(!existsSync(ofHome));
  }));
