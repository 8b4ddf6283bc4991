// @ts-check

/** The file storage with a root: nothing leads out of it, also where others swap what is in it meanwhile. */
// Tries: js/storage/root.js, js/storage/node.js, js/host/host.node.js, js/agents/homes.js, js/store/open-store.js

import assert from "node:assert/strict";
import fs from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, mock, test } from "node:test";
import { fileURLToPath } from "node:url";

import { userHome } from "../../js/agents/homes.js";
import { LeftoffError } from "../../js/error.js";
import { defaultHome } from "../../js/host/host.node.js";
import { openStore } from "../../js/store/open-store.js";
import { NodeStorage } from "../../js/storage/node.js";
import { LINE, POSIX, PROC, inProcess, makeRoot, withoutProc } from "./storage-tools.js";

/** @import { Store } from "../../js/store/store.js" */
/** @typedef {{ storage: NodeStorage, root: string, outside: string }} Scene `root` and `outside` lie side by side */

const SECRET = "the secret\n";
const WAYS = {
  "with /proc": { make: async (/** @type {string} */ root) => new NodeStorage({ root }), skip: PROC },
  "without /proc": { make: withoutProc, skip: /** @type {string | false} */ (false) },
};

/**
 * Every verb at a path.
 * @type {Record<string, (storage: NodeStorage, path: string, root: string) => Promise<unknown>>}
 */
const VERBS = {
  read: (storage, path) => storage.read(path),
  readRange: (storage, path) => storage.readRange(path, 0, 3),
  append: (storage, path) => storage.append(path, LINE, { durable: true }),
  replace: (storage, path) => storage.replace(path, LINE),
  list: (storage, path) => storage.list(path),
  "list with files": (storage, path) => storage.list(path, { files: ["log"] }),
  "move from": (storage, path) => storage.move(path, join(dirname(path), "moved")),
  "move to": (storage, path, root) =>
    storage.append(`${root}/mine`, LINE).then(() => storage.move(`${root}/mine`, path)),
  stat: (storage, path) => storage.stat(path),
  remove: (storage, path) => storage.remove(path),
};

/**
 * A test in each way; at its end what lies outside is as it was.
 * @param {string} law
 * @param {(scene: Scene, way: string) => unknown} body
 * @param {string | false} [needs] what the test itself lacks here
 */
function check(law, body, needs = false) {
  for (const [way, { make, skip }] of Object.entries(WAYS)) {
    test(`${law}, ${way}`, { skip: POSIX || skip || needs }, async () => {
      const folder = makeRoot();
      const [root, outside] = [`${folder}/root`, `${folder}/outside`];
      fs.mkdirSync(root);
      fs.mkdirSync(`${outside}/deep`, { recursive: true });
      for (const name of ["log", "deep/log"]) fs.writeFileSync(`${outside}/${name}`, SECRET);
      const storage = await make(root);
      try {
        await body({ storage, root, outside }, way);
        mock.restoreAll();
        await storage.close();
        assert.deepEqual(fs.readdirSync(outside, { recursive: true }).sort(), ["deep", "deep/log", "log"]);
        for (const name of ["log", "deep/log"]) assert.equal(fs.readFileSync(`${outside}/${name}`, "utf8"), SECRET);
      } finally {
        mock.restoreAll();
        fs.rmSync(folder, { recursive: true });
      }
    });
  }
}

/** @param {Promise<unknown>} promise @param {string} path */
function expectOutside(promise, path) {
  return assert.rejects(promise, (error) => {
    assert.ok(error instanceof LeftoffError, String(error));
    assert.equal(error.code, "outside_store");
    assert.ok(error.message.includes(path));
    assert.match(error.message, /: expected a .*, but found .* instead$/);
    return true;
  });
}

