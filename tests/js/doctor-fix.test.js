// @ts-check
// Doctor says what is wrong and changes nothing; with --fix it mends what can be, and no line of a log is ever another.
// Tries: src/operation/store/doctor/
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";
import { thisProcess } from "../../js/storage/process.js";
import { nodePath } from "./node-path.js";

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "leftoff-doctor-"));
after(() => rmSync(folder, { recursive: true }));
/** The number of a process that there is not: no system goes so far. */
const GONE = 2 ** 22 + 1;

let stores = 0;

/** A store with a session in the home and one in the workspace. */
async function makeStore() {
  const root = join(folder, `store-${(stores += 1)}`);
  const options = { home: join(root, "home"), project: join(root, "project"), idleMs: Infinity };
  mkdirSync(options.project, { recursive: true });
  const store = await openStore(options);
  const sessions = [];
  for (const placement of /** @type {const} */ (["workspace", "home"])) {
    const session = await store.create({ placement, title: `in the ${placement}` });
    // So long that a checkpoint is worth it.
    await session.append(Array.from({ length: 200 }, (_, n) => ({ role: "user", content: `${n} `.repeat(200) })));
    await session.stop();
    sessions.push(session);
  }
  await store.close();
  const reader = await openStore(options);
  for (const { id } of sessions) await reader.session(id);
  await reader.close();
  const [here, home] = sessions;
  assert.ok(here && home);
  return { root, options, here, home };
}

/** Each file and folder, with its bytes and times. @param {string} root */
function tree(root) {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => {
    const path = join(root, name);
    const { mode, mtimeMs, ctimeMs, size } = lstatSync(path);
    return { name, mode, mtimeMs, ctimeMs, size, bytes: lstatSync(path).isFile() ? readFileSync(path, "latin1") : "" };
  });
}

/** @param {{ options: { home: string, project: string } }} store @param {string[]} args */
function leftoff({ options }, args) {
  const { status, stdout, stderr } = spawnSync(nodePath, [entry, ...args], {
    cwd: options.project,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: options.home },
  });
  return { status, stdout, stderr };
}

/** @param {any} store @param {{ id?: string, fix?: boolean }} [asked] */
async function doctor({ options }, asked) {
  const store = await openStore(options);
  try {
    return await store.doctor(asked);
  } finally {
    await store.close();
  }
}

/** @typedef {Awaited<ReturnType<typeof makeStore>>} MadeStore */

/**
 * What can go wrong and be mended: where, and how it is called.
 * @type {Record<string, (made: MadeStore) => [id: string, code: string]>}
 */
