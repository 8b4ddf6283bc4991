// @ts-check
// AutoPersist: when it saves, what it archives, and how a process ends that it was asked to guard.
// Tries: js/compat/auto-persist.js, js/storage/signals.js, src/operation/store/tidy.rs
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock, test } from "node:test";
import { fileURLToPath } from "node:url";

import { AutoPersist, LeftoffError, SessionManager } from "../../js/compat/index.js";
import { MemoryStorage, openStore } from "../../js/index.js";
import { nodePath } from "./node-path.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const library = new URL("../../js/index.js", import.meta.url).href;
const compat = new URL("../../js/compat/index.js", import.meta.url).href;
/** A process that has not ended by then never will. */
const PATIENCE_MS = 60_000;
const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/** A session that counts. @param {{ failing?: boolean }} [options] */
function counting({ failing = false } = {}) {
  const done = { flushed: 0, closed: 0 };
  const fail = () => {
    if (failing) throw new LeftoffError({ code: "disk_full", message: "no room" });
  };
  return {
    done,
    async flush() {
      done.flushed += 1;
      fail();
    },
    async close() {
      done.closed += 1;
      fail();
    },
  };
}

/** @param {string} law @param {(tick: (ms: number) => Promise<void>) => Promise<void>} work */
function testWithTimers(law, work) {
  test(law, async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      await work(async (ms) => {
        mock.timers.tick(ms);
        for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      });
    } finally {
      mock.timers.reset();
    }
  });
}

test("the configuration has its default values unless given, and what cannot be meant is refused", () => {
  const expected = {
    enabled: true,
    saveAfterAssistantMessage: true,
    saveAfterToolExecution: true,
    debounceMs: 1000,
    updateMetadataIntervalMs: 5000,
    maxSessionsPerProject: 50,
    autoArchiveAfterDays: 30,
  };
  assert.deepEqual(new AutoPersist(counting()).config, expected);
  assert.deepEqual(new AutoPersist(counting(), { debounceMs: 5, enabled: undefined }).config, {
    ...expected,
    debounceMs: 5,
  });
  for (const wrong of /** @type {any[]} */ ([
    { debounceMs: "5" },
    { debounceMs: -1 },
    { debounceMs: NaN },
    { enabled: 1 },
    { debounce: 5 },
  ])) {
    assert.throws(() => new AutoPersist(counting(), wrong), { code: "invalid_setting" });
  }
});

testWithTimers("saves that come faster than the debounce become one", async (tick) => {
  const session = counting();
  const autoPersist = new AutoPersist(session, { debounceMs: 1000, updateMetadataIntervalMs: 1e6 });
  for (let n = 0; n < 20; n += 1) {
    autoPersist.scheduleMetadataUpdate();
    await tick(999);
  }
  assert.equal(session.done.flushed, 0);
  await tick(1);
  assert.equal(session.done.flushed, 1);
  await tick(1e6);
  assert.equal(session.done.flushed, 1);
});

testWithTimers("while changes keep coming, it saves once an interval", async (tick) => {
  const session = counting();
  const autoPersist = new AutoPersist(session, { debounceMs: 1000, updateMetadataIntervalMs: 5000 });
  for (let n = 0; n < 100; n += 1) {
    autoPersist.scheduleMetadataUpdate();
    await tick(100);
  }
  assert.equal(session.done.flushed, 2);
  await tick(1000);
  assert.equal(session.done.flushed, 2);
});

testWithTimers(
  "a message of the assistant and a tool execution count as changes where the configuration says so",
  async (tick) => {
    for (const [is, flushed] of /** @type {const} */ ([
      [true, 2],
      [false, 0],
    ])) {
      const session = counting();
      const autoPersist = new AutoPersist(session, { saveAfterAssistantMessage: is, saveAfterToolExecution: is });
      autoPersist.afterAssistantMessage();
      await tick(1000);
      autoPersist.afterToolExecution();
      await tick(1000);
      assert.equal(session.done.flushed, flushed);
    }
  },
);

