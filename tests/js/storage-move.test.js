// @ts-check

/** How the file storage moves, and how it looks into many folders: what the contract suite cannot see. */
// Tries: js/storage/move.js, js/storage/folders.js, js/storage/stats.js

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { describe, mock } from "node:test";

import { MemoryStorage } from "../../js/storage/memory.js";
import { LINE, POSIX, PROC, check, inProcess, missing } from "./storage-tools.js";

const DISK = missing("unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt");

/** @param {string} code */
const systemError = (code) => Object.assign(new Error(code), { code });

/** @param {any} error */
const isNotMoved = ({ code, durable }) => code === "storage_failed" && durable === undefined;

/** What is asked of the system in order, paths without the root. @param {string} root */
function recordCalls(root) {
  /** @type {string[]} */
  const calls = [];
  const short = (/** @type {unknown} */ path) => String(path).replace(root, "");
  for (const name of /** @type {const} */ (["linkSync", "unlinkSync", "renameSync"])) {
    const original = /** @type {any} */ (fs[name]);
    mock.method(fs, name, (/** @type {unknown[]} */ ...paths) => {
      calls.push([name, ...paths.map(short)].join(" "));
      return original(...paths);
    });
  }
  const { fsync } = fs;
  mock.method(fs, "fsync", (/** @type {number} */ fd, /** @type {fs.NoParamCallback} */ done) => {
    calls.push(`fsync ${short(fs.readlinkSync(`/proc/self/fd/${fd}`))}`);
    fsync(fd, done);
  });
  return calls;
}

