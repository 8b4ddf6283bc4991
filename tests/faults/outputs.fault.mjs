// @ts-check
/** Large tool outputs: killed while they are saved, on a full disk, and ten thousand of them. */
// Tries: js/store/outputs.js, src/operation/store/outputs/

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { cannotMount, chance, mount, scene, unmount } from "./tools.mjs";

/** @import { Start } from "./tools.mjs" */

const saver = fileURLToPath(new URL("saver.mjs", import.meta.url));
const LIMIT = 32_768;
const MIB = 2 ** 20;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "tool outputs: what is given out is whole, a killed run leaves what doctor clears and nothing else, and memory holds what is small, and pointers",
  async run({ scaled, seed }) {
    return scene("outputs", async ({ folder, start }) => ({
      ...(await killSavers(start, join(folder, "killed"), scaled(200), seed)),
      ...(await full(start, join(folder, "full"), scaled(100), seed)),
      ...(await saveMany(start, join(folder, "many"), scaled(10_000), seed)),
    }));
  },
};

/**
 * Killed at any moment, beside one that lives.
 * @param {Start} start
 * @param {string} home
 * @param {number} kills
 * @param {number} seed
 */
async function killSavers(start, home, kills, seed) {
  const random = chance(seed);
  const store = await openStore({ home, project: "/" });
  const mine = await store.outputs.save({ sessionId: "mine", toolName: "grep", result: "x".repeat(LIMIT) });
  let files = 0;
  for (let round = 0; round < kills; round += 1) {
    const child = start(process.execPath, [saver, home, String(seed + round)]);
    const enough = random.below(40);
    await child.until((said) => said.length > enough);
    child.kill();
    await child.ended;
    for (const { path, sizeBytes, result } of child.said) {
      if (sizeBytes < LIMIT) assert.ok(!existsSync(path));
      else assert.equal(String(await store.outputs.load(path)).length, result, path);
    }
    files += child.said.filter(({ sizeBytes }) => sizeBytes >= LIMIT).length;
    await store.doctor({ fix: true });
    const left = readdirSync(join(home, "context")).filter((name) => !mine.path.endsWith(name));
    assert.deepEqual(
      left.filter((name) => !isOfRun(home, name, process.pid)),
      [],
      `round ${round}`,
    );
    assert.deepEqual(
      (await store.doctor()).flatMap(({ problems }) => problems),
      [],
    );
  }
  assert.equal(await store.outputs.load(mine.path), "x".repeat(LIMIT));
  await store.close();
  assert.deepEqual(readdirSync(join(home, "context")), []);
  return { kills, "files of the killed": files };
}

/** What says that a run is of a process. @param {string} home @param {string} name @param {number} pid */
function isOfRun(home, name, pid) {
  return (
    /^\.[0-9a-f]{12}\.json$/.test(name) && JSON.parse(readFileSync(join(home, "context", name), "utf8")).pid === pid
  );
}

/**
 * A disk that is full.
 * @param {Start} start
 * @param {string} folder
 * @param {number} disks
 * @param {number} seed
 * @returns {Promise<Record<string, string | number>>}
 */
async function full(start, folder, disks, seed) {
  mkdirSync(folder);
  const skipped = cannotMount(folder);
  if (skipped) return { "full disks": skipped };
  const random = chance(seed + 1);
  let refused = 0;
  for (let round = 0; round < disks; round += 1) {
    const home = join(folder, String(round));
    mkdirSync(home);
    mount(home, random.size(64 * 1024, 8 * MIB));
    const child = start(process.execPath, [saver, home, String(seed + round), "40", String(20 * MIB)]);
    await child.ended;
    const codes = child.said.flatMap(({ refused: code }) => code ?? []);
    assert.deepEqual(
      codes.filter((code) => code !== "disk_full"),
      [],
    );
    refused += codes.length;
    // Whatever was refused, the others were there until the end, and what is left is nothing.
    assert.equal(child.said.at(-1).listed, 40 - codes.length);
    assert.deepEqual(existsSync(join(home, "context")) ? readdirSync(join(home, "context")) : [], []);
    unmount(home);
  }
  assert.ok(disks < 20 || refused > 0);
  return { "full disks": disks, refused };
}

/** Of all sizes. @param {Start} start @param {string} home @param {number} count @param {number} seed */
async function saveMany(start, home, count, seed) {
  const bytes = count * 400_000;
  const child = start(process.execPath, ["--expose-gc", saver, home, String(seed), String(count), String(bytes)]);
  await child.until((said) => said.length === count);
  const files = child.said.filter(({ sizeBytes }) => sizeBytes >= LIMIT);
  const largest = Math.max(...child.said.slice(0, count).map(({ sizeBytes }) => sizeBytes));
  await child.until((said) => said.length > count);
  const { listed, loaded, rss } = child.said.at(-1);
  assert.deepEqual([listed, loaded], [count, Math.ceil(count / 97)]);
  // What a process has at least, what is small, a pointer of each, and some of the largest on their way.
  const most = 250 * MIB + count * (LIMIT + 1024) + 6 * largest;
  assert.ok(rss < most, `expected at most ${most} bytes of memory, but found ${rss}`);
  const { code } = await child.ended;
  assert.equal(code, 0);
  assert.deepEqual(readdirSync(join(home, "context")), []);
  return {
    outputs: count,
    files: files.length,
    "bytes saved": child.said.reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0),
    "MiB of memory": Math.round(rss / MIB),
  };
}