testWithTimers(
  "what is appended through a session that a manager saves is saved by itself, as the configuration says",
  async (tick) => {
    for (const [is, flushed] of /** @type {const} */ ([
      [true, [0, 1, 2]],
      [false, [0, 0, 0]],
    ])) {
      const folder = mkdtempSync(join(tmpdir(), "leftoff-saving-"));
      const manager = new SessionManager({ home: join(folder, "home") });
      const session = await manager.createSession(folder, { type: "ollama", model: "qwen3", contextWindow: 8_192 });
      let count = 0;
      session.flush = async () => void (count += 1);
      await manager.autoPersist(session, { saveAfterAssistantMessage: is, saveAfterToolExecution: is });
      const found = [];
      const call = { id: "call_1", name: "bash", arguments: { command: "ls" } };
      for (const work of [
        () => session.appendMessage({ role: "user", content: "Hello" }),
        () => session.appendMessage({ role: "assistant", content: "", toolCalls: [call] }),
        () => session.appendToolExecution(call, "ok"),
      ]) {
        await work();
        await tick(1000);
        found.push(count);
      }
      assert.deepEqual(found, flushed);
      await manager.close();
      rmSync(folder, { recursive: true });
    }
  },
);

testWithTimers(
  "one that is not enabled saves when it is asked only; a wait longer than timers have is no short one",
  async (tick) => {
    const off = counting();
    const autoPersist = new AutoPersist(off, { enabled: false });
    autoPersist.scheduleMetadataUpdate();
    await tick(1e6);
    assert.equal(off.done.flushed, 0);
    await autoPersist.flush();
    assert.equal(off.done.flushed, 1);
    const patient = counting();
    new AutoPersist(patient, { debounceMs: 1e12, updateMetadataIntervalMs: 1e12 }).scheduleMetadataUpdate();
    await tick(1e6);
    assert.equal(patient.done.flushed, 0);
  },
);

testWithTimers("a save that fails is heard of, and the next change is saved again", async (tick) => {
  const session = counting({ failing: true });
  const heard = /** @type {any[]} */ ([]);
  const autoPersist = new AutoPersist(session, { onError: (error) => heard.push(error) });
  for (const count of [1, 2]) {
    autoPersist.scheduleMetadataUpdate();
    await tick(1000);
    assert.deepEqual(
      heard.map(({ code }) => code),
      Array(count).fill("disk_full"),
    );
  }
  await assert.rejects(autoPersist.flush(), { code: "disk_full" });
});

testWithTimers("stopping saves what waits, and nothing after it", async (tick) => {
  const session = counting();
  const autoPersist = new AutoPersist(session);
  autoPersist.scheduleMetadataUpdate();
  await autoPersist.stop();
  assert.equal(session.done.flushed, 1);
  autoPersist.scheduleMetadataUpdate();
  await tick(1e6);
  await autoPersist.stop();
  assert.equal(session.done.flushed, 1);
});

testWithTimers("a store that it is given is tidied with the first save, once", async (tick) => {
  const asked = /** @type {any[]} */ ([]);
  const store = { tidy: async (/** @type {any} */ limits) => (asked.push(limits), []) };
  const autoPersist = new AutoPersist(counting(), { store, maxSessionsPerProject: 7 });
  for (let n = 0; n < 3; n += 1) {
    autoPersist.scheduleMetadataUpdate();
    await tick(1000);
  }
  assert.deepEqual(
    asked.map(({ maxSessionsPerProject, autoArchiveAfterDays }) => [maxSessionsPerProject, autoArchiveAfterDays]),
    [[7, 30]],
  );
  assert.deepEqual(await new AutoPersist(counting(), { enabled: false }).tidy(store), []);
});

test("no listener is there before it is asked for, nor after it was stopped", async () => {
  const counts = () => SIGNALS.map((signal) => process.listenerCount(signal));
  const before = counts();
  const all = [new AutoPersist(counting()), new AutoPersist(counting())];
  assert.deepEqual(counts(), before);
  for (const one of [...all, ...all]) one.handleSignals();
  // One listener for all: a process with many sessions gets no warning of a leak.
  assert.deepEqual(
    counts(),
    before.map((count) => count + 1),
  );
  for (const one of all) await one.stop();
  assert.deepEqual(counts(), before);
});