describe("move", () => {
  check(
    "a folder is renamed, then the disk confirms where it is, and then where it was",
    async (storage, root) => {
      await storage.append(`${root}/a/b/log`, LINE, { durable: true });
      const calls = recordCalls(root);
      await storage.move(`${root}/a/b`, `${root}/new/b`);
      assert.deepEqual(calls, ["renameSync /a/b /new/b", "fsync /new", "fsync ", "fsync /a"]);
    },
    PROC,
  );

  check(
    "a file keeps its old name until the disk has confirmed the new one",
    async (storage, root) => {
      await storage.append(`${root}/a/log`, LINE, { durable: true });
      const calls = recordCalls(root);
      await storage.move(`${root}/a/log`, `${root}/new/log`);
      assert.deepEqual(calls.slice(0, 4), ["linkSync /a/log /new/log", "fsync /new", "fsync ", "unlinkSync /a/log"]);
      assert.equal(calls.at(-1), "fsync /a");
    },
    PROC,
  );

  check(
    "a file stays where it was, and only there, if its old name cannot go or is another's by now",
    async (storage, root) => {
      await storage.append(`${root}/log`, LINE);
      mock.method(
        fs,
        "unlinkSync",
        () => {
          throw systemError("EIO");
        },
        { times: 1 },
      );
      await assert.rejects(storage.move(`${root}/log`, `${root}/moved`), isNotMoved);
      assert.deepEqual(fs.readdirSync(root), ["log"]);
      const { linkSync } = fs;
      mock.method(fs, "linkSync", (/** @type {[string, string]} */ ...paths) => {
        linkSync(...paths);
        fs.writeFileSync(`${root}/newer`, "newer");
        fs.renameSync(`${root}/newer`, `${root}/log`);
      });
      await assert.rejects(storage.move(`${root}/log`, `${root}/moved`), { code: "storage_failed" });
      assert.deepEqual(fs.readdirSync(root), ["log"]);
      assert.equal(fs.readFileSync(`${root}/log`, "utf8"), "newer");
    },
  );

  check("a file that cannot have two names is renamed", async (storage, root) => {
    await storage.append(`${root}/log`, LINE);
    mock.method(fs, "linkSync", () => {
      throw systemError("EPERM");
    });
    await storage.move(`${root}/log`, `${root}/moved`);
    assert.deepEqual(fs.readdirSync(root), ["moved"]);
    assert.deepEqual(await storage.read(`${root}/moved`), LINE);
  });

  check(
    "a place that is taken is told from one that may not be taken, also where the system says the same of both",
    async (storage, root) => {
      fs.mkdirSync(`${root}/folder`);
      mock.method(
        fs,
        "renameSync",
        () => {
          fs.writeFileSync(`${root}/to`, "theirs");
          throw systemError("EPERM");
        },
        { times: 1 },
      );
      await assert.rejects(storage.move(`${root}/folder`, `${root}/to`), { code: "already_exists" });
      assert.equal(fs.readFileSync(`${root}/to`, "utf8"), "theirs");
    },
    POSIX,
  );

  check("what another process puts there after the look is not replaced", async (storage, root) => {
    fs.mkdirSync(`${root}/folder`);
    fs.writeFileSync(`${root}/file`, "mine");
    /** @type {[string, () => void][]} */
    const theirs = [
      ["file", () => fs.writeFileSync(`${root}/to`, "theirs")],
      ["file", () => fs.mkdirSync(`${root}/to`)],
      ["folder", () => fs.mkdirSync(`${root}/to/theirs`, { recursive: true })],
    ];
    for (const [name, put] of theirs) {
      for (const call of /** @type {const} */ (["linkSync", "renameSync"])) {
        const original = fs[call];
        mock.method(fs, call, (/** @type {[string, string]} */ ...paths) => (put(), original(...paths)), { times: 1 });
      }
      await assert.rejects(storage.move(`${root}/${name}`, `${root}/to`), { code: "already_exists" });
      mock.restoreAll();
      assert.ok(fs.existsSync(`${root}/${name}`));
      assert.ok(
        fs.statSync(`${root}/to`).isFile()
          ? fs.readFileSync(`${root}/to`, "utf8") === "theirs"
          : name === "file" || fs.existsSync(`${root}/to/theirs`),
      );
      fs.rmSync(`${root}/to`, { recursive: true });
    }
  });

  check(
    "what the disk did not confirm is moved, and said not to be durable",
    async (storage, root) => {
      await storage.append(`${root}/a/log`, LINE);
      mock.method(fs, "fsync", (/** @type {number} */ _, /** @type {fs.NoParamCallback} */ done) =>
        done(systemError("EIO")),
      );
      await assert.rejects(storage.move(`${root}/a`, `${root}/b`), { code: "storage_failed", durable: false });
      assert.deepEqual(fs.readdirSync(root), ["b"]);
      await assert.rejects(storage.move(`${root}/b/log`, `${root}/log`), isNotMoved);
      assert.deepEqual(fs.readdirSync(root, { recursive: true }).sort(), ["b", "b/log"]);
    },
    POSIX,
  );

  check(
    "links and devices are refused, those in a folder go with it",
    async (storage, root) => {
      await storage.append(`${root}/a/log`, LINE);
      fs.symlinkSync("log", `${root}/a/link`);
      spawnSync("mkfifo", [`${root}/pipe`]);
      for (const name of ["a/link", "pipe"])
        await assert.rejects(storage.move(`${root}/${name}`, `${root}/to`), { code: "not_a_file" });
      await assert.rejects(storage.move(`${root}/a/log`, `${root}/a/link`), { code: "already_exists" });
      await storage.move(`${root}/a`, `${root}/b`);
      assert.equal(fs.readlinkSync(`${root}/b/link`), "log");
    },
    POSIX,
  );

  check("its errors name both places", async (storage, root) => {
    await assert.rejects(storage.move(`${root}/a`, `${root}/b`), {
      message: `could not move "${root}/a" to "${root}/b": there is nothing to move`,
    });
  });

  check(
    "to another filesystem is other_filesystem, and all stays as it was",
    async (_, root) => {
      const shell = [
        "unshare",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        'mkdir "$1/disk"; mount -t tmpfs none "$1/disk"; shift; exec "$@"',
        "sh",
        root,
      ];
      const { errors, names } = await inProcess(
        shell,
        `
      const [root] = args, bytes = new Uint8Array(3);
      await storage.append(root + "/a/log", bytes);
      const moves = [storage.move(root + "/a", root + "/disk/a"), storage.move(root + "/a/log", root + "/disk/log")];
      return { errors: await Promise.all(moves.map(caught)), names: fs.readdirSync(root, { recursive: true }).sort() };`,
        root,
      );
      assert.deepEqual(
        errors.map((/** @type {any} */ error) => error?.code),
        ["other_filesystem", "other_filesystem"],
      );
      assert.deepEqual(names, ["a", "a/log", "disk"]);
    },
    DISK,
  );
});

