// @ts-check
/** Each system call that touches the store fails, once and for ever, with each error that a disk can give. */
// Tries: js/storage/node.js, js/storage/system-errors.js, src/operation/append.rs

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { chance, digest, scene } from "./tools.mjs";

/** @import { Start } from "./tools.mjs" */
/** @typedef {"begin" | "recover"} Mode */
/** @typedef {{ mode: Mode, call: string, index: number }} Site the `index`th call of its name in a thread, from 1 on */
/** @typedef {Site & { error: string, isForEver: boolean }} Run */
/** @typedef {Record<Mode, { paths: string[], sites: Site[] }>} RecordedSites `paths` begin behind the home folder's */

const worker = fileURLToPath(new URL("faulty.mjs", import.meta.url));
/** libuv tries again as long as a call is interrupted: for ever would never end, with any program. */
const ONCE = ["EINTR"];
const EVER = ["ENOSPC", "EIO", "EDQUOT", "EMFILE", "EACCES", "EROFS"];
const LANES = 3;
const WATCHDOG_MS = 30_000;
/** One thread for what is asynchronous, so that the same call has the same number each time. */
const ENV = { UV_THREADPOOL_SIZE: "1" };

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "no acknowledged record is lost when a system call fails once or for ever, also during recovery",
  async run({ scaled, seed }) {
    if (spawnSync("strace", ["-f", "-o", "/dev/null", "true"]).status !== 0)
      return { skipped: "strace does not work here" };
    const counts = { "call sites": 0, "of them failed": 0, runs: 0, "not met": 0, acknowledged: 0, refused: 0 };
    await scene("syscalls", async ({ folder, start }) => {
      const recorded = await record({ folder, start });
      const runs = planRuns(recorded, seed).slice(0, scaled(2000));
      counts["call sites"] = recorded.begin.sites.length + recorded.recover.sites.length;
      counts["of them failed"] = new Set(runs.map(({ mode, call, index }) => `${mode} ${call} ${index}`)).size;
      const left = runs[Symbol.iterator]();
      await Promise.all(
        Array.from({ length: LANES }, async (_, lane) => {
          for (const run of left)
            await oneRun({ run, recorded, folder, home: join(folder, `lane ${lane}`), start, counts });
        }),
      );
    });
    const all = counts.runs + counts["not met"];
    assert.ok(counts["not met"] <= 1 + 0.05 * all, `${counts["not met"]} of ${all} calls were not met`);
    return counts;
  },
};

/**
 * Every site with one error comes first, in a mixed order; then the sites with each other error.
 * @param {RecordedSites} recorded
 * @param {number} seed
 */
function planRuns(recorded, seed) {
  const random = chance(seed);
  const how = [...ONCE, ...EVER]
    .map((error) => ({ error, isForEver: false }))
    .concat(EVER.map((error) => ({ error, isForEver: true })));
  const rounds = how.map(() => /** @type {{ order: number, run: Run }[]} */ ([]));
  for (const site of [...recorded.begin.sites, ...recorded.recover.sites]) {
    const first = random.below(how.length);
    rounds.forEach((round, at) =>
      round.push({ order: random.real(), run: { ...site, ...how[(first + at) % how.length] } }),
    );
  }
  return rounds.flatMap((round) => round.sort((a, b) => a.order - b.order).map(({ run }) => run));
}

/**
 * What the worker calls where nothing fails.
 * @param {{ folder: string, start: Start }} options
 * @returns {Promise<RecordedSites>}
 */
async function record({ folder, start }) {
  const home = join(folder, "template");
  const recorded = /** @type {RecordedSites} */ ({});
  for (const mode of /** @type {const} */ (["begin", "recover"])) {
    // First all that is touched; then the same with what is to be counted only.
    const all = await traceCalls({ home: setUp(folder, mode, "seen"), mode, paths: [], start });
    const paths = [
      ...new Set(
        [...all.matchAll(new RegExp(`${join(folder, "seen")}([^">]*)[">]`, "g"))].map(([, path = ""]) => path),
      ),
    ];
    const trace = await traceCalls({ home: setUp(folder, mode, "counted"), mode, paths, start });
    recorded[mode] = { paths, sites: sitesOf(trace, mode) };
    if (mode === "begin") cpSync(join(folder, "counted"), home, { recursive: true });
  }
  return recorded;
}