describe("a root", () => {
  check("keeps out every path that is not below it, or takes a way around", async ({ storage, root, outside }) => {
    await storage.append(`${root}/a/log`, LINE);
    const paths = [
      outside,
      `${outside}/log`,
      `${root}x`,
      "/",
      dirname(root),
      `${root}/../outside/log`,
      `${root}/a/../../outside/log`,
      `${root}/a/../a/log`,
      `${root}/./a`,
      `${root}//a`,
      `${root}/a/`,
      `${root}/a/log\0`,
      `${root}/..`,
      "log",
      "../outside/log",
      "",
    ];
    for (const path of paths) {
      for (const call of Object.values(VERBS)) await expectOutside(call(storage, path, root), path);
    }
    await assert.rejects(storage.append(`${outside}/log`, LINE), { written: 0 });
    assert.deepEqual(await storage.read(`${root}/a/log`), LINE);
  });

  check("lets no link pass, be it a folder on the way or the last name", async ({ storage, root, outside }) => {
    fs.mkdirSync(`${root}/a/b`, { recursive: true });
    fs.symlinkSync(outside, `${root}/folder`);
    fs.symlinkSync("../../outside", `${root}/a/relative`);
    fs.symlinkSync("b", `${root}/a/inside`);
    fs.symlinkSync(`${outside}/none`, `${root}/dangling`);
    fs.symlinkSync(`${outside}/log`, `${root}/file`);
    const last = ["folder", "a/relative", "a/inside", "dangling", "file"];
    const beneath = [
      "folder/log",
      "folder/new",
      "a/relative/deep/log",
      "a/relative/new/log",
      "a/inside/log",
      "dangling/log",
    ];
    for (const name of [...beneath, ...last]) {
      const isLast = last.includes(name);
      for (const [verb, call] of Object.entries(VERBS)) {
        if (!isLast || verb !== "remove")
          await expectOutside(call(storage, `${root}/${name}`, root), `${root}/${name}`);
      }
    }
    for (const name of last) {
      await storage.remove(`${root}/${name}`);
      assert.equal(await storage.stat(`${root}/${name}`), null);
    }
  });

  check(
    "is itself neither a file nor removed, and a link in its own place is refused",
    async ({ storage, root, outside }) => {
      assert.equal((await storage.stat(root))?.kind, "folder");
      await assert.rejects(storage.read(root), { code: "not_a_file" });
      await assert.rejects(storage.append(root, LINE), { code: "not_a_file" });
      await assert.rejects(storage.replace(root, LINE), LeftoffError);
      await assert.rejects(storage.move(root, `${root}/new/place`), { code: "invalid_path" });
      await expectOutside(storage.move(root, `${outside}/root`), root);
      await storage.append(`${root}/log`, LINE);
      await expectOutside(storage.remove(root), root);
      await assert.rejects(storage.move(`${root}/log`, root), { code: "already_exists" });
      assert.deepEqual(await storage.list(root), [{ name: "log", kind: "file" }]);
      fs.renameSync(root, `${root}.moved`);
      fs.symlinkSync(outside, root);
      for (const call of Object.values(VERBS)) await expectOutside(call(storage, `${root}/log`, root), root);
    },
  );

  check(
    "holds where a folder on the way becomes a link right before any call to the system",
    async ({ storage, root, outside }, way) => {
      const calls = /** @type {const} */ ([
        "openSync",
        "lstatSync",
        "mkdirSync",
        "closeSync",
        "fstatSync",
        "renameSync",
        "linkSync",
        "unlinkSync",
        "readlinkSync",
      ]);
      const promised = /** @type {const} */ (["open", "lstat", "readdir", "rm", "rename"]);
      /** @type {typeof VERBS} */
      const verbs = {
        ...VERBS,
        "remove the folder": (storage, path) => storage.remove(dirname(path)),
        "move the folder": (storage, path) => storage.move(dirname(path), `${root}/moved`),
        "move into the folder": (storage, path) => VERBS["move to"](storage, `${path}.new`, root),
      };
      for (const [verb, call] of Object.entries(verbs)) {
        // What is named by its path alone can be removed or moved elsewhere: root.js says so.
        if (/^(remove|move)/.test(verb) && way === "without /proc") continue;
        for (let at = 1, isOver = false; !isOver; at += 1) {
          fs.mkdirSync(`${root}/deep`, { recursive: true });
          fs.writeFileSync(`${root}/deep/log`, "mine\n");
          let left = at;
          const swap = () => {
            left -= 1;
            if (left !== 0 || !fs.existsSync(`${root}/deep`)) return;
            fs.renameSync(`${root}/deep`, `${root}/aside`);
            fs.symlinkSync(`${outside}/deep`, `${root}/deep`);
          };
          for (const [owner, names] of /** @type {[any, readonly string[]][]} */ ([
            [fs, calls],
            [fs.promises, promised],
          ])) {
            for (const name of names) {
              const original = owner[name];
              mock.method(owner, name, (/** @type {any[]} */ ...args) => (swap(), original.apply(owner, args)));
            }
          }
          const path = verb.startsWith("list") ? `${root}/deep` : `${root}/deep/log`;
          const [outcome] = await Promise.allSettled([call(storage, path, root)]);
          mock.restoreAll();
          isOver = left > 0;
          if (outcome.status === "rejected")
            assert.ok(outcome.reason instanceof LeftoffError, String(outcome.reason.stack));
          else if (outcome.value instanceof Uint8Array)
            assert.ok("mine\n".startsWith(new TextDecoder().decode(outcome.value)), verb);
          assert.deepEqual(fs.readdirSync(`${outside}/deep`), ["log"], `${verb}, swapped before call ${at}`);
          assert.equal(fs.readFileSync(`${outside}/deep/log`, "utf8"), SECRET, `${verb}, swapped before call ${at}`);
          await storage.remove(`${root}/deep`);
          await storage.remove(`${root}/aside`);
          await storage.remove(`${root}/moved`);
        }
      }
    },
  );

  check("holds where a folder is a link just while a file in it is opened", async ({ storage, root, outside }) => {
    const away = () => {
      fs.renameSync(`${root}/deep`, `${root}/aside`);
      fs.symlinkSync(`${outside}/deep`, `${root}/deep`);
    };
    const back = () => {
      fs.unlinkSync(`${root}/deep`);
      fs.renameSync(`${root}/aside`, `${root}/deep`);
    };
    fs.mkdirSync(`${root}/deep`);
    fs.writeFileSync(`${root}/deep/log`, "mine\n");
    const { openSync } = fs;
    const { open } = fs.promises;
    const isFile = (/** @type {unknown} */ path) => String(path).endsWith("log");
    mock.method(fs.promises, "open", async (/** @type {Parameters<typeof open>} */ ...args) => {
      away();
      return open(...args).finally(back);
    });
    mock.method(fs, "openSync", (/** @type {Parameters<typeof openSync>} */ ...args) => {
      if (isFile(args[0])) away();
      try {
        return openSync(...args);
      } finally {
        if (isFile(args[0])) back();
      }
    });
    for (const verb of ["read", "append"]) {
      const [outcome] = await Promise.allSettled([VERBS[verb]?.(storage, `${root}/deep/log`, root)]);
      if (outcome?.status === "rejected") assert.equal(outcome.reason.code, "outside_store", verb);
      else if (verb === "read")
        assert.equal(new TextDecoder().decode(/** @type {Uint8Array} */ (outcome?.value)), "mine\n");
    }
  });

  check(
    "tells nothing of a file elsewhere, where a folder is a link just while it is looked into",
    async ({ storage, root, outside }) => {
      fs.mkdirSync(`${root}/deep`);
      fs.writeFileSync(`${root}/deep/log`, "mine\n");
      const { lstatSync } = fs;
      let wasMet = false;
      for (let at = 1, isOver = false; !isOver; at += 1) {
        // Until the last swap is old enough for the way by plain paths.
        while (Date.now() - lstatSync(root).ctimeMs < 30) await new Promise((resolve) => setImmediate(resolve));
        let left = at;
        mock.method(fs, "lstatSync", (/** @type {any[]} */ ...args) => {
          left -= 1;
          if (left !== 0) return /** @type {any} */ (lstatSync)(...args);
          fs.renameSync(`${root}/deep`, `${root}/aside`);
          fs.symlinkSync(`${outside}/deep`, `${root}/deep`);
          try {
            const found = /** @type {any} */ (lstatSync)(...args);
            wasMet ||= Number(found?.size) === SECRET.length && found.isFile();
            return found;
          } finally {
            fs.unlinkSync(`${root}/deep`);
            fs.renameSync(`${root}/aside`, `${root}/deep`);
          }
        });
        const [outcome] = await Promise.allSettled([storage.list(root, { files: ["log"] })]);
        mock.restoreAll();
        isOver = left > 0;
        if (outcome.status === "rejected") assert.equal(outcome.reason.code, "outside_store");
        else
          assert.deepEqual(
            outcome.value?.map(({ files }) => files?.[0]?.size),
            ["mine\n".length],
            `swapped at look ${at}`,
          );
      }
      assert.ok(wasMet, "no look was led astray");
    },
  );

  check(
    "flushes what it makes, with each new folder and its own",
    async ({ storage, root }) => {
      /** @type {string[]} */
      const flushed = [];
      const { fsync } = fs;
      mock.method(fs, "fsync", (/** @type {number} */ fd, /** @type {fs.NoParamCallback} */ done) => {
        flushed.push(fs.readlinkSync(`/proc/self/fd/${fd}`).replace(dirname(root), ""));
        fsync(fd, done);
      });
      fs.rmdirSync(root);
      await storage.append(`${root}/a/b/log`, LINE, { durable: true });
      assert.deepEqual(flushed, ["/root/a/b/log", "/root/a/b", "/root/a", "/root", ""]);
    },
    PROC,
  );

  check(
    "keeps no descriptor but those of its logs",
    async ({ storage, root, outside }) => {
      // Folders are kept until other work has its turn.
      const count = async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return fs.readdirSync("/proc/self/fd").length;
      };
      fs.symlinkSync(outside, `${root}/link`);
      await storage.append(`${root}/a/b/log`, LINE);
      const before = await count();
      for (const path of [
        `${root}/a/b/log`,
        `${root}/a/b/none`,
        `${root}/none/none`,
        `${root}/a/b/log/x`,
        `${root}/a`,
        `${root}/link/log`,
      ]) {
        for (const verb of ["read", "readRange", "list", "list with files", "stat"])
          await Promise.allSettled([VERBS[verb]?.(storage, path, root)]);
      }
      for (const verb of ["append", "replace", "remove", "move from"])
        await Promise.allSettled([VERBS[verb]?.(storage, `${root}/link/log`, root)]);
      await storage.replace(`${root}/a/d/document`, LINE);
      await storage.move(`${root}/a/d`, `${root}/a/e`);
      await Promise.allSettled([
        storage.move(`${root}/a/e`, `${root}/a/b`),
        storage.move(`${root}/a/e`, `${root}/link/e`),
      ]);
      await storage.replace(`${root}/a/c/document`, LINE);
      await storage.remove(`${root}/a/c`);
      assert.equal(await count(), before);
    },
    PROC,
  );
});