describe("the time of any change", () => {
  check("tells of a file that was replaced with its old size and time", async (storage, root) => {
    const path = `${root}/log`;
    await storage.append(path, LINE);
    fs.utimesSync(path, 1000, 1000);
    const before = await storage.stat(path);
    let after = before;
    for (let tries = 0; tries < 100_000 && after?.ctimeMs === before?.ctimeMs; tries += 1) {
      fs.writeFileSync(`${root}/other`, "others\n");
      fs.utimesSync(`${root}/other`, 1000, 1000);
      fs.renameSync(`${root}/other`, path);
      after = await storage.stat(path);
    }
    assert.deepEqual([after?.size, after?.mtimeMs], [before?.size, before?.mtimeMs]);
    assert.ok((after?.ctimeMs ?? 0) > (before?.ctimeMs ?? Infinity));
  });

  check("is another after each change, in memory, however slow the clock", async () => {
    const storage = new MemoryStorage({ now: () => 1_800_000_000_000 });
    const seen = new Set();
    for (let count = 1; count <= 1000; count += 1) {
      if (count % 2) await storage.append("/folder/log", LINE);
      else await storage.replace("/folder/log", LINE);
      const stat = await storage.stat("/folder/log");
      assert.equal(stat?.mtimeMs, 1_800_000_000_000);
      assert.equal(seen.add(stat?.ctimeMs).size, count);
    }
  });
});

describe("the files in many folders", () => {
  check("are found among thousands, and others have their turn meanwhile", async (storage, root) => {
    for (let index = 0; index < 2500; index += 1) {
      fs.mkdirSync(`${root}/${index}`);
      if (index % 3 === 0) fs.writeFileSync(`${root}/${index}/log`, "x".repeat(index));
    }
    let turns = 0;
    let isDone = false;
    const turn = () => void (isDone || ((turns += 1), setImmediate(turn)));
    const listing = storage.list(root, { files: ["log"] }).finally(() => (isDone = true));
    turn();
    const found = (await listing) ?? [];
    assert.equal(found.length, 2500);
    for (const { name, files } of found)
      assert.equal(files?.[0]?.size, Number(name) % 3 === 0 ? Number(name) : undefined);
    assert.ok(turns >= 3, `expected others to have their turn, but found ${turns}`);
  });

  check(
    "are null where a folder vanished meanwhile, and links are `other`",
    async (storage, root) => {
      fs.mkdirSync(`${root}/a`);
      fs.mkdirSync(`${root}/b`);
      fs.symlinkSync("/etc/passwd", `${root}/b/log`);
      const { readdir } = fs.promises;
      mock.method(fs.promises, "readdir", async (/** @type {any[]} */ ...args) => {
        const found = await /** @type {any} */ (readdir)(...args);
        fs.rmdirSync(`${root}/a`);
        return found;
      });
      const found = await storage.list(root, { files: ["log"] });
      assert.deepEqual(
        found?.map(({ files }) => files?.map((stat) => stat && [stat.kind, stat.size])),
        [[null], [["other", 0]]],
      );
    },
    POSIX,
  );
});
