// @ts-check

/** The file storage against a real system: modes, links, refusals, full disks, several processes. */
// Tries: js/storage/node.js, js/storage/file-reader.js, js/storage/open-file.js, js/storage/link.js, js/storage/system-errors.js

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { describe, mock } from "node:test";

import { LeftoffError } from "../../js/error.js";
import { LINE, POSIX, check, inProcess, missing } from "./storage-tools.js";

/** A shell in namespaces of its own with a small disk at $1; it goes when the shell goes. @param {string} options */
const withDisk = (options) => [
  "unshare",
  "--map-root-user",
  "--mount",
  "sh",
  "-c",
  `d="$1"; shift; mount -t tmpfs -o ${options} none "$d" && exec "$@"`,
  "sh",
];
const DISK = missing("unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt");

/** @param {string} path */
const mode = (path) => (fs.statSync(path).mode & 0o777).toString(8);

describe("modes and links", () => {
  for (const umask of [0o000, 0o022, 0o077, 0o277, 0o777]) {
    check(
      `files are 0600 and folders 0700 under umask ${umask.toString(8).padStart(3, "0")}`,
      async (_, root) => {
        await inProcess(
          [],
          `
        process.umask(args[1]);
        await storage.append(args[0] + "/a/b/log", new Uint8Array(3));
        await storage.replace(args[0] + "/c/d/document", new Uint8Array(3));`,
          root,
          umask,
        );
        for (const folder of ["a", "a/b", "c", "c/d"]) assert.equal(mode(`${root}/${folder}`), "700", folder);
        for (const file of ["a/b/log", "c/d/document"]) assert.equal(mode(`${root}/${file}`), "600", file);
      },
      POSIX,
    );
  }

  check(
    "no moment is open to others: modes are right before any is mended",
    async (_, root) => {
      await inProcess(
        [],
        `
      process.umask(0);
      fs.chmodSync = fs.fchmodSync = () => {};
      await storage.append(args[0] + "/a/log", new Uint8Array(3));
      await storage.replace(args[0] + "/a/document", new Uint8Array(3));`,
        root,
      );
      assert.deepEqual(
        ["a", "a/log", "a/document"].map((path) => mode(`${root}/${path}`)),
        ["700", "600", "600"],
      );
    },
    POSIX,
  );

  check(
    "the mode of a file that was there is left alone by append",
    async (storage, root) => {
      fs.writeFileSync(`${root}/log`, "there\n");
      fs.chmodSync(`${root}/log`, 0o640);
      await storage.append(`${root}/log`, LINE);
      assert.equal(mode(`${root}/log`), "640");
    },
    POSIX,
  );

  check(
    "nothing is written through a link, be it whole, dangling, or put there later",
    async (storage, root) => {
      fs.writeFileSync(`${root}/target`, "untouched");
      fs.symlinkSync("target", `${root}/link`);
      fs.symlinkSync("nowhere", `${root}/dangling`);
      await storage.append(`${root}/log`, LINE);
      fs.renameSync(`${root}/link`, `${root}/log`);
      for (const path of [`${root}/log`, `${root}/dangling`]) {
        await assert.rejects(storage.append(path, LINE), { name: "LeftoffError", code: "not_a_file", written: 0 });
        await assert.rejects(storage.replace(path, LINE), { name: "LeftoffError", code: "not_a_file" });
      }
      assert.equal(fs.readFileSync(`${root}/target`, "utf8"), "untouched");
      assert.equal(fs.readlinkSync(`${root}/log`), "target");
      assert.ok(!fs.existsSync(`${root}/nowhere`));
    },
    POSIX,
  );

  check(
    "a link is put in the place of another also where the system renames none over it, and where it cannot be nothing is left over",
    async (storage, root) => {
      for (const name of ["a", "b"]) fs.mkdirSync(`${root}/${name}`);
      assert.equal(await storage.link(`${root}/link`, `${root}/a`), true);
      const refused = () => {
        throw Object.assign(new Error("EPERM"), { code: "EPERM" });
      };
      mock.method(fs, "renameSync", refused, { times: 1 });
      assert.equal(await storage.link(`${root}/link`, `${root}/b`), true);
      assert.equal(fs.readlinkSync(`${root}/link`), `${root}/b`);
      mock.method(fs, "renameSync", refused);
      await assert.rejects(storage.link(`${root}/new`, `${root}/b`), { code: "permission_denied" });
      assert.deepEqual(fs.readdirSync(root).sort(), ["a", "b", "link"]);
    },
    POSIX,
  );

  check(
    "what is no link is not replaced by one",
    async (storage, root) => {
      fs.writeFileSync(`${root}/file`, "untouched");
      fs.mkdirSync(`${root}/folder`);
      for (const taken of ["file", "folder"])
        await assert.rejects(storage.link(`${root}/${taken}`, `${root}/folder`), { code: "already_exists" });
      assert.equal(fs.readFileSync(`${root}/file`, "utf8"), "untouched");
    },
    POSIX,
  );

  check(
    "nothing is written through a link put there while the storage was looking",
    async (storage, root) => {
      fs.writeFileSync(`${root}/target`, "untouched");
      const { lstatSync } = fs;
      mock.method(
        fs,
        "lstatSync",
        (/** @type {string} */ path, /** @type {any} */ options) => {
          const found = lstatSync(path, options);
          fs.symlinkSync("target", path);
          return found;
        },
        { times: 1 },
      );
      await assert.rejects(storage.append(`${root}/log`, LINE), { code: "not_a_file", written: 0 });
      assert.equal(fs.readFileSync(`${root}/target`, "utf8"), "untouched");
    },
    POSIX,
  );

  check(
    "a link is `other` to list and stat, and remove leaves what it leads to",
    async (storage, root) => {
      await storage.append(`${root}/folder/file`, LINE);
      fs.symlinkSync("folder", `${root}/link`);
      assert.equal((await storage.stat(`${root}/link`))?.kind, "other");
      assert.deepEqual(await storage.list(root), [
        { name: "folder", kind: "folder" },
        { name: "link", kind: "other" },
      ]);
      await storage.remove(`${root}/link`);
      assert.deepEqual(await storage.read(`${root}/folder/file`), LINE);
    },
    POSIX,
  );

  check(
    "a pipe is refused at once, neither read nor written",
    async (storage, root) => {
      spawnSync("mkfifo", [`${root}/pipe`]);
      assert.equal((await storage.stat(`${root}/pipe`))?.kind, "other");
      await assert.rejects(storage.read(`${root}/pipe`), { code: "not_a_file" });
      await assert.rejects(storage.append(`${root}/pipe`, LINE), { code: "not_a_file", written: 0 });
      const reader = fs.openSync(`${root}/pipe`, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
      await assert.rejects(storage.append(`${root}/pipe`, LINE), { code: "not_a_file", written: 0 });
      fs.closeSync(reader);
    },
    POSIX,
  );
});

describe("what the system refuses", () => {
  const stranger = process.getuid?.() === 0 ? "process.setgid(65534); process.setuid(65534);" : "";

  check(
    "permission denied is not absence",
    async (_, root) => {
      fs.mkdirSync(`${root}/closed`);
      fs.writeFileSync(`${root}/closed/file`, "x");
      fs.writeFileSync(`${root}/file`, "x");
      fs.chmodSync(`${root}/file`, 0o000);
      fs.chmodSync(`${root}/closed`, 0o000);
      fs.chmodSync(root, 0o555);
      const errors = await inProcess(
        [],
        `${stranger}
      const [root] = args, bytes = new Uint8Array(3);
      return Promise.all([
        storage.read(root + "/file"), storage.readRange(root + "/file", 0, 1), storage.append(root + "/file", bytes),
        storage.list(root + "/closed"), storage.read(root + "/closed/file"), storage.stat(root + "/closed/file"),
        storage.append(root + "/new", bytes), storage.append(root + "/new/log", bytes), storage.replace(root + "/file", bytes),
        storage.remove(root + "/file"), storage.remove(root + "/closed/file"),
      ].map(caught));`,
        root,
      );
      fs.chmodSync(root, 0o700);
      fs.chmodSync(`${root}/closed`, 0o700);
      assert.deepEqual(
        errors.map((/** @type {any} */ error) => error?.code),
        Array(11).fill("permission_denied"),
      );
      assert.deepEqual(fs.readdirSync(root).sort(), ["closed", "file"]);
    },
    POSIX,
  );

  check(
    "no descriptor left is too_many_files, and nothing is lost",
    async (_, root) => {
      const errors = await inProcess(
        ["sh", "-c", 'ulimit -n 128 && exec "$@"', "sh"],
        `
      const path = args[0] + "/log", bytes = new Uint8Array(3);
      await storage.append(path, bytes);
      try { for (;;) fs.openSync("/dev/null"); } catch {}
      const kept = await storage.append(path, bytes);
      const others = [storage.read(path), storage.append(path + "2", bytes), storage.replace(path + "3", bytes)];
      return [kept, ...(await Promise.all(others.map(caught)))];`,
        root,
      );
      assert.equal(errors[0].end, 6);
      assert.deepEqual(
        errors.slice(1).map((/** @type {any} */ error) => error?.code),
        Array(3).fill("too_many_files"),
      );
      assert.equal(fs.statSync(`${root}/log`).size, 6);
    },
    POSIX,
  );

  check(
    "a filesystem mounted read-only is read_only",
    async (_, root) => {
      const errors = await inProcess(
        [...withDisk("ro"), root],
        `
      const path = args[0] + "/new/log", bytes = new Uint8Array(3);
      return Promise.all([storage.append(path, bytes), storage.replace(path, bytes)].map(caught));`,
        root,
      );
      assert.deepEqual(
        errors.map((/** @type {any} */ error) => error?.code),
        ["read_only", "read_only"],
      );
    },
    DISK,
  );

  check(
    "on a full disk an append says how many bytes got in, and does not try again",
    async (_, root) => {
      const { errors, sizes } = await inProcess(
        [...withDisk("size=64k"), root],
        `
      const path = args[0] + "/log", bytes = new Uint8Array(10000);
      const errors = [], sizes = [];
      while (errors.length < 2) {
        const error = await caught(storage.append(path, bytes));
        if (error) errors.push(error);
        sizes.push(fs.statSync(path).size);
      }
      return { errors, sizes };`,
        root,
      );
      assert.deepEqual(
        errors.map((/** @type {any} */ error) => error.code),
        ["disk_full", "disk_full"],
      );
      const whole = sizes.length - 2;
      assert.ok(
        whole > 0 && errors[0].written > 0 && errors[0].written < 10000,
        `expected a short write, but found ${errors[0].written}`,
      );
      assert.equal(sizes.at(-1), whole * 10000 + errors[0].written);
      assert.equal(errors[1].written, 0);
    },
    DISK,
  );

  check(
    "at the file size limit an append says how many bytes got in",
    async (_, root) => {
      const errors = await inProcess(
        ["prlimit", "--fsize=25000"],
        `
      const append = () => caught(storage.append(args[0] + "/log", new Uint8Array(10000)));
      return [await append(), await append(), await append(), await append()];`,
        root,
      );
      assert.deepEqual(errors.slice(0, 2), [null, null]);
      const told = errors.slice(2).map((/** @type {any} */ { code, written }) => [code, written]);
      assert.deepEqual(told, [
        ["disk_full", 5000],
        ["disk_full", 0],
      ]);
      assert.equal(fs.statSync(`${root}/log`).size, 25000);
    },
    missing("prlimit", "--fsize=25000", "true"),
  );

  check(
    "a replace that does not fit keeps the old file and leaves nothing behind",
    async (_, root) => {
      const { error, same, names } = await inProcess(
        [...withDisk("size=64k"), root],
        `
      const path = args[0] + "/document";
      const old = Uint8Array.from({ length: 9014 }, (_, index) => index % 251);
      await storage.replace(path, old);
      const error = await caught(storage.replace(path, new Uint8Array(60014)));
      return { error, same: Buffer.from(old).equals(fs.readFileSync(path)), names: fs.readdirSync(args[0]) };`,
        root,
      );
      assert.equal(error?.code, "disk_full");
      assert.ok(same);
      assert.deepEqual(names, ["document"]);
    },
    DISK,
  );

  check(
    "what was read is given although closing fails, and a failure to read is told as such",
    async (storage, root) => {
      await storage.append(`${root}/log`, LINE);
      const { open } = fs.promises;
      mock.method(fs.promises, "open", async (/** @type {string} */ path, /** @type {number} */ flags) => {
        const handle = await open(path, flags);
        const close = handle.close.bind(handle);
        handle.close = () =>
          close().then(() => Promise.reject(Object.assign(new Error("EIO: i/o error"), { code: "EIO" })));
        return handle;
      });
      assert.deepEqual(await storage.read(`${root}/log`), LINE);
      await assert.rejects(storage.read(root), { name: "LeftoffError", code: "not_a_file" });
    },
  );

  check("an error names the path in a sentence and carries what the system said", async (storage, root) => {
    mock.method(
      fs,
      "openSync",
      () => {
        throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
      },
      { times: 1 },
    );
    await assert.rejects(storage.append(`${root}/log`, LINE), (error) => {
      assert.ok(error instanceof LeftoffError && error.cause instanceof Error);
      assert.equal(error.message, `could not append to "${root}/log": the storage failed (EIO)`);
      assert.equal(error.cause.message, "EIO: i/o error");
      assert.deepEqual([error.name, error.code, error.written], ["LeftoffError", "storage_failed", 0]);
      return true;
    });
  });
});

describe("several processes", () => {
  check("another process may be faster at making the folders and the file", async (storage, root) => {
    const { mkdirSync, openSync } = fs;
    mock.method(fs, "mkdirSync", (/** @type {string} */ path, /** @type {number} */ mode) => {
      mkdirSync(path, mode);
      mkdirSync(path, mode);
    });
    mock.method(
      fs,
      "openSync",
      (/** @type {string} */ path, /** @type {number} */ flags, /** @type {number} */ mode) => {
        if (flags & fs.constants.O_CREAT) fs.writeFileSync(path, "theirs\n");
        return openSync(path, flags, mode);
      },
    );
    await storage.append(`${root}/a/b/log`, LINE);
    assert.equal(fs.readFileSync(`${root}/a/b/log`, "utf8"), "theirs\na line\n");
  });

  check("four append 200 lines of 300 KB each to one file: none mixed, none lost", async (storage, root) => {
    const [writers, lines, length] = [4, 200, 300_000];
    // The folders are missing: making them is part of the race.
    const path = `${root}/new/folders/log`;
    const write = `
      const [path, writer, lines, length] = args;
      for (let index = 0; index < lines; index += 1) {
        const line = Buffer.alloc(length, 97 + writer);
        line.write(writer + " " + index + " ");
        line[length - 1] = 10;
        const { end } = await storage.append(path, line);
        if (end < (index + 1) * length) throw new Error("end " + end);
      }`;
    await Promise.all(
      Array.from({ length: writers }, (_, writer) => inProcess([], write, path, writer, lines, length)),
    );
    assert.equal((await storage.stat(path))?.size, writers * lines * length);
    const expected = Array(writers).fill(0);
    for (let start = 0; start < writers * lines * length; start += length) {
      const line = Buffer.from(/** @type {Uint8Array} */ (await storage.readRange(path, start, start + length)));
      const writer = line[0] - 48;
      const whole = Buffer.alloc(length, 97 + writer);
      whole.write(`${writer} ${expected[writer]} `);
      whole[length - 1] = 10;
      assert.ok(
        line.equals(whole),
        `expected line ${expected[writer]} of writer ${writer} at byte ${start}, but found another`,
      );
      expected[writer] += 1;
    }
    assert.deepEqual(expected, Array(writers).fill(lines));
  });
});

describe("reads", () => {
  const text = (/** @type {Uint8Array | null} */ bytes) => new TextDecoder().decode(bytes ?? undefined);

  check("those that begin together open their file once, and all is closed afterwards", async (storage, root) => {
    const path = `${root}/log`;
    // More than the system gives at once are read beside each other.
    fs.writeFileSync(
      path,
      Uint8Array.from({ length: 300_000 }, (_, place) => place % 251),
    );
    const opened = mock.method(fs, "openSync");
    const closed = mock.method(fs, "closeSync");
    const ofLog = () => opened.mock.calls.filter(({ arguments: [at] }) => String(at).endsWith("/log")).length;
    const parts = await Promise.all(
      Array.from({ length: 40 }, (_, place) => storage.readRange(path, place * 7000, place * 7000 + 100)),
    );
    parts.forEach((part, place) => assert.deepEqual(part?.[0], (place * 7000) % 251));
    assert.equal((await storage.readRange(path, 0, 200_000))?.length, 200_000);
    assert.equal(ofLog(), 2, "once for those together, once for the later one");
    assert.equal(closed.mock.callCount(), opened.mock.callCount());
  });

  check(
    "one that begins after a file was replaced reads the new one, while others still read the old one",
    async (storage, root) => {
      const path = `${root}/document`;
      const [old, other] = ["old", "new"].map((word) => new TextEncoder().encode(word.repeat(100_000)));
      await storage.replace(path, /** @type {Uint8Array} */ (old));
      const slow = storage.read(path);
      fs.writeFileSync(`${root}/beside`, /** @type {Uint8Array} */ (other));
      fs.renameSync(`${root}/beside`, path);
      await Promise.resolve();
      const [first, then] = await Promise.all([slow, storage.readRange(path, 0, 6)]);
      assert.deepEqual([text(first).slice(0, 6), text(then)], ["oldold", "newnew"]);
    },
  );

  check("what is no file is refused to each reader, and to those who come later", async (storage, root) => {
    fs.mkdirSync(`${root}/folder`);
    const one = storage.read(`${root}/folder`);
    const other = storage.readRange(`${root}/folder`, 0, 9);
    for (const read of [one, other, storage.read(`${root}/folder`)]) await assert.rejects(read, { code: "not_a_file" });
  });
});
