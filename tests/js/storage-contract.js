// @ts-check

/**
 * What every storage must do. A storage's own test calls `storageContract(name, make)`.
 *
 * @import { Storage } from "../../js/storage/contract.js"
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { LeftoffError } from "../../js/error.js";

/**
 * @typedef {{ storage: Storage, root: string, done?: () => unknown }} StorageScene `root`: an empty folder, or a
 *   missing one
 */

const bytesOf = (/** @type {string} */ text) => new TextEncoder().encode(text);
const textOf = (/** @type {Uint8Array | null} */ bytes) => bytes && new TextDecoder().decode(bytes);
/** Every byte value, in an order that no text has. */
const BINARY = Uint8Array.from({ length: 1024 }, (_, index) => (index * 167 + (index >> 8)) % 256);

/**
 * @param {string} name
 * @param {() => Promise<StorageScene>} make
 */
export function storageContract(name, make) {
  /** @param {string} law @param {(storage: Storage, root: string) => Promise<void>} body */
  const check = (law, body) =>
    test(law, async () => {
      const { storage, root, done } = await make();
      try {
        await body(storage, root);
      } finally {
        await storage.close();
        await done?.();
      }
    });

  describe(`the storage contract: ${name}`, () => {
    reading(check);
    appending(check);
    replacing(check);
    moving(check);
    listingFiles(check);
    foldersAndRemoval(check);
    closing(check);
  });
}

/** @typedef {(law: string, body: (storage: Storage, root: string) => Promise<void>) => unknown} Check */

/** @param {Promise<unknown>} promise @param {string} code @param {string} path */
async function expectRefusal(promise, code, path) {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof LeftoffError, `expected a LeftoffError, but found ${error} instead`);
    assert.equal(error.code, code);
    assert.ok(error.message.includes(path), `expected the path in "${error.message}"`);
    return true;
  });
}

/** @param {Check} check */
function reading(check) {
  check("what is absent is null to every verb that reads", async (storage, root) => {
    for (const path of [`${root}/none`, `${root}/none/deeper`]) {
      assert.equal(await storage.read(path), null);
      assert.equal(await storage.readRange(path, 0, 10), null);
      assert.equal(await storage.list(path), null);
      assert.equal(await storage.stat(path), null);
    }
  });

  check("what lies beneath a file is absent", async (storage, root) => {
    await storage.append(`${root}/file`, bytesOf("x"));
    const path = `${root}/file/beneath`;
    assert.equal(await storage.read(path), null);
    assert.equal(await storage.readRange(path, 0, 1), null);
    assert.equal(await storage.list(path), null);
    assert.equal(await storage.stat(path), null);
    await storage.remove(path);
    assert.equal(textOf(await storage.read(`${root}/file`)), "x");
  });

  check("an empty file is not an absent one", async (storage, root) => {
    await storage.replace(`${root}/empty`, new Uint8Array(0));
    assert.deepEqual(await storage.read(`${root}/empty`), new Uint8Array(0));
    assert.deepEqual(await storage.readRange(`${root}/empty`, 0, 5), new Uint8Array(0));
    assert.equal((await storage.stat(`${root}/empty`))?.size, 0);
  });

  check("a range is half open, and shorter where the file ends", async (storage, root) => {
    const path = `${root}/binary`;
    await storage.append(path, BINARY);
    const edges = [0, 1, 2, 255, 256, 511, 1022, 1023, 1024, 1025, 5000, Infinity];
    for (const start of edges.filter(Number.isFinite)) {
      for (const end of edges.filter((edge) => edge >= start)) {
        assert.deepEqual(await storage.readRange(path, start, end), BINARY.slice(start, end), `${start} to ${end}`);
        const into = new Uint8Array(16).fill(7);
        assert.deepEqual(
          await storage.readRange(path, start, end, { into }),
          BINARY.slice(start, end),
          `${start} to ${end}, into others' memory`,
        );
      }
    }
  });

  check("a range that cannot be meant is refused", async (storage, root) => {
    await storage.append(`${root}/file`, BINARY);
    for (const [start, end] of [
      [-1, 4],
      [4, 3],
      [0.5, 4],
      [0, 4.5],
      [NaN, 4],
      [0, NaN],
      [Infinity, Infinity],
    ]) {
      await expectRefusal(storage.readRange(`${root}/file`, start, end), "invalid_range", `${root}/file`);
    }
  });

  check("what was read is the caller's own", async (storage, root) => {
    await storage.append(`${root}/file`, bytesOf("kept"));
    for (const bytes of [await storage.read(`${root}/file`), await storage.readRange(`${root}/file`, 0, 4)]) {
      assert.equal(Object.getPrototypeOf(bytes), Uint8Array.prototype);
      bytes?.fill(0);
    }
    assert.equal(textOf(await storage.read(`${root}/file`)), "kept");
  });

  check("what was written stays the caller's own", async (storage, root) => {
    const bytes = bytesOf("kept");
    await storage.replace(`${root}/whole`, bytes);
    await storage.append(`${root}/log`, bytes);
    bytes.fill(0);
    assert.equal(textOf(await storage.read(`${root}/whole`)), "kept");
    assert.equal(textOf(await storage.read(`${root}/log`)), "kept");
  });

  check("a folder is not read as a file", async (storage, root) => {
    await storage.append(`${root}/folder/file`, bytesOf("x"));
    await expectRefusal(storage.read(`${root}/folder`), "not_a_file", `${root}/folder`);
    await expectRefusal(storage.readRange(`${root}/folder`, 0, 1), "not_a_file", `${root}/folder`);
  });
}