const faults = {
  "a torn tail of messages": ({ home }) => (
    appendFileSync(join(home.path, "messages.jsonl"), '{"v":1,"id":"x","role":"us'),
    [home.id, "torn_tail"]
  ),
  "a torn tail of events": ({ here }) => (
    appendFileSync(join(here.path, "events.jsonl"), '{"v":1,"id":"x"'),
    [here.id, "torn_tail"]
  ),
  "no document": ({ home }) => (rmSync(join(home.path, "metadata.json")), [home.id, "bad_document"]),
  "a document that is half of one": ({ home }) => (
    truncateSync(join(home.path, "metadata.json"), 40),
    [home.id, "bad_document"]
  ),
  "a document that git left in conflict": ({ here }) => {
    const path = join(here.path, "session.json");
    const text = readFileSync(path, "utf8");
    writeFileSync(
      path,
      text.replace(/^( *"status".*)$/m, '<<<<<<< HEAD\n$1\n=======\n  "status": "completed",\n>>>>>>> other'),
    );
    assert.match(readFileSync(path, "utf8"), /<<<<<<</);
    return [here.id, "bad_document"];
  },
  "a damaged checkpoint": ({ options, home }) => {
    const path = join(options.home, "cache", `${home.id}.json`);
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace(/\d/, (digit) => String((Number(digit) + 1) % 10)),
    );
    return [home.id, "bad_checkpoint"];
  },
  "a checkpoint that is none": ({ options, home }) => (
    writeFileSync(join(options.home, "cache", `${home.id}.json`), "\0\0"),
    [home.id, "bad_checkpoint"]
  ),
  "a damaged index": ({ options }) => (
    appendFileSync(join(options.home, "sessions", "index.jsonl"), "\0\0\0\nrubbish\n"),
    ["store", "bad_index"]
  ),
  "a temporary file of a session": ({ home }) => (
    writeFileSync(join(home.path, `.metadata.json.${GONE}.0123456789abcdef.tmp`), "half"),
    [home.id, "left_over"]
  ),
  "a temporary file of the store": ({ options }) => (
    writeFileSync(join(options.home, "sessions", `.index.jsonl.${GONE}.0123456789abcdef.tmp`), "half"),
    ["store", "left_over"]
  ),
  "a lease of a process that is gone": ({ options, home }) => {
    const leases = join(options.home, "cache", `${home.id}.open`);
    mkdirSync(leases, { recursive: true });
    writeFileSync(
      join(leases, "x.json"),
      JSON.stringify({ ...thisProcess(), pid: GONE, since: "2026-01-01T00:00:00Z" }),
    );
    return [home.id, "dead_lease"];
  },
  "a checkpoint of a session that is gone": ({ options }) => (
    writeFileSync(join(options.home, "cache", "gone.json"), "{}"),
    ["store", "left_over"]
  ),
  "what a hook kept of a session that is gone": ({ options }) => (
    writeFileSync(join(options.home, "cache", "gone.turns"), "3"),
    ["store", "left_over"]
  ),
  "leases of a session that is gone": ({ options }) => {
    for (const [id, pid] of /** @type {const} */ ([
      ["gone", GONE],
      ["of a workspace that is elsewhere", process.pid],
    ])) {
      const leases = join(options.home, "cache", `${id}.open`);
      mkdirSync(leases, { recursive: true });
      writeFileSync(join(leases, "x.json"), JSON.stringify({ ...thisProcess(), pid, since: "2026-01-01T00:00:00Z" }));
    }
    return ["store", "left_over"];
  },
  "a pointer that leads nowhere": ({ options }) => {
    const path = join(options.project, ".leftoff", "current-session.json");
    const pointer = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...pointer, path: `${pointer.path}-gone` }));
    return ["store", "dangling_pointer"];
  },
};

test("a sound store has no problems, and looking changes no byte", async () => {
  const store = await makeStore();
  // What was imported is no session's.
  writeFileSync(join(store.options.home, "cache", "imported.json"), "{}");
  const before = tree(store.root);
  const reports = await doctor(store);
  assert.deepEqual(
    reports.map(({ health, problems, fixed }) => [health, problems, fixed]),
    [
      ["ok", [], []],
      ["ok", [], []],
    ],
  );
  assert.deepEqual(tree(store.root), before);
});

for (const [what, fault] of Object.entries(faults)) {
  test(`${what} is found without changing a byte, and mended where that is wanted`, async () => {
    const store = await makeStore();
    const [id, code] = fault(store);
    const logs = () => tree(store.root).filter(({ name }) => /(messages|events)\.jsonl$/.test(name));
    const before = tree(store.root);
    const logsBefore = logs();
    const found = (await doctor(store)).find((one) => one.id === id);
    assert.deepEqual(
      found?.problems.map((problem) => problem.code),
      [code],
    );
    const [alone] = id === "store" ? [found] : await doctor(store, { id });
    assert.deepEqual(alone, found);
    assert.deepEqual(tree(store.root), before);
    const fixed = (await doctor(store, { fix: true })).find((one) => one.id === id);
    assert.equal(fixed?.fixed.length, 1);
    assert.deepEqual(
      fixed?.problems.map((problem) => problem.code),
      code === "torn_tail" ? ["damaged"] : [],
    );
    for (const [place, log] of logs().entries())
      assert.ok(
        log.bytes.replace(/\n$/, "") === logsBefore[place]?.bytes.replace(/\n$/, ""),
        `${log.name} is as it was`,
      );
    const after = tree(store.root).map(({ name, bytes }) => ({ name, bytes }));
    const again = (await doctor(store, { fix: true })).flatMap((one) => one.fixed);
    assert.deepEqual(again, []);
    assert.deepEqual(
      tree(store.root).map(({ name, bytes }) => ({ name, bytes })),
      after,
    );
  });
}