/** @param {string} home @param {MemoryStorage} [storage] */
const openIn = (home, storage) => openStore({ home, project: "/", storage });

/** Sessions that were active so many days ago. @param {MemoryStorage} storage @param {number[]} days */
async function createAged(storage, days) {
  const store = await openIn("/home", storage);
  const ids = [];
  for (const ago of days) {
    const session = await store.create();
    const timestamp = new Date(Date.now() - ago * 24 * 3600_000).toISOString();
    await session.append({ role: "user", content: `of ${ago} days ago`, timestamp });
    // Not the store: a storage that lives in memory lives no longer than that.
    await session.close();
    ids.push(session.id);
  }
  return ids;
}

test("sessions beyond the most, and those inactive for too long, are archived; none is deleted", async () => {
  const storage = new MemoryStorage();
  const ids = await createAged(storage, [1, 2, 3, 40, 4, 50, 0]);
  const store = await openIn("/home", storage);
  assert.deepEqual((await store.tidy()).sort(), [ids[3], ids[5]].sort());
  assert.deepEqual(await store.tidy({ maxSessionsPerProject: 3, autoArchiveAfterDays: 30 }), [ids[2], ids[4]]);
  assert.deepEqual(
    (await store.list()).map(({ id }) => id),
    [ids[6], ids[0], ids[1]],
  );
  assert.equal((await store.list({ archived: null })).length, 7);
  const session = await store.session(ids[5] ?? "");
  await session.unarchive();
  assert.equal(session.metadata.stats.messageCount, 1);
  await store.close();
});

test("the current session, one that is open here, and one that is open elsewhere, are left as they are", async () => {
  const storage = new MemoryStorage();
  const ids = await createAged(storage, [60, 61, 62, 63]);
  const store = await openIn("/home", storage);
  const open = await store.session(ids[0] ?? "");
  const lease = {
    pid: process.ppid,
    host: "elsewhere",
    boot: "",
    start: "",
    program: "agent",
    since: "2026-01-01T00:00:00Z",
  };
  await storage.append(`/home/cache/${ids[1]}.open/1.json`, new TextEncoder().encode(JSON.stringify(lease)));
  assert.deepEqual((await store.tidy()).sort(), [ids[2], ids[3]].sort());
  assert.ok(!open.metadata.archivedAt);
  await store.close();

  const folder = mkdtempSync(join(tmpdir(), "leftoff-tidy-"));
  const [home, project] = [join(folder, "home"), join(folder, "project")];
  mkdirSync(project);
  const onDisk = await openStore({ home, project });
  const kept = await onDisk.create();
  const gone = await onDisk.create();
  await onDisk.point(kept);
  await onDisk.close();
  const again = await openStore({ home, project });
  assert.deepEqual(await again.tidy({ maxSessionsPerProject: 0, autoArchiveAfterDays: 0 }), [gone.id]);
  await again.close();
  rmSync(folder, { recursive: true });
});

test("what cannot be written, or is a workspace's, is left, and costs the others nothing", async () => {
  const storage = new MemoryStorage();
  const ids = await createAged(storage, [60, 61, 62]);
  const store = await openIn("/home", storage);
  const inWorkspace = await store.create({ placement: "workspace", title: "w" });
  await inWorkspace.append({ role: "user", content: "x", timestamp: "2020-01-01T00:00:00.000Z" });
  await inWorkspace.close();
  const again = await openIn("/home", storage);
  const newest = (await again.list()).find(({ id }) => id === ids[1]);
  await storage.append(
    `${newest?.path}/events.jsonl`,
    new TextEncoder().encode('{"v":2,"id":"x","type":"of a later version"}\n'),
  );
  assert.deepEqual((await again.tidy()).sort(), [ids[0], ids[2]].sort());
  await again.close();
});

test("what was archived is archived once: the next time nothing is left to do", async () => {
  const storage = new MemoryStorage();
  await createAged(
    storage,
    Array.from({ length: 30 }, (_, n) => 40 + n),
  );
  const store = await openIn("/home", storage);
  assert.equal((await store.tidy()).length, 30);
  assert.deepEqual(await store.list(), []);
  assert.deepEqual(await store.tidy(), []);
  await store.close();
});

