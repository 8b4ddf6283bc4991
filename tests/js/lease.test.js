// @ts-check
// Who has a session open, as other processes see it. Nothing depends on it but a warning.
// Tries: src/operation/lease.rs, src/session/lease.rs, js/storage/process.js
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openStore } from "../../js/index.js";
import { thisProcess } from "../../js/storage/process.js";
import { nodePath } from "./node-path.js";

const library = new URL("../../js/index.js", import.meta.url).href;

/** Opens the newest session, appends, says so, and waits to be ended. */
const holder = `
  const { openStore } = await import(${JSON.stringify(library)});
  const store = await openStore({ home: process.argv[1], project: process.argv[1] });
  await (await store.continue()).append({ role: "user", content: "theirs" });
  console.log("held");
  process.stdin.resume();
`;

/** @param {(home: string, leases: (id: string) => string) => Promise<void>} work */
async function inFolder(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-lease-"));
  try {
    await work(home, (id) => join(home, "cache", `${id}.open`));
  } finally {
    rmSync(home, { recursive: true });
  }
}

test("a session that another process appends to says so, until that process is gone", () =>
  inFolder(async (home, leases) => {
    const store = await openStore({ home, project: home });
    const session = await store.create();
    assert.deepEqual(await session.others(), []);
    const child = spawn(nodePath, ["--input-type=module", "-e", holder, home], { stdio: ["pipe", "pipe", "inherit"] });
    await once(child.stdout, "data");
    const [other, ...more] = await session.others();
    assert.deepEqual(more, []);
    assert.deepEqual([other?.pid, other?.host], [child.pid, hostname()]);
    const { warnings } = await session.resume({ window: 8_000, encoding: "estimate-1" });
    assert.match(warnings.join(), new RegExp(`process ${child.pid} on ${hostname()}`));
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.deepEqual(await session.others(), []);
    await store.close();
    // It did not close the session: who opens it next hears so, once.
    for (const count of [1, 0]) {
      const next = await openStore({ home, project: home });
      // A list, which may look into the session, is no opening.
      await next.list();
      const { notices } = await next.session(session.id);
      assert.deepEqual(
        notices.map(({ code }) => code),
        Array(count).fill("left_open"),
      );
      for (const { message } of notices) assert.match(message, new RegExp(`process ${child.pid},`));
      await next.close();
    }
    assert.deepEqual(readdirSync(leases(session.id)), []);
  }));

test("one that died long ago is told of by whoever opens the session, also where a list has paused it before", () =>
  inFolder(async (home, leases) => {
    const store = await openStore({ home, project: home, idleMs: 0 });
    const { id } = await store.create();
    mkdirSync(leases(id), { recursive: true });
    writeFileSync(
      join(leases(id), "dead.json"),
      JSON.stringify({ ...thisProcess(), start: "1", since: "2026-01-01T00:00:00Z" }),
    );
    await store.close();
    const next = await openStore({ home, project: home, idleMs: 0 });
    assert.deepEqual(
      (await next.list()).map(({ status }) => status),
      ["paused"],
    );
    const { notices } = await next.session(id);
    assert.equal(notices.filter(({ code }) => code === "left_open").length, 1);
    await next.close();
  }));

test("closing a store ends what it holds", () =>
  inFolder(async (home, leases) => {
    const store = await openStore({ home, project: home });
    const session = await store.create();
    await session.append({ role: "user", content: "mine" });
    assert.equal(readdirSync(leases(session.id)).length, 1);
    assert.deepEqual(await session.others(), []);
    await store.close();
    assert.deepEqual(readdirSync(leases(session.id)), []);
  }));

test("a number that the system gave again, another boot and a torn file are nobody; another host is believed", () =>
  inFolder(async (home, leases) => {
    const store = await openStore({ home, project: home });
    const session = await store.create();
    await session.append({ role: "user", content: "mine" });
    const me = { ...thisProcess(), since: "2026-01-01T00:00:00Z" };
    const elsewhere = { ...me, host: "elsewhere" };
    const found = [
      { ...me, start: "1" },
      { ...me, boot: "other" },
      { ...me, pid: 2 ** 22 + 1 },
      elsewhere,
      5,
      { pid: "x" },
    ];
    found.forEach((one, place) => writeFileSync(join(leases(session.id), `${place}.json`), JSON.stringify(one)));
    writeFileSync(join(leases(session.id), "torn.json"), JSON.stringify(me).slice(0, 20));
    assert.deepEqual(await session.others(), [elsewhere]);
    await store.close();
    const next = await openStore({ home, project: home });
    assert.equal((await next.session(session.id)).notices.length, 3);
    // The one of elsewhere is left.
    assert.equal(readdirSync(leases(session.id)).length, 1);
    await next.close();
  }));

test("a session that messages of an agent were recorded in is open for nobody once it is closed", () =>
  inFolder(async (home, leasesOf) => {
    const store = await openStore({ home, project: home });
    const session = await store.create({ source: { agent: "opencode", id: "ses_1" } });
    const leases = () => readdirSync(leasesOf(session.id));
    const record = (/** @type {import("../../js/index.js").Session} */ one, /** @type {string} */ id) => {
      const info = { id, sessionID: "ses_1", role: "user", time: { created: 1_790_000_000_000 } };
      const part = { id: `prt_${id}`, sessionID: "ses_1", messageID: id, type: "text", text: `This is ${id}.` };
      return one.record({ info, parts: [part] }, { from: "opencode" });
    };
    await record(session, "msg_1");
    assert.equal(leases().length, 1);
    await session.close();
    assert.deepEqual(leases(), []);
    // It takes the next message, and the store's closing releases it as well.
    const again = await store.session(session.id);
    await record(again, "msg_2");
    await again.refresh();
    assert.equal(again.metadata.stats.messageCount, 2);
    assert.equal(leases().length, 1);
    await store.close();
    assert.deepEqual(leases(), []);
  }));