test("a document written anew says what the logs say; what stood there lies in the trash", async () => {
  const store = await makeStore();
  faults["a document that git left in conflict"]?.(store);
  const conflict = readFileSync(join(store.here.path, "session.json"), "utf8");
  await doctor(store, { fix: true });
  assert.equal(JSON.parse(readFileSync(join(store.here.path, "session.json"), "utf8")).status, "paused");
  const [kept = ""] = readdirSync(join(store.options.home, "trash"));
  assert.equal(readFileSync(join(store.options.home, "trash", kept), "utf8"), conflict);
});

test("a document that tells of more than there is stays as it is", async () => {
  const store = await makeStore();
  const document = readFileSync(join(store.home.path, "metadata.json"));
  truncateSync(join(store.home.path, "messages.jsonl"), 0);
  const report = (await doctor(store, { fix: true })).find(({ id }) => id === store.home.id);
  assert.deepEqual([report?.health, report?.problems.map(({ code }) => code)], ["damaged", ["vanished"]]);
  assert.deepEqual(readFileSync(join(store.home.path, "metadata.json")), document);
});

test("what a living process is writing stays, and so does its lease", async () => {
  const store = await makeStore();
  const temporary = join(store.home.path, `.metadata.json.${process.pid}.0123456789abcdef.tmp`);
  writeFileSync(temporary, "half");
  const lease = join(store.options.home, "cache", `${store.home.id}.open`, "x.json");
  mkdirSync(dirname(lease), { recursive: true });
  writeFileSync(lease, JSON.stringify({ ...thisProcess(), since: "2026-01-01T00:00:00Z" }));
  assert.deepEqual(
    (await doctor(store, { fix: true })).flatMap(({ fixed, problems }) => [...fixed, ...problems]),
    [],
  );
  assert.ok(existsSync(temporary) && existsSync(lease));
});

test("a session that is open is mended, too, and goes on", async () => {
  const { options, home } = await makeStore();
  const store = await openStore(options);
  const session = await store.session(home.id);
  appendFileSync(join(home.path, "messages.jsonl"), '{"v":1,"id":"x"');
  const report = await store.mend(session);
  assert.match(report?.fixed.join() ?? "", /sealed messages\.jsonl/);
  await session.append({ role: "user", content: "behind it" });
  assert.equal(session.metadata.stats.messageCount, 201);
  await store.close();
});

test("a damage that cannot be mended is still said after mending", async () => {
  const store = await makeStore();
  const path = join(store.home.path, "messages.jsonl");
  const bytes = readFileSync(path, "latin1");
  writeFileSync(path, bytes.replace('"role":"user"', '"role":"uxer"'), "latin1");
  const report = (await doctor(store, { fix: true })).find(({ id }) => id === store.home.id);
  assert.equal(report?.health, "damaged");
  assert.ok(
    report?.problems.some(({ code, file, end }) => code === "checksum" && file === "messages.jsonl" && end > 0),
  );
});

test("the command says what it found and what it did, as text and as JSON", async () => {
  const store = await makeStore();
  appendFileSync(join(store.home.path, "messages.jsonl"), '{"v":1,"id":"x"');
  const looked = leftoff(store, ["doctor", "--json"]);
  assert.deepEqual(
    JSON.parse(looked.stdout).map((/** @type {any} */ one) => Object.keys(one)),
    [
      ["id", "health", "problems"],
      ["id", "health", "problems"],
    ],
  );
  assert.match(leftoff(store, ["doctor"]).stdout, /messages\.jsonl, bytes \d+ to \d+: .* \(torn_tail\)/);
  const { stdout, status } = leftoff(store, ["doctor", store.home.id, "--fix", "--json"]);
  const [{ id, fixed }] = JSON.parse(stdout);
  assert.deepEqual([status, id, fixed.length], [0, store.home.id, 1]);
  appendFileSync(join(store.options.home, "sessions", "index.jsonl"), "rubbish\n");
  assert.match(leftoff(store, ["doctor", "--fix"]).stdout, /store {2}ok\n {4}repaired: wrote the index anew/);
});