/** @param {Check} check */
function appending(check) {
  check("append answers with the size of the file after it", async (storage, root) => {
    const path = `${root}/a/b/c/log`;
    let size = 0;
    for (const [index, length] of [1, 10, 0, 1023, 5000, 70000].entries()) {
      size += length;
      const { end, stat } = await storage.append(path, new Uint8Array(length), { durable: index % 2 === 0 });
      assert.equal(end, size);
      const found = await storage.stat(path);
      assert.deepEqual([found?.kind, found?.size], ["file", size]);
      if (stat) assert.deepEqual(stat, found);
    }
  });

  check("an append of nothing makes the file", async (storage, root) => {
    assert.equal((await storage.append(`${root}/new/log`, new Uint8Array(0))).end, 0);
    assert.deepEqual(await storage.read(`${root}/new/log`), new Uint8Array(0));
  });

  check("appends under way at once land whole and in call order", async (storage, root) => {
    const lines = Array.from({ length: 200 }, (_, index) => `${index} ${"x".repeat((index * 7919) % 40000)}\n`);
    const path = `${root}/log`;
    const ends = await Promise.all(
      lines.map((line, at) => storage.append(path, bytesOf(line), { durable: at % 3 === 0 })),
    );
    let size = 0;
    assert.deepEqual(
      ends.map(({ end }) => end),
      lines.map((line) => (size += line.length)),
    );
    assert.ok(
      textOf(await storage.read(path)) === lines.join(""),
      "expected the lines in call order, but found others",
    );
  });

  check("the bytes are taken before append returns", async (storage, root) => {
    const bytes = bytesOf("first");
    const pending = storage.append(`${root}/log`, bytes);
    bytes.fill(0);
    await pending;
    assert.equal(textOf(await storage.read(`${root}/log`)), "first");
  });

  check("a view of a larger buffer is written as the view, every byte as it is", async (storage, root) => {
    const inside = new Uint8Array(BINARY.buffer, 100, 300);
    await storage.append(`${root}/log`, inside);
    await storage.append(`${root}/log`, BINARY);
    await storage.replace(`${root}/whole`, inside);
    assert.deepEqual(await storage.read(`${root}/log`), Uint8Array.from([...BINARY.slice(100, 400), ...BINARY]));
    assert.deepEqual(await storage.read(`${root}/whole`), BINARY.slice(100, 400));
  });

  check("nothing is appended to a folder, nor beneath a file, and the error says so", async (storage, root) => {
    await storage.append(`${root}/folder/file`, bytesOf("x"));
    for (const [path, code] of [
      [`${root}/folder`, "not_a_file"],
      [`${root}/folder/file/log`, "not_a_folder"],
    ]) {
      await expectRefusal(storage.append(path, BINARY), code, path);
      await expectRefusal(storage.replace(path, BINARY), code, path);
      await assert.rejects(storage.append(path, BINARY), { written: 0 });
    }
    assert.equal(textOf(await storage.read(`${root}/folder/file`)), "x");
  });

  check(
    "within a folder that is not there nothing is made, and beneath one that is, folders are",
    async (storage, root) => {
      const within = `${root}/folder`;
      for (const path of [`${within}/log`, `${within}/deeper/log`]) {
        await expectRefusal(storage.append(path, BINARY, { within }), "not_found", path);
        await assert.rejects(storage.append(path, BINARY, { within }), { written: 0 });
        await expectRefusal(storage.replace(path, BINARY, { within }), "not_found", path);
      }
      assert.equal(await storage.stat(within), null);
      await storage.append(`${within}/log`, bytesOf("x"));
      await storage.append(`${within}/deeper/log`, bytesOf("y"), { within });
      await storage.replace(`${within}/deepest/document`, bytesOf("z"), { within });
      await storage.move(within, `${root}/moved`);
      for (const verb of /** @type {const} */ (["append", "replace"]))
        await expectRefusal(storage[verb](`${within}/log`, BINARY, { within }), "not_found", within);
      assert.equal(await storage.stat(within), null);
      assert.equal(textOf(await storage.read(`${root}/moved/deeper/log`)), "y");
    },
  );

  check("a file that was replaced is told from one that was appended to", async (storage, root) => {
    const path = `${root}/log`;
    await storage.append(path, BINARY);
    const before = (await storage.stat(path))?.file;
    await storage.append(path, BINARY);
    assert.deepEqual((await storage.stat(path))?.file, before);
    await storage.replace(path, BINARY);
    assert.notDeepEqual((await storage.stat(path))?.file, before);
  });

  check("appending goes on after a replace and after a removal", async (storage, root) => {
    const path = `${root}/log`;
    await storage.append(path, bytesOf("one"));
    await storage.replace(path, bytesOf("two"));
    assert.equal((await storage.append(path, bytesOf("+"))).end, 4);
    assert.equal(textOf(await storage.read(path)), "two+");
    await storage.remove(path);
    assert.equal((await storage.append(path, bytesOf("three"))).end, 5);
    assert.equal(textOf(await storage.read(path)), "three");
  });
}