/** Each call's number in its thread. @param {string} trace @param {Mode} mode */
function sitesOf(trace, mode) {
  /** @type {Map<string, number>} */
  const perThread = new Map();
  /** @type {Map<string, number>} */
  const most = new Map();
  for (const [, thread, call = ""] of trace.matchAll(/^(\d+) +(\w+)\(/gm)) {
    if (call === "execve") continue;
    const count = (perThread.get(`${thread} ${call}`) ?? 0) + 1;
    perThread.set(`${thread} ${call}`, count);
    most.set(call, Math.max(count, most.get(call) ?? 0));
  }
  return [...most].flatMap(([call, count]) =>
    Array.from({ length: count }, (_, at) => ({ mode, call, index: at + 1 })),
  );
}

/** @param {{ home: string, mode: Mode, paths: string[], start: Start }} options */
async function traceCalls({ home, mode, paths, start }) {
  const file = `${home}.trace`;
  const only = paths.flatMap((path) => ["-P", `${home}${path}`]);
  const child = start(
    "strace",
    ["-f", "-qq", "-y", "-s", "0", "-o", file, ...only, "-e", "trace=file,desc", process.execPath, worker, home, mode],
    ENV,
  );
  const { code, stderr } = await child.ended;
  assert.equal(code, 0, stderr);
  return readFileSync(file, "utf8");
}

/**
 * A home for a run: none, or one whose last append was torn.
 * @param {string} folder
 * @param {Mode} mode
 * @param {string} name
 */
function setUp(folder, mode, name) {
  const home = join(folder, name);
  rmSync(home, { recursive: true, force: true });
  if (mode === "begin") return home;
  cpSync(join(folder, "template"), home, { recursive: true });
  appendFileSync(log(home), '{"v":1,"id":"018bcfe5-6807-7000-afdc-5c6b960e08ff","role":"us');
  return home;
}

/** @param {string} home of one session */
function log(home) {
  const names = existsSync(home) ? readdirSync(home, { recursive: true, encoding: "utf8" }) : [];
  const found = names.find((name) => name.endsWith("messages.jsonl"));
  return found ? join(home, found) : "";
}

/** @param {string} path */
function bytesOf(path) {
  return path && existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}

/**
 * @param {{ run: Run, recorded: RecordedSites, folder: string, home: string, start: Start, counts: Record<string, number> }} options
 */
async function oneRun({ run, recorded, folder, home, start, counts }) {
  const { mode, call, index, error, isForEver } = run;
  setUp(folder, mode, home.slice(folder.length + 1));
  const before = bytesOf(log(home));
  const fault = `${call}:error=${error}:when=${index}${isForEver ? "+" : ""}`;
  const paths = recorded[mode].paths.flatMap((path) => ["-P", `${home}${path}`]);
  const trace = `${home}.trace`;
  const child = start(
    "strace",
    [
      "-f",
      "-qq",
      "-o",
      trace,
      ...paths,
      "-e",
      `trace=${call}`,
      "-e",
      `inject=${fault}`,
      process.execPath,
      worker,
      home,
      mode,
    ],
    ENV,
  );
  const watchdog = setTimeout(child.kill, WATCHDOG_MS);
  const { code, signal, stderr } = await child.ended;
  clearTimeout(watchdog);
  try {
    assert.equal(signal, null, `it hangs, having said ${JSON.stringify(child.said)}`);
    assert.equal(code, 0, `it crashed: ${stderr}`);
    const calls = readFileSync(trace, "utf8");
    // A folder is kept open for one turn of the event loop, so a life opens and closes a few more or fewer than another.
    const isMet = sitesOf(calls, mode).some((site) => site.index === index);
    if (isMet) assert.match(calls, /INJECTED/, "nothing failed");
    await laws({ said: child.said, home, before, run, counts });
    counts[isMet ? "runs" : "not met"] += 1;
  } catch (cause) {
    throw new Error(`${mode}, ${fault}`, { cause });
  }
}

/** @param {{ said: any[], home: string, before: Buffer, run: Run, counts: Record<string, number> }} options */
async function laws({ said, home, before, run, counts }) {
  const refused = said.filter(({ refused }) => refused);
  for (const { what, refused: error } of refused) {
    assert.equal(error.name, "LeftoffError", `${what} was refused by another error: ${error.stack}`);
    assert.ok(
      error.code && error.code !== "internal",
      `${what} was refused without a code, or for a bug: ${error.stack}`,
    );
  }
  counts.refused += refused.length;
  const kept = said.flatMap(({ kept }) => kept ?? []);
  if (!run.isForEver) {
    assert.equal(said.filter(({ kept }) => kept).length, 4, `one failure was not got over: ${JSON.stringify(refused)}`);
  }
  const left = bytesOf(log(home));
  assert.ok(left.subarray(0, before.length).equals(before), "old bytes changed");
  await nothingIsLost({ home, kept, session: said.find(({ session }) => session)?.session });
  assert.ok(bytesOf(log(home)).subarray(0, left.length).equals(left), "old bytes changed on the next append");
  counts.acknowledged += kept.length;
}

/**
 * Without faults: who sees the store for the first time finds all, and can append.
 * @param {{ home: string, kept: { id: string, hash: string }[], session?: string }} options
 */
async function nothingIsLost({ home, kept, session }) {
  const store = await openStore({ home, project: "/" });
  const opened = session ? await store.session(session) : await store.continue();
  const draft = { role: "user", content: "afterwards" };
  const { records } = await opened.append(draft);
  const expected = [...kept, { id: records[0]?.id, hash: digest(draft) }];
  const found = new Map();
  for await (const message of opened.messages()) {
    assert.ok(!found.has(message.id), `${message.id} is there twice`);
    found.set(message.id, digest(message));
  }
  for (const { id, hash } of expected) assert.equal(found.get(id), hash, `acknowledged, and lost: ${id}`);
  await store.close();
}
