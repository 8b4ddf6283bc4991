// @ts-check

/** The file storage's descriptors, and what it takes for proof that bytes reached the disk. */
// Tries: js/storage/flush.js, js/storage/open-file.js, js/storage/whole-file.js, js/storage/folders.js

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, mock } from "node:test";

import { NodeStorage } from "../../js/storage/node.js";
import { LINE, POSIX, PROC, check } from "./storage-tools.js";

/** Files under a folder that this process holds open. @param {string} root */
function openUnder(root) {
  const links = fs.readdirSync("/proc/self/fd").map((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ""; // The descriptor that lists the folder is closed by now.
    }
  });
  return links.filter((link) => link.startsWith(root));
}

describe("descriptors", () => {
  check("a file removed, replaced or moved away is noticed before the next append", async (storage, root) => {
    const path = `${root}/folder/log`;
    const disturbances = [
      () => fs.unlinkSync(path),
      () => fs.rmSync(`${root}/folder`, { recursive: true }),
      () => fs.renameSync(path, `${root}/moved`),
    ];
    for (const disturb of disturbances) {
      await storage.append(path, LINE);
      disturb();
      assert.equal((await storage.append(path, LINE)).end, LINE.length);
      assert.deepEqual(new Uint8Array(fs.readFileSync(path)), LINE);
      fs.unlinkSync(path);
    }
    await storage.append(path, LINE);
    fs.writeFileSync(`${root}/other`, "other\n");
    fs.renameSync(`${root}/other`, path);
    await storage.append(path, LINE);
    assert.equal(fs.readFileSync(path, "utf8"), "other\na line\n");
  });

  /** A filesystem that notes no time of a change. */
  function withoutTimes() {
    const { lstatSync, fstatSync } = fs;
    const timeless = (/** @type {any} */ found) => found && Object.assign(found, { ctimeMs: 0 });
    mock.method(fs, "fstatSync", (/** @type {number} */ fd, /** @type {any} */ options) =>
      timeless(fstatSync(fd, options)),
    );
    return mock.method(fs, "lstatSync", (/** @type {string} */ path, /** @type {any} */ options) =>
      timeless(lstatSync(path, options)),
    );
  }

  check(
    "soon after a look only the file is looked at, and one removed or replaced is noticed, with a second name, too",
    async (storage, root) => {
      const looks = withoutTimes();
      const path = `${root}/log`;
      const replace = () => {
        fs.writeFileSync(`${root}/other`, "other\n");
        fs.renameSync(`${root}/other`, path);
      };
      for (const [disturb, expected] of /** @type {[() => void, string][]} */ ([
        [() => fs.unlinkSync(path), ""],
        [replace, "other\n"],
      ])) {
        for (const names of [1, 2]) {
          await storage.append(path, LINE);
          if (names === 2) fs.linkSync(path, `${path}.${expected.length}`);
          await storage.stat(path);
          const before = looks.mock.callCount();
          assert.equal((await storage.stat(path))?.size, LINE.length);
          assert.equal(looks.mock.callCount(), before);
          disturb();
          await storage.stat(path);
          await storage.append(path, LINE);
          assert.equal(fs.readFileSync(path, "utf8"), `${expected}a line\n`);
          fs.unlinkSync(path);
        }
      }
    },
    POSIX,
  );

  check(
    "a file moved away is noticed within 50 ms, where the filesystem notes no time of a change",
    async (storage, root) => {
      withoutTimes();
      const path = `${root}/log`;
      await storage.append(path, LINE);
      await storage.stat(path);
      fs.renameSync(path, `${root}/moved`);
      const late = performance.now() + 50;
      mock.method(performance, "now", () => late);
      await storage.append(path, LINE);
      assert.equal(fs.readFileSync(path, "utf8"), "a line\n");
      assert.equal(fs.readFileSync(`${root}/moved`, "utf8"), "a line\n");
    },
  );

  check(
    "a log whose folder was moved away soon after a look is not reported as saved, and what was made meanwhile is",
    async (storage, root) => {
      const path = `${root}/folder/log`;
      for (const within of [undefined, `${root}/folder`]) {
        await storage.append(path, LINE);
        await storage.stat(path);
        fs.renameSync(`${root}/folder`, `${root}/moved`);
        await assert.rejects(storage.append(path, LINE, { within }), { code: "storage_failed", written: LINE.length });
        if (within) await assert.rejects(storage.append(path, LINE, { within }), { code: "not_found", written: 0 });
        assert.equal((await storage.append(path, LINE)).end, LINE.length);
        fs.rmSync(`${root}/moved`, { recursive: true });
        fs.rmSync(`${root}/folder`, { recursive: true });
      }
    },
  );

  check(
    "a file removed during the write is not reported as saved",
    async (storage, root) => {
      await storage.append(`${root}/log`, LINE);
      const { writeSync } = fs;
      mock.method(fs, "writeSync", (/** @type {[number, Uint8Array]} */ ...args) => {
        fs.unlinkSync(`${root}/log`);
        return writeSync(...args);
      });
      await assert.rejects(storage.append(`${root}/log`, LINE), { code: "storage_failed", written: LINE.length });
    },
    POSIX,
  );

  check("an append is one write, on a descriptor that is kept", async (storage, root) => {
    const write = mock.method(fs, "writeSync");
    const open = mock.method(fs, "openSync");
    const line = new Uint8Array(3_000_000);
    for (let index = 0; index < 5; index += 1) await storage.append(`${root}/log`, line);
    assert.deepEqual(
      write.mock.calls.map((call) => call.result),
      Array(5).fill(3_000_000),
    );
    assert.equal(open.mock.calls.filter((call) => !call.error).length, 1);
  });

  check(
    "few descriptors are kept, and none after close, also with flushes under way",
    async (storage, root) => {
      const paths = Array.from({ length: 100 }, (_, index) => `${root}/${index}/log`);
      await Promise.all(paths.map((path, index) => storage.append(path, LINE, { durable: index % 2 === 0 })));
      await Promise.all(paths.map((path) => storage.append(path, LINE)));
      const kept = openUnder(root).length;
      assert.ok(kept > 0 && kept <= 32, `expected at most 32 open files, but found ${kept} instead`);
      for (const path of paths) assert.equal(fs.statSync(path).size, 2 * LINE.length);
      storage.append(paths[0], LINE, { durable: true });
      await storage.close();
      assert.deepEqual(openUnder(root), []);
    },
    PROC,
  );

  check(
    "reading and failing leave no descriptor open",
    async (storage, root) => {
      await storage.append(`${root}/log`, LINE);
      await storage.replace(`${root}/document`, LINE);
      await storage.read(`${root}/log`);
      await Promise.allSettled([storage.read(root), storage.append(root, LINE), storage.replace(root, LINE)]);
      await storage.remove(`${root}/log`);
      assert.deepEqual(openUnder(root), []);
    },
    PROC,
  );

  check("what the system says only at the end is told by close", async (_, root) => {
    const storage = new NodeStorage();
    await storage.append(`${root}/log`, LINE);
    const { closeSync } = fs;
    mock.method(
      fs,
      "closeSync",
      (/** @type {number} */ fd) => {
        closeSync(fd);
        throw Object.assign(new Error("EDQUOT: quota used up"), { code: "EDQUOT" });
      },
      { times: 1 },
    );
    const told = { code: "disk_full", message: `could not close "${root}/log": the disk is full (EDQUOT)` };
    await assert.rejects(storage.close(), told);
  });
});