test("a root may be reached through links, and may be missing at first", { skip: POSIX }, async () => {
  const folder = makeRoot();
  fs.mkdirSync(`${folder}/data/x`, { recursive: true });
  fs.symlinkSync("data", `${folder}/linked`);
  fs.symlinkSync(`${folder}/linked/x`, `${folder}/home`);
  for (const root of [`${folder}/home`, `${folder}/linked/x`, `${folder}/linked/new/er`]) {
    const storage = new NodeStorage({ root });
    assert.equal(await storage.read(`${root}/none`), await storage.list(`${root}/none`));
    for (const size of [LINE.length, 2 * LINE.length]) {
      assert.equal((await storage.append(`${root}/a/log`, LINE, { durable: true })).end, size);
    }
    await storage.replace(`${root}/a/document`, LINE);
    assert.deepEqual(
      await storage.list(`${root}/a`),
      ["document", "log"].map((name) => ({ name, kind: "file" })),
    );
    assert.equal((await storage.stat(`${root}/a/log`))?.size, 2 * LINE.length);
    assert.deepEqual(await storage.readRange(`${root}/a/log`, 0, 7), LINE);
    await storage.close();
    assert.deepEqual(fs.readdirSync(fs.realpathSync(`${root}/a`)).sort(), ["document", "log"]);
    fs.rmSync(`${root}/a`, { recursive: true });
  }
  fs.rmSync(folder, { recursive: true });
});