/** @param {Check} check */
function replacing(check) {
  check("replace leaves the new bytes and nothing else, shorter or longer", async (storage, root) => {
    const path = `${root}/deep/er/document`;
    for (const length of [10, 70000, 3, 0, 1024]) {
      const bytes = new Uint8Array(length).fill(length % 251);
      await storage.replace(path, bytes);
      assert.deepEqual(await storage.read(path), bytes);
      assert.deepEqual(await storage.list(`${root}/deep/er`), [{ name: "document", kind: "file" }]);
    }
  });

  check("pieces lie one behind the other, where the storage takes several", async (storage, root) => {
    const path = `${root}/document`;
    const pieces = [bytesOf("{"), new Uint8Array(3_000_000).fill(7), new Uint8Array(0), bytesOf("}")];
    for (const durable of [true, false]) {
      if (!storage.replacePieces) return;
      await storage.replacePieces(path, pieces, { durable });
      const read = await storage.read(path);
      let at = 0;
      for (const piece of pieces) assert.deepEqual(read?.subarray(at, (at += piece.length)), piece);
      assert.equal(read?.length, at);
    }
  });

  check("who reads during a replace sees the old or the new, whole", async (storage, root) => {
    const path = `${root}/document`;
    const versions = Array.from({ length: 20 }, (_, index) => new Uint8Array(50000 + index).fill(index));
    await storage.replace(path, versions[0]);
    let writing = true;
    const writer = (async () => {
      for (const version of versions) await storage.replace(path, version);
      writing = false;
    })();
    while (writing) {
      const seen = await storage.read(path);
      assert.ok(seen && seen.length >= 50000, `expected a whole version, but found ${seen?.length} bytes instead`);
      assert.deepEqual(seen, versions[seen[0]]);
    }
    await writer;
  });

  check("of several replaces under way at once the last called wins", async (storage, root) => {
    const path = `${root}/document`;
    await Promise.all(Array.from({ length: 20 }, (_, index) => storage.replace(path, bytesOf(`version ${index}`))));
    assert.equal(textOf(await storage.read(path)), "version 19");
    assert.deepEqual(await storage.list(root), [{ name: "document", kind: "file" }]);
  });
}