test("a manager's AutoPersist has the settings of the project", async () => {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-auto-"));
  const [home, project] = [join(folder, "home"), join(folder, "project")];
  mkdirSync(home);
  mkdirSync(project);
  writeFileSync(join(home, "settings.json"), '{"autoPersist":{"debounceMs":5,"maxSessionsPerProject":3}}');
  const manager = new SessionManager({ home });
  const session = await manager.createSession(project, { type: "openai", model: "m", contextWindow: 1 });
  const { config } = await manager.autoPersist(session, { debounceMs: 6 });
  assert.deepEqual([config.debounceMs, config.maxSessionsPerProject, config.enabled], [6, 3, true]);
  await manager.close();
  rmSync(folder, { recursive: true });
});

/** The runtimes that start here. @type {[string, string[]][]} */
const runtimes = /** @type {[string, string[]][]} */ ([
  ["node", [nodePath]],
  // Not the command of npm, which starts it as a child of its own.
  ...packagesOfScope("@deno").map((path) => [
    "deno",
    [join(path, "deno"), "run", "--allow-all", "--no-lock", "--no-config", "--node-modules-dir=none", "--cached-only"],
  ]),
  ...packagesOfScope("@oven").map((path) => ["bun", [join(path, "bin", "bun")]]),
]).filter(([, [program = ""]]) => spawnSync(program, ["--version"]).status === 0);