test("below a root files are 0600 and folders 0700 under any umask", { skip: POSIX }, async () => {
  const folder = makeRoot();
  for (const umask of [0o000, 0o022, 0o277, 0o777]) {
    const root = join(folder, umask.toString(8));
    await inProcess(
      [],
      `
      process.umask(args[1]);
      const storage = new NodeStorage({ root: args[0] });
      await storage.append(args[0] + "/a/b/log", new Uint8Array(3));
      await storage.replace(args[0] + "/a/c/document", new Uint8Array(3));`,
      root,
      umask,
    );
    const modes = ["", "a", "a/b", "a/c", "a/b/log", "a/c/document"].map((name) =>
      (fs.statSync(join(root, name)).mode & 0o777).toString(8),
    );
    assert.deepEqual(modes, ["700", "700", "700", "700", "600", "600"], `umask ${umask.toString(8)}`);
  }
  fs.rmSync(folder, { recursive: true });
});

test(
  "where the environment names no home, the store is in the user's own folder, and not where one happens to be",
  { skip: POSIX },
  () => {
    const { HOME, LEFTOFF_HOME } = process.env;
    Object.assign(process.env, { HOME: "", LEFTOFF_HOME: "" });
    try {
      assert.deepEqual([defaultHome(), userHome({})], [join(userInfo().homedir, ".leftoff"), userInfo().homedir]);
    } finally {
      Object.assign(process.env, { HOME, LEFTOFF_HOME });
      if (LEFTOFF_HOME === undefined) delete process.env.LEFTOFF_HOME;
    }
  },
);