/** @param {Check} check */
function moving(check) {
  check(
    "move puts a file, or a folder with all in it, in another place and leaves nothing where it was",
    async (storage, root) => {
      for (const path of ["a/log", "a/deep/er/log", "ab/log"]) await storage.append(`${root}/${path}`, bytesOf(path));
      await storage.move(`${root}/a`, `${root}/new/place/a`);
      await storage.move(`${root}/ab/log`, `${root}/new/log`);
      assert.equal(await storage.stat(`${root}/a`), null);
      assert.equal(await storage.read(`${root}/a/deep/er/log`), null);
      assert.deepEqual(
        await storage.list(root),
        ["ab", "new"].map((name) => ({ name, kind: "folder" })),
      );
      assert.deepEqual(await storage.list(`${root}/ab`), []);
      for (const path of ["a/log", "a/deep/er/log"])
        assert.equal(textOf(await storage.read(`${root}/new/place/${path}`)), path);
      assert.equal(textOf(await storage.read(`${root}/new/log`)), "ab/log");
      await storage.move(`${root}/new/place/a/deep`, `${root}/a`);
      assert.equal(textOf(await storage.read(`${root}/a/er/log`)), "a/deep/er/log");
    },
  );

  check("what is appended after a move goes where the path leads", async (storage, root) => {
    await storage.append(`${root}/a/log`, bytesOf("one"), { durable: true });
    await storage.append(`${root}/log`, bytesOf("two"));
    await storage.move(`${root}/a`, `${root}/b`);
    await storage.move(`${root}/log`, `${root}/moved`);
    assert.equal((await storage.append(`${root}/b/log`, bytesOf("+"), { durable: true })).end, 4);
    assert.equal((await storage.append(`${root}/moved`, bytesOf("+"))).end, 4);
    for (const path of ["a/log", "log"])
      assert.equal((await storage.append(`${root}/${path}`, bytesOf("new"), { durable: true })).end, 3);
    for (const [path, text] of [
      ["a/log", "new"],
      ["b/log", "one+"],
      ["log", "new"],
      ["moved", "two+"],
    ]) {
      assert.equal(textOf(await storage.read(`${root}/${path}`)), text);
    }
  });

  check("a move of nothing is no success, and makes nothing", async (storage, root) => {
    await storage.append(`${root}/file`, bytesOf("x"));
    for (const path of [`${root}/none`, `${root}/none/deeper`, `${root}/file/beneath`]) {
      await expectRefusal(storage.move(path, `${root}/new/place`), "not_found", path);
    }
    assert.deepEqual(await storage.list(root), [{ name: "file", kind: "file" }]);
  });

  check("nothing is moved to where something is, be it an empty folder or itself", async (storage, root) => {
    for (const path of ["a/log", "b/log", "empty/log", "file"]) await storage.append(`${root}/${path}`, bytesOf(path));
    await storage.remove(`${root}/empty/log`);
    for (const from of ["a", "a/log", "file", "empty"]) {
      for (const to of ["a", "b", "empty", "file", "b/log"]) {
        await expectRefusal(storage.move(`${root}/${from}`, `${root}/${to}`), "already_exists", `${root}/${to}`);
      }
    }
    for (const path of ["a/log", "b/log", "file"]) assert.equal(textOf(await storage.read(`${root}/${path}`)), path);
    assert.deepEqual(await storage.list(`${root}/empty`), []);
  });

  check("nothing is moved into itself, nor beneath a file", async (storage, root) => {
    await storage.append(`${root}/a/b/log`, bytesOf("x"));
    await storage.append(`${root}/file`, bytesOf("x"));
    for (const to of ["a/c", "a/b/c", "a/new/er"])
      await expectRefusal(storage.move(`${root}/a`, `${root}/${to}`), "invalid_path", `${root}/a`);
    for (const to of ["file/c", "file/c/d"])
      await expectRefusal(storage.move(`${root}/a`, `${root}/${to}`), "not_a_folder", `${root}/${to}`);
    assert.deepEqual(await storage.list(root), [
      { name: "a", kind: "folder" },
      { name: "file", kind: "file" },
    ]);
    assert.deepEqual(await storage.list(`${root}/a`), [{ name: "b", kind: "folder" }]);
  });

  check(
    "of several moves to one place at once one happens, and the others stay where they are",
    async (storage, root) => {
      for (const kind of ["/log", ""]) {
        const paths = Array.from({ length: 10 }, (_, index) => `${root}/${index}`);
        for (const path of paths) await storage.append(path + kind, bytesOf(path));
        const outcomes = await Promise.allSettled(paths.map((path) => storage.move(path, `${root}/to`)));
        const [won, ...more] = paths.filter((_, index) => outcomes[index]?.status === "fulfilled");
        assert.deepEqual(more, []);
        assert.equal(textOf(await storage.read(`${root}/to${kind}`)), won);
        for (const path of paths.filter((one) => one !== won)) {
          assert.equal(textOf(await storage.read(path + kind)), path);
          await storage.remove(path);
        }
        await storage.remove(`${root}/to`);
      }
    },
  );
}