/** The packages of one platform each. @param {string} scope */
function packagesOfScope(scope) {
  const folder = join(root, "node_modules", scope);
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

const start = `
import process from "node:process";
import { openStore } from ${JSON.stringify(library)};
import { AutoPersist, SessionManager } from ${JSON.stringify(compat)};
const home = process.argv[2];
const say = (word) => process.stdout.write(word + "\\n");
const store = await openStore({ home, project: home });
const session = await store.create();
await session.append({ role: "user", content: "kept" });
`;

/**
 * @param {string[]} command @param {string} body
 * @param {(child: import("node:child_process").ChildProcessWithoutNullStreams, heard: (word: string) => Promise<void>) => Promise<unknown>} work
 */
async function running([program = "", ...flags], body, work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-signal-"));
  const file = join(home, "program.mjs");
  writeFileSync(file, start + body);
  // A shell says how its child ended as 128 and the signal; here it is seen as it is.
  const child = spawn(program, [...flags, file, home], { stdio: "pipe", timeout: PATIENCE_MS, killSignal: "SIGKILL" });
  let out = "";
  let failure = "";
  child.stderr.on("data", (text) => (failure += text));
  const ended = once(child, "close");
  /** @param {string} word */
  const heard = async (word) => {
    while (!out.split("\n").includes(word)) {
      const [text] = await Promise.race([
        once(child.stdout, "data"),
        ended.then(() => assert.fail(`ended without "${word}": ${out}${failure}`)),
      ]);
      out += text;
    }
  };
  try {
    await work(/** @type {any} */ (child), heard);
    const [code, signal] = await ended;
    const [folder = ""] = readdirSync(join(home, "cache")).filter((name) => name.endsWith(".open"));
    const store = await openStore({ home, project: home });
    const [listed] = await store.list();
    const found = await store.session(listed?.id ?? "");
    const { metadata, notices, path } = found;
    const document = JSON.parse(readFileSync(join(path, "metadata.json"), "utf8"));
    await store.close();
    return {
      code,
      signal,
      out,
      failure,
      folder,
      saved: document.stats.messageCount,
      count: metadata.stats.messageCount,
      notices,
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The status as a shell sees it. @param {{ code: number | null, signal: string | null }} ended */
const status = ({ code, signal }) =>
  code ?? 128 + { SIGINT: 2, SIGTERM: 15, SIGHUP: 1, SIGKILL: 9 }[/** @type {"SIGINT"} */ (signal)];

const stay = `say("ready"); process.stdin.resume();`;

for (const [name, command] of runtimes) {
  for (const [signal, expected] of /** @type {const} */ ([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])) {
    test(`${name}: ${signal} closes the session, and the exit status is that of the signal`, async () => {
      const ended = await running(
        command,
        `new AutoPersist(session).handleSignals(); ${stay}`,
        async (child, heard) => {
          await heard("ready");
          child.kill(signal);
        },
      );
      assert.deepEqual([status(ended), ended.saved, ended.notices], [expected, 1, []], ended.failure);
    });
  }

  test(`${name}: without being asked for, a signal ends the process as ever, and the session is found left open`, async () => {
    const ended = await running(
      command,
      `new AutoPersist(session).scheduleMetadataUpdate(); ${stay}`,
      async (child, heard) => {
        await heard("ready");
        child.kill("SIGTERM");
      },
    );
    assert.deepEqual([status(ended), ended.count], [143, 1]);
    assert.deepEqual(
      ended.notices.map(({ code }) => code),
      ["left_open"],
    );
  });

  test(`${name}: a listener of the program's own still runs, once, and ends the process its own way`, async () => {
    const own = `process.on("SIGTERM", () => { say("own"); process.stdin.pause(); });`;
    const ended = await running(
      command,
      `new AutoPersist(session).handleSignals(); ${own} ${stay}`,
      async (child, heard) => {
        await heard("ready");
        child.kill("SIGTERM");
        await heard("own");
        child.stdin.end();
      },
    );
    assert.deepEqual([ended.code, ended.saved, ended.notices], [0, 1, []], ended.failure);
    assert.equal(ended.out.split("own").length, 2);
  });

  test(`${name}: a second signal during a slow close ends the process`, async () => {
    const slow = `new AutoPersist({ flush: async () => {}, close: () => { say("closing"); setInterval(() => {}, 1000); return new Promise(() => {}); } }).handleSignals();`;
    const ended = await running(command, `${slow} ${stay}`, async (child, heard) => {
      await heard("ready");
      child.kill("SIGTERM");
      await heard("closing");
      child.kill("SIGTERM");
    });
    assert.equal(status(ended), 143);
  });

  test(`${name}: of several sessions each is closed before the process ends, also where one cannot be`, async () => {
    const bad = `new AutoPersist({ flush: async () => {}, close: async () => { throw new Error("no"); } }, { onError: () => say("heard") }).handleSignals();`;
    const late = `new AutoPersist({ flush: async () => {}, close: async () => { await session.close(); say("late"); } }).handleSignals();`;
    const ended = await running(
      command,
      `${bad} new AutoPersist(session).handleSignals(); ${late} ${stay}`,
      async (child, heard) => {
        await heard("ready");
        child.kill("SIGTERM");
        await heard("heard");
        await heard("late");
      },
    );
    assert.deepEqual([status(ended), ended.notices], [143, []]);
  });

  test(`${name}: nothing of it keeps a process that has nothing else to do`, async () => {
    const ended = await running(
      command,
      `const one = new AutoPersist(session, { debounceMs: 1e8, updateMetadataIntervalMs: 1e8 }); one.handleSignals(); one.scheduleMetadataUpdate(); await session.close(); say("done");`,
      async (_child, heard) => {
        await heard("done");
      },
    );
    assert.deepEqual([ended.code, ended.notices], [0, []], ended.failure);
  });

  test(`${name}: the graceful shutdown of its design runs as it stands`, async () => {
    const body = `
      const manager = new SessionManager({ home });
      { const of = await manager.loadSession(session.id); await session.close(); await shutdown(of); }
      async function shutdown(session) {
        await session.appendMessage({ role: "assistant", content: "more" });
        process.on('SIGTERM', async () => {
          await session.updateMetadata({
            lastAccessedAt: new Date().toISOString()
          });
          await session.flush();
          process.exit(0);
        });
      }
      ${stay}`;
    const ended = await running(command, body, async (child, heard) => {
      await heard("ready");
      child.kill("SIGTERM");
    });
    assert.deepEqual([ended.code, ended.saved], [0, 2], ended.failure);
    // It flushes and does not close: what that costs is a notice.
    assert.deepEqual(
      ended.notices.map(({ code }) => code),
      ["left_open"],
    );
  });
}