test("on Windows no device, stream or shortened name is opened", async () => {
  const root = makeRoot();
  const { platform } = process;
  Object.defineProperty(process, "platform", { value: "win32" });
  try {
    const storage = new NodeStorage({ root });
    for (const name of [
      "CON",
      "nul",
      "com1.json",
      "a/LPT9",
      "com¹",
      "nul .txt",
      "CONIN$",
      "log:stream",
      "log.",
      "log ",
      "a\tb",
      "a\\..\\b",
      "C:",
    ])
      await expectOutside(storage.read(`${root}/${name}`), name);
    for (const name of ["console", "com", "nul-1", "a\\b"]) assert.equal(await storage.read(`${root}/${name}`), null);
  } finally {
    Object.defineProperty(process, "platform", { value: platform });
    fs.rmSync(root, { recursive: true });
  }
});

describe("a store", () => {
  const project = makeRoot();
  after(() => fs.rmSync(project, { recursive: true }));

  /** @param {string} law @param {(folder: string, home: string) => Promise<void>} body */
  function inHome(law, body) {
    test(law, { skip: POSIX }, async () => {
      const folder = makeRoot();
      try {
        await body(folder, `${folder}/home`);
      } finally {
        fs.rmSync(folder, { recursive: true });
      }
    });
  }

  /** @template T @param {string} home @param {(store: Store) => Promise<T>} work */
  async function inStore(home, work) {
    const store = await openStore({ home, project });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** A home with one message in one session. @param {string} home */
  const filled = (home) =>
    inStore(home, async (store) => {
      const session = await store.create();
      await session.append({ role: "user", content: "kept" });
      return { id: session.id, path: session.path };
    });

  /** What a session says. @param {string} home @param {string} id */
  const told = (home, id) =>
    inStore(home, async (store) => {
      const texts = [];
      for await (const { content } of (await store.session(id)).messages()) texts.push(content);
      return texts;
    });

  inHome(
    "knows a session whose id was forged into a path by its folder, and caches it at home",
    async (folder, home) => {
      const { id, path } = await filled(home);
      fs.rmSync(`${home}/cache`, { recursive: true });
      const events = fs
        .readFileSync(`${path}/events.jsonl`, "utf8")
        .replace(`"session":"${id}"`, '"session":"../../escaped"')
        .replace(/,"crc":"\w+"/, "");
      fs.writeFileSync(`${path}/events.jsonl`, events);
      await inStore(home, async (store) => (await store.session(id)).append({ role: "user", content: "more" }));
      assert.deepEqual(await told(home, id), ["kept", "more"]);
      assert.deepEqual(fs.readdirSync(folder), ["home"]);
      assert.ok(fs.existsSync(`${home}/cache/${id}.json`));
    },
  );

  inHome("lists and opens what is its own, whatever links lie beside it", async (folder, home) => {
    const { id, path } = await filled(home);
    fs.mkdirSync(`${folder}/outside`);
    for (const place of [`${dirname(path)}/session-0`, `${home}/sessions/projects/0`])
      fs.symlinkSync(`${folder}/outside`, place);
    fs.writeFileSync(`${home}/sessions/projects/.DS_Store`, "");
    assert.deepEqual(await told(home, id), ["kept"]);
  });

  inHome("takes no link for another holder, and leaves it alone", async (folder, home) => {
    const { id } = await filled(home);
    const open = `${home}/cache/${id}.open`;
    fs.mkdirSync(open, { recursive: true });
    fs.symlinkSync(`${folder}/nowhere`, `${open}/link.json`);
    assert.deepEqual(await inStore(home, async (store) => (await store.session(id)).others()), []);
    assert.deepEqual(fs.readdirSync(open), ["link.json"]);
  });

  inHome("refuses a log that is a link, and does not take it for an empty one", async (folder, home) => {
    const { id, path } = await filled(home);
    fs.renameSync(`${path}/messages.jsonl`, `${folder}/messages.jsonl`);
    fs.symlinkSync(`${folder}/messages.jsonl`, `${path}/messages.jsonl`);
    await expectOutside(told(home, id), `${path}/messages.jsonl`);
  });

  inHome("reads what it imports from outside, also through a link", async (folder, home) => {
    const transcript = fileURLToPath(
      new URL("../fixtures/claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl", import.meta.url),
    );
    fs.symlinkSync(transcript, `${folder}/link.jsonl`);
    const { imported } = await inStore(home, (store) => store.import(`${folder}/link.jsonl`));
    assert.ok(imported[0].added > 0);
  });

  inHome("works where its home is a link", async (folder, home) => {
    fs.mkdirSync(`${folder}/data`);
    fs.symlinkSync("data", home);
    const { id } = await filled(home);
    assert.deepEqual(await told(home, id), ["kept"]);
    assert.deepEqual(fs.readdirSync(`${folder}/data`).sort(), ["cache", "sessions"]);
  });
});