/** @param {Check} check */
function listingFiles(check) {
  check("list gives each folder the stats of the files asked for, in their order", async (storage, root) => {
    for (const path of ["a/one", "a/two/deeper", "b/one", "c/other", "one"])
      await storage.append(`${root}/${path}`, bytesOf(path));
    const found = await storage.list(root, { files: ["two", "one", "none"] });
    const of = (/** @type {string} */ path) => storage.stat(`${root}/${path}`);
    assert.deepEqual(found, [
      { name: "a", kind: "folder", files: [await of("a/two"), await of("a/one"), null] },
      { name: "b", kind: "folder", files: [null, await of("b/one"), null] },
      { name: "c", kind: "folder", files: [null, null, null] },
      { name: "one", kind: "file" },
    ]);
    assert.deepEqual(
      found?.[0]?.files?.map((stat) => stat && [stat.kind, stat.size]),
      [["folder", 0], ["file", 5], null],
    );
    assert.deepEqual(await storage.list(`${root}/a`, { files: [] }), [
      { name: "one", kind: "file" },
      { name: "two", kind: "folder", files: [] },
    ]);
    assert.equal(await storage.list(`${root}/none`, { files: ["one"] }), null);
    assert.equal(await storage.list(`${root}/one/beneath`, { files: ["one"] }), null);
    await expectRefusal(storage.list(`${root}/one`, { files: ["one"] }), "not_a_folder", `${root}/one`);
  });

  check("only a plain name is looked for in folders", async (storage, root) => {
    await storage.append(`${root}/a/one`, BINARY);
    for (const name of ["", ".", "..", "../a", "b/c", "/", "a\\b", "a\0"]) {
      await expectRefusal(storage.list(root, { files: ["one", name] }), "invalid_path", root);
    }
  });
}

