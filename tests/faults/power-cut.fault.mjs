// @ts-check
/**
 * The power of a real filesystem is cut while sessions are written; what was acknowledged `durable` is there
 * afterwards.
 */
// Tries: js/storage/flush.js, js/storage/node.js

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { chance, digest, scene } from "./tools.mjs";

/** @import { Start } from "./tools.mjs" */
/** @typedef {{ mount: () => void, unmount: () => void, at: string }} Disk */
/**
 * @typedef {{ home: string, session: string, durable: Map<string, string>, buffered: Map<string, string> }} Home id ->
 *   hash
 */

const writer = fileURLToPath(new URL("until-dark.mjs", import.meta.url));
const cutter = fileURLToPath(new URL("cut-power.py", import.meta.url));
const CYCLES_PER_HOME = 8;
const RELEASED_MS = 20_000;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "no durable record is lost in a power cut, nor in a second one during recovery",
  async run({ scaled, seed }) {
    const random = chance(seed);
    const wanted = scaled(300);
    const counts = {
      cuts: 0,
      "during recovery": 0,
      homes: 0,
      "durable records": 0,
      "buffered lost": 0,
      "buffered records": 0,
    };
    return scene("power-cut", async ({ folder, start }) => {
      const disk = makeDisk(folder);
      if ("skipped" in disk) return disk;
      try {
        while (counts.cuts < wanted) {
          await oneHome({ disk, start, random, counts, until: Math.min(wanted, counts.cuts + CYCLES_PER_HOME) });
        }
      } finally {
        disk.unmount();
      }
      return counts;
    });
  },
};

/** A filesystem of its own in a file, not mounted. @param {string} folder @returns {Disk | { skipped: string }} */
function makeDisk(folder) {
  const [file, at] = [join(folder, "disk"), join(folder, "mounted")];
  mkdirSync(at);
  /** @param {string[]} command @returns {string} why it failed */
  const failed = ([name = "", ...args]) => {
    const { status, stderr, error } = spawnSync(name, args, { encoding: "utf8" });
    return status === 0 ? "" : `"${name}" does not work here: ${error?.message ?? stderr.trim()}`;
  };
  const mount = () => failed(["mount", "-o", "loop", file, at]);
  const steps = [
    ["python3", "--version"],
    ["truncate", "-s", "256M", file],
    ["mkfs.ext4", "-q", file],
  ];
  for (const step of steps) {
    const skipped = failed(step);
    if (skipped) return { skipped };
  }
  const skipped = mount();
  if (skipped) return { skipped };
  failed(["umount", at]);
  return {
    at,
    mount: () => {
      // A process that was killed may have a file open for a moment. Mounted again before that is closed, it is the
      // disk that is dark, and not what is read of it when there is power again.
      for (const until = Date.now() + RELEASED_MS; ; failed(["umount", "--lazy", at])) {
        assert.equal(mount(), "");
        if (isLit(at)) return;
        assert.ok(Date.now() < until, "expected the disk to be let go of, but something has it open still");
      }
    },
    unmount: () => void (failed(["umount", at]) && failed(["umount", "--lazy", at])),
  };
}

/** Whether a disk can be written to. @param {string} at */
function isLit(at) {
  const file = join(at, "lit");
  try {
    writeFileSync(file, "");
    rmSync(file);
    return true;
  } catch (error) {
    assert.ok(["EIO", "EROFS"].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? ""), String(error));
    return false;
  }
}

/**
 * @param {{ disk: Disk, start: Start, random: ReturnType<typeof chance>, counts: Record<string, number>, until: number }} options
 */
async function oneHome({ disk, start, random, counts, until }) {
  /** @type {Home} */
  const home = { home: join(disk.at, `home ${counts.homes}`), session: "", durable: new Map(), buffered: new Map() };
  while (counts.cuts < until) {
    disk.mount();
    await untilDark({ disk, home, start, random, acknowledgments: random.below(30), momentS: random.real() * 0.02 });
    counts.cuts += 1;
    if (counts.cuts < until && random.below(3) === 0) {
      disk.mount();
      // Starting takes about as long: it is opening, sealing or appending first.
      await untilDark({ disk, home, start, random, acknowledgments: 0, momentS: random.real() * 0.3 });
      counts.cuts += 1;
      counts["during recovery"] += 1;
    }
    disk.mount();
    counts["buffered lost"] += await nothingIsLost(home);
    disk.unmount();
  }
  counts["durable records"] += home.durable.size;
  counts["buffered records"] += home.buffered.size;
  counts.homes += 1;
  disk.mount();
  rmSync(home.home, { recursive: true, force: true });
  disk.unmount();
}

/**
 * Lets a process write to the mounted disk, cuts, and unmounts.
 * @param {{ disk: Disk, home: Home, start: Start, random: ReturnType<typeof chance>, acknowledgments: number, momentS: number }} options
 */
async function untilDark({ disk, home, start, random, acknowledgments, momentS }) {
  const child = start(process.execPath, [writer, home.home, String(random.below(2 ** 31))]);
  if (acknowledgments > 0) await child.until((said) => said.length > acknowledgments);
  const cut = start("python3", [cutter, disk.at, String(momentS)]);
  const { code, stderr } = await cut.ended;
  assert.equal(code, 0, `the power was not cut: ${stderr}`);
  const darkUs = cut.said[0] / 1000;
  child.kill();
  await child.ended;
  disk.unmount();
  // A machine without power acknowledges nothing; here the process lives on for a moment, and a flush that was under
  // way may be called a success.
  for (const { session, acknowledged, kept } of child.said.filter(({ atUs = 0 }) => atUs < darkUs)) {
    if (session) {
      assert.ok(home.session === "" || home.session === session, "the session was not found again");
      home.session = session;
    }
    for (const { id, hash } of kept ?? []) (acknowledged === "durable" ? home.durable : home.buffered).set(id, hash);
  }
}

/** @param {Home} home @returns {Promise<number>} how many of those are gone that were only buffered */
async function nothingIsLost({ home, session: id, durable, buffered }) {
  if (id === "") {
    // It was dark before the session was there; nothing was promised.
    if (existsSync(home)) await (await openStore({ home, project: "/" })).list();
    return 0;
  }
  const store = await openStore({ home, project: "/" });
  const listed = (await store.list()).map((one) => one.id);
  assert.ok(listed.includes(id), `the session is not listed: ${listed}`);
  const session = await store.session(id);
  assert.equal(session.metadata.id, id);
  const draft = { role: "user", content: "afterwards" };
  const { records } = await session.append(draft);
  durable.set(records[0]?.id ?? "", digest(draft));
  const found = new Map();
  for await (const message of session.messages()) {
    assert.ok(!found.has(message.id), `${message.id} is there twice`);
    found.set(message.id, digest(message));
  }
  for (const [id, hash] of durable) assert.equal(found.get(id), hash, `acknowledged as durable, and lost: ${id}`);
  assert.ok(session.metadata.stats.messageCount >= durable.size, "the metadata count fewer messages than there are");
  const lost = [...buffered.keys()].filter((id) => !found.has(id));
  for (const id of lost) buffered.delete(id);
  await store.close();
  return lost.length;
}
