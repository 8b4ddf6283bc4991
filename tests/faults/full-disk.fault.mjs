// @ts-check
/** A disk that is full, or a file that may not grow, costs what is refused and nothing else. */
// Tries: js/storage/node.js, js/storage/whole-file.js, src/operation/append.rs

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { cannotMount, chance, digest, mount, scene, sha256, system, unmount } from "./tools.mjs";

/** @import { Child, Start } from "./tools.mjs" */
/** @typedef {{ start: Start, home: string, limit: number, seed: number }} Round `limit`: bytes */

const filler = fileURLToPath(new URL("filler.mjs", import.meta.url));
const KIB = 1024;
const MIB = 1024 * KIB;
const ROOM = 512 * MIB;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "a full disk is named in the error, cuts no file that was whole, and loses no acknowledged record",
  async run({ scaled, seed }) {
    const random = chance(seed);
    const counts = {
      "full disks": scaled(200),
      "file size limits": scaled(100),
      acknowledged: 0,
      refused: 0,
      "not created": 0,
    };
    return scene("full-disk", async ({ folder, start }) => {
      const skipped = cannotMount(folder);
      if (skipped) return { skipped };
      for (const [what, round] of /** @type {const} */ ([
        ["full disks", onFullDisk],
        ["file size limits", underLimit],
      ])) {
        for (let n = 0; n < counts[what]; n += 1) {
          const home = join(folder, `${what.replaceAll(" ", "-")}-${n}`);
          mkdirSync(home);
          const { acknowledged, refused } = await round({
            start,
            home,
            limit: random.size(KIB, MIB),
            seed: random.below(2 ** 31),
          });
          counts.acknowledged += acknowledged;
          counts.refused += refused.length;
          counts["not created"] += refused.includes("create") ? 1 : 0;
          rmSync(home, { recursive: true });
        }
      }
      return counts;
    });
  },
};

/** @param {Round} round */
async function onFullDisk({ start, home, limit, seed }) {
  mount(home, limit);
  const child = start(process.execPath, [filler, home, String(seed)]);
  const counted = await fullAndBack(child, home, () => system("mount", ["-o", `remount,size=${ROOM}`, home]));
  unmount(home);
  return counted;
}

/** @param {Round} round */
async function underLimit({ start, home, limit, seed }) {
  const child = start("prlimit", [`--fsize=${limit}:unlimited`, process.execPath, filler, home, String(seed)]);
  return fullAndBack(child, home, () => system("prlimit", ["--pid", String(child.pid), "--fsize=unlimited"]));
}

/** @param {Child} child @param {string} home @param {() => void} makeRoom */
async function fullAndBack(child, home, makeRoom) {
  await child.until((said) => said.at(-1) === "full");
  if (child.said.at(-1) !== "full") throw new Error(`it ended before the disk was full: ${(await child.ended).stderr}`);
  await nothingIsLost(child, home);
  const refused = refusals(child);
  assert.ok(refused.length > 0, "the disk became full");
  for (const { code, name, message } of refused) {
    assert.deepEqual([name, code], ["LeftoffError", "disk_full"], message);
    assert.ok(message.includes(`"${home}/`), `expected the path in "${message}"`);
  }
  const before = logs(home);
  makeRoom();
  child.tell("room");
  const { code, stderr } = await child.ended;
  assert.equal(code, 0, stderr);
  assert.equal(refusals(child).length, refused.length, `with room again: ${JSON.stringify(refusals(child).at(-1))}`);
  const now = logs(home);
  before.forEach((old, path) =>
    assert.equal(sha256((now.get(path) ?? old).subarray(0, old.length)), sha256(old), `${path}: old bytes changed`),
  );
  const acknowledged = await nothingIsLost(child, home);
  return { acknowledged, refused: refused.map((one) => one.refused) };
}

/** @param {Child} child @returns {{ refused: string, name: string, code?: string, message: string }[]} */
function refusals({ said }) {
  return said.filter((one) => one.refused);
}

/**
 * A reader that saw nothing before finds each record once, and each document is whole.
 * @param {Child} child
 * @param {string} home
 */
async function nothingIsLost({ said }, home) {
  const documents = files(home).filter((path) => path.endsWith("metadata.json") || /cache\/[^/]*\.json$/.test(path));
  for (const path of documents) JSON.parse(readFileSync(path, "utf8"));
  assert.deepEqual(
    files(home).filter((path) => path.endsWith(".tmp")),
    [],
    "what was not put in its place is gone",
  );
  const kept = new Map(said.flatMap((one) => one.kept ?? []).map(({ id, hash }) => [id, hash]));
  const acknowledged = kept.size;
  const store = await openStore({ home, project: "/" });
  const seen = new Set();
  for (const { id } of await store.list()) {
    for await (const message of (await store.session(id)).messages()) {
      assert.ok(!seen.has(message.id), `${message.id} is there twice`);
      seen.add(message.id);
      if (kept.has(message.id))
        assert.equal(digest(message), kept.get(message.id), `${message.id} says something else`);
      kept.delete(message.id);
    }
  }
  assert.deepEqual([...kept.keys()], [], "acknowledged, and lost");
  await store.close();
  return acknowledged;
}

/** @param {string} home @returns {Map<string, Uint8Array>} */
function logs(home) {
  return new Map(
    files(home)
      .filter((path) => path.endsWith(".jsonl"))
      .map((path) => [path, readFileSync(path)]),
  );
}

/** @param {string} home */
function files(home) {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