describe("durability", () => {
  /** The calls that flush and rename, in order, as "what path". @param {string} root */
  function traced(root) {
    /** @type {string[]} */
    const trace = [];
    const { fsync, fdatasync, renameSync } = fs;
    const name = (/** @type {string} */ path) => path.replace(root, "").replace(/\.\d+\.[0-9a-f]+\.tmp$/, ".tmp");
    for (const [what, call] of Object.entries({ fsync, fdatasync })) {
      mock.method(
        fs,
        /** @type {"fsync"} */ (what),
        (/** @type {number} */ fd, /** @type {fs.NoParamCallback} */ done) => {
          trace.push(`${what} ${name(fs.readlinkSync(`/proc/self/fd/${fd}`))}`);
          call(fd, done);
        },
      );
    }
    mock.method(fs, "renameSync", (/** @type {string} */ from, /** @type {string} */ to) => {
      trace.push(`rename ${name(from)} ${name(to)}`);
      renameSync(from, to);
    });
    return trace;
  }

  check(
    "the first durable append flushes the file, its folder and every new folder; later ones the file",
    async (storage, root) => {
      const trace = traced(root);
      await storage.append(`${root}/a/b/log`, LINE);
      assert.deepEqual(trace, []);
      await storage.append(`${root}/a/b/log`, LINE, { durable: true });
      assert.deepEqual(trace.splice(0), ["fsync /a/b/log", "fsync /a/b", "fsync /a", "fsync "]);
      await storage.append(`${root}/a/b/log`, LINE, { durable: true });
      assert.deepEqual(trace.splice(0), ["fdatasync /a/b/log"]);
      await storage.append(`${root}/a/b/other`, LINE, { durable: true });
      assert.deepEqual(trace.splice(0), ["fsync /a/b/other", "fsync /a/b"]);
    },
    PROC,
  );

  check("the file, its folder and every new folder are flushed at once", async (storage, root) => {
    const { fsync } = fs;
    let running = 0;
    let most = 0;
    mock.method(fs, "fsync", (/** @type {number} */ fd, /** @type {fs.NoParamCallback} */ done) => {
      running += 1;
      most = Math.max(most, running);
      fsync(fd, (error) => {
        running -= 1;
        done(error);
      });
    });
    await storage.append(`${root}/a/b/log`, LINE, { durable: true });
    assert.deepEqual([most, running], [4, 0]);
  });

  check(
    "a flush that fails is told once the others have ended",
    async (storage, root) => {
      const { fsync } = fs;
      let running = 0;
      mock.method(fs, "fsync", (/** @type {number} */ fd, /** @type {fs.NoParamCallback} */ done) => {
        running += 1;
        const fails = fs.readlinkSync(`/proc/self/fd/${fd}`) === `${root}/a`;
        const end = (/** @type {NodeJS.ErrnoException | null} */ error) => {
          running -= 1;
          done(error);
        };
        if (fails) end(Object.assign(new Error("EIO: i/o error"), { code: "EIO" }));
        else fsync(fd, end);
      });
      const append = storage.append(`${root}/a/b/log`, LINE, { durable: true });
      await assert.rejects(append, { code: "storage_failed", durable: false });
      assert.equal(running, 0);
    },
    PROC,
  );

  check(
    "a file that another process made is flushed with its name too",
    async (storage, root) => {
      fs.writeFileSync(`${root}/log`, LINE);
      const trace = traced(root);
      await storage.append(`${root}/log`, LINE, { durable: true });
      assert.deepEqual(trace, ["fsync /log", "fsync "]);
    },
    PROC,
  );

  check(
    "a folder that another process made is flushed with its name too, once",
    async (storage, root) => {
      fs.mkdirSync(`${root}/a/b`, { recursive: true, mode: 0o700 });
      const trace = traced(root);
      await storage.append(`${root}/a/b/log`, LINE, { durable: true });
      assert.deepEqual(trace.splice(0), ["fsync /a/b/log", "fsync /a/b", "fsync /a", "fsync "]);
      await storage.append(`${root}/a/b/other`, LINE, { durable: true });
      assert.deepEqual(trace, ["fsync /a/b/other", "fsync /a/b"]);
    },
    PROC,
  );

  check(
    "replace flushes the new file, renames, then flushes the folders",
    async (storage, root) => {
      const trace = traced(root);
      await storage.replace(`${root}/a/document`, LINE);
      assert.deepEqual(trace, ["fsync /a/.document.tmp", "rename /a/.document.tmp /a/document", "fsync /a", "fsync "]);
    },
    PROC,
  );

  check("durable appends under way at once share one flush", async (storage, root) => {
    await storage.append(`${root}/log`, LINE, { durable: true });
    const flush = mock.method(fs, "fdatasync");
    await Promise.all(Array.from({ length: 50 }, () => storage.append(`${root}/log`, LINE, { durable: true })));
    assert.equal(flush.mock.callCount(), 1);
  });

  /** Holds every fdatasync until told how it ends. */
  function held() {
    /** @type {((error: Error | null) => void)[]} */
    const begun = [];
    /** @type {(() => void) | undefined} */
    let heard;
    mock.method(fs, "fdatasync", (/** @type {number} */ _fd, /** @type {fs.NoParamCallback} */ done) => {
      begun.push(done);
      heard?.();
    });
    return /** @returns {Promise<(error: Error | null) => void>} the next one */ async () => {
      if (begun.length === 0) await new Promise((resolve) => (heard = () => resolve(undefined)));
      return /** @type {(error: Error | null) => void} */ (begun.shift());
    };
  }

  check("a flush begun before an append proves nothing about it", async (storage, root) => {
    await storage.append(`${root}/log`, LINE, { durable: true });
    const next = held();
    const first = storage.append(`${root}/log`, LINE, { durable: true });
    const endFirst = await next();
    let acknowledged = false;
    const second = storage.append(`${root}/log`, LINE, { durable: true }).then(() => (acknowledged = true));
    endFirst(null);
    await first;
    const endSecond = await next();
    assert.ok(!acknowledged);
    endSecond(null);
    await second;
  });

  check(
    "a failed flush fails all who waited, proves nothing later, and the next append opens anew",
    async (storage, root) => {
      await storage.append(`${root}/log`, LINE, { durable: true });
      const next = held();
      const first = storage.append(`${root}/log`, LINE, { durable: true });
      const endFirst = await next();
      const second = storage.append(`${root}/log`, LINE, { durable: true });
      const failure = Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
      endFirst(failure);
      for (const append of [first, second]) {
        await assert.rejects(append, { code: "storage_failed", written: LINE.length, durable: false, cause: failure });
      }
      assert.deepEqual(openUnder(root), []);
      const open = mock.method(fs, "openSync");
      const whole = mock.method(fs, "fsync");
      await storage.append(`${root}/log`, LINE, { durable: true });
      assert.equal(open.mock.calls[0].arguments[0], `${root}/log`);
      assert.equal(whole.mock.callCount(), 2);
      assert.equal(fs.statSync(`${root}/log`).size, 4 * LINE.length);
    },
    PROC,
  );

  check(
    "a folder whose flush failed is flushed again, and the append is not durable",
    async (storage, root) => {
      const { fsync } = fs;
      mock.method(fs, "fsync", (/** @type {number} */ fd, /** @type {fs.NoParamCallback} */ done) => {
        if (fs.fstatSync(fd).isDirectory()) done(Object.assign(new Error("EIO: i/o error"), { code: "EIO" }));
        else fsync(fd, done);
      });
      const path = `${root}/a/b/log`;
      await assert.rejects(storage.append(path, LINE, { durable: true }), {
        code: "storage_failed",
        durable: false,
        written: LINE.length,
      });
      await assert.rejects(storage.replace(`${root}/a/document`, LINE), { code: "storage_failed", durable: false });
      assert.deepEqual(await storage.read(`${root}/a/document`), LINE);
      mock.restoreAll();
      const trace = traced(root);
      await storage.append(path, LINE, { durable: true });
      assert.deepEqual(trace, ["fsync /a/b/log", "fsync /a/b", "fsync /a", "fsync "]);
    },
    PROC,
  );

  check("a filesystem that cannot flush folders is taken as it is", async (storage, root) => {
    const { fsync } = fs;
    mock.method(fs, "fsync", (/** @type {number} */ fd, /** @type {fs.NoParamCallback} */ done) => {
      if (fs.fstatSync(fd).isDirectory()) done(Object.assign(new Error("EINVAL: invalid"), { code: "EINVAL" }));
      else fsync(fd, done);
    });
    await storage.append(`${root}/a/log`, LINE, { durable: true });
  });

  check(
    "replace writes on where the system takes only a part, and gives up where it takes nothing",
    async (storage, root) => {
      const { writeSync } = fs;
      const bytes = Uint8Array.from({ length: 5000 }, (_, index) => index % 251);
      let most = 999;
      mock.method(fs, "writeSync", (/** @type {number} */ fd, /** @type {Uint8Array} */ part) =>
        writeSync(fd, part.subarray(0, most)),
      );
      await storage.replace(`${root}/document`, bytes);
      assert.deepEqual(await storage.read(`${root}/document`), bytes);
      most = 0;
      await assert.rejects(storage.replace(`${root}/document`, LINE), { code: "storage_failed" });
      assert.deepEqual(await storage.read(`${root}/document`), bytes);
      assert.deepEqual(fs.readdirSync(root), ["document"]);
    },
  );

  check(
    "on Windows a rename is tried again while another program holds the file",
    async (storage, root) => {
      const { renameSync } = fs;
      const codes = ["EPERM", "EACCES", "EBUSY"];
      const renaming = mock.method(fs, "renameSync", (/** @type {string} */ from, /** @type {string} */ to) => {
        const code = codes.shift();
        if (code) throw Object.assign(new Error(`${code}: held`), { code });
        renameSync(from, to);
      });
      await assert.rejects(storage.replace(`${root}/document`, LINE), { code: "permission_denied" });
      const { platform } = process;
      Object.defineProperty(process, "platform", { value: "win32" });
      try {
        await storage.replace(`${root}/document`, LINE);
      } finally {
        Object.defineProperty(process, "platform", { value: platform });
      }
      assert.equal(renaming.mock.callCount(), 4);
      assert.deepEqual(await storage.read(`${root}/document`), LINE);
    },
    POSIX,
  );
});