/** @param {Check} check */
function foldersAndRemoval(check) {
  check("list gives files and folders, sorted by name, and not what is deeper", async (storage, root) => {
    for (const path of ["b", "a/deep/er", "Z", "ü", "a.jsonl", ".session/x"])
      await storage.append(`${root}/${path}`, BINARY);
    assert.deepEqual(await storage.list(root), [
      { name: ".session", kind: "folder" },
      { name: "Z", kind: "file" },
      { name: "a", kind: "folder" },
      { name: "a.jsonl", kind: "file" },
      { name: "b", kind: "file" },
      { name: "ü", kind: "file" },
    ]);
    assert.deepEqual(await storage.list(`${root}/a`), [{ name: "deep", kind: "folder" }]);
  });

  check("a file is not listed as a folder", async (storage, root) => {
    await storage.append(`${root}/file`, BINARY);
    await expectRefusal(storage.list(`${root}/file`), "not_a_folder", `${root}/file`);
  });

  check("stat tells kinds apart, and a change moves the time forward or leaves it", async (storage, root) => {
    const path = `${root}/folder/file`;
    await storage.append(path, BINARY);
    const before = await storage.stat(path);
    await storage.append(path, BINARY);
    const after = await storage.stat(path);
    assert.ok(before && after && after.mtimeMs >= before.mtimeMs && before.mtimeMs > 0);
    assert.deepEqual([after.kind, after.size], ["file", 2048]);
    const folder = await storage.stat(`${root}/folder`);
    assert.deepEqual([folder?.kind, folder?.size], ["folder", 0]);
  });

  check("each change moves the time of any change forward, sooner or later", async (storage, root) => {
    const path = `${root}/folder/file`;
    const ctimes = async () =>
      Promise.all([path, `${root}/folder`].map(async (one) => (await storage.stat(one))?.ctimeMs ?? 0));
    /** @type {(() => Promise<unknown>)[]} */
    const changes = [
      () => storage.append(path, BINARY),
      () => storage.replace(path, BINARY),
      () => storage.remove(path).then(() => storage.append(path, BINARY)),
    ];
    await storage.append(path, BINARY);
    for (const [index, change] of changes.entries()) {
      const before = await ctimes();
      let after = before;
      // A runtime may tell whole seconds alone, in which a fast disk takes any number of changes.
      for (const end = performance.now() + 20_000; performance.now() < end && after[0] === before[0];) {
        await change();
        after = await ctimes();
      }
      assert.ok(after[0] > before[0], `expected change ${index} to be noticed, but found ${before} and ${after}`);
      assert.ok(after[1] >= before[1]);
    }
  });

  check(
    "remove takes a file, or a folder with all in it, and nothing beside it; twice is no error",
    async (storage, root) => {
      for (const path of ["a/one", "a/two/three", "ab", "b/one"]) await storage.append(`${root}/${path}`, BINARY);
      for (const path of ["a", "a", "b/one", "b/one", "none/at/all"]) await storage.remove(`${root}/${path}`);
      assert.equal(await storage.list(`${root}/a`), null);
      assert.equal(await storage.read(`${root}/a/two/three`), null);
      assert.deepEqual(await storage.list(`${root}/b`), []);
      assert.deepEqual(await storage.list(root), [
        { name: "ab", kind: "file" },
        { name: "b", kind: "folder" },
      ]);
    },
  );
}

/** @param {Check} check */
function closing(check) {
  check("close waits for what was under way, and may be called twice", async (storage, root) => {
    let settled = 0;
    const count = () => (settled += 1);
    const path = `${root}/new/folder/log`;
    storage.append(path, BINARY, { durable: true }).then(count);
    storage.replace(`${root}/document`, BINARY).then(count);
    storage.replace(`${root}/document`, BINARY).then(count);
    await Promise.all([storage.close(), storage.close()]);
    await new Promise((resolve) => setImmediate(resolve)); // Their own callbacks run first.
    assert.equal(settled, 3);
  });

  check("a closed storage does nothing more", async (storage, root) => {
    const path = `${root}/log`;
    await storage.append(path, BINARY);
    await storage.close();
    /** @type {(() => Promise<unknown>)[]} */
    const verbs = [
      () => storage.read(path),
      () => storage.readRange(path, 0, 1),
      () => storage.append(path, BINARY),
      () => storage.replace(path, BINARY),
      () => storage.list(root),
      () => storage.list(root, { files: ["log"] }),
      () => storage.move(path, `${root}/moved`),
      () => storage.remove(path),
      () => storage.stat(path),
    ];
    for (const verb of verbs) await expectRefusal(verb(), "storage_closed", root);
    await assert.rejects(storage.append(path, BINARY), { written: 0 });
  });
}
