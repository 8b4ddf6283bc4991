// @ts-check
/**
 * Attempts to make a store leave its home: forged ids, links, and swaps while it is at work. `<folder> <plan>` makes
 * them in a process of its own, to be traced; the plan as JSON: `{ seed, from, to }`, and the scenery in
 * `scenery.json`.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { LeftoffError, openStore } from "../../js/index.js";
import { IN_MEMORY, SECRET, forge, hostileName } from "./hostile-home.mjs";
import { chance, scene } from "./tools.mjs";

/** @import { Chance, Scenery } from "./hostile-home.mjs" */
/** @import { Child, Start } from "./tools.mjs" */
/** @import { Store } from "../../js/index.js" */
/** @typedef {{ random: Chance, home: string, scenery: Scenery, swapper: Child }} Attempt */

const swapping = fileURLToPath(new URL("swapper.mjs", import.meta.url));
const cli = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
/** How much is done in a store in one attempt. */
const DEEDS = 4;

/** Whether a folder can be held against those who swap it: only with /proc, says js/storage/root.js. */
export const CAN_HOLD = process.platform === "linux" && existsSync("/proc/self/fd");
/** What is attempted, as often as it stands here. */
const KINDS = { "ids given": 2, "ids forged": 3, links: 4, swaps: CAN_HOLD ? 11 : 0 };

/**
 * Makes attempts, and gives how many of each kind there were, and how many calls were refused with what code.
 * @param {{ folder: string, scenery: Scenery, seed: number, from: number, to: number, start: Start, after?: (what: string) => void }} options
 *   `after`: called after each attempt
 */
export async function attempts({ folder, scenery, seed, from, to, start, after = () => {} }) {
  /** @type {Record<string, number>} */
  const counts = {};
  const count = (/** @type {string} */ what, more = 1) => (counts[what] = (counts[what] ?? 0) + more);
  const kinds = Object.entries(KINDS).flatMap(([kind, often]) => Array(often).fill(kind));
  const swapper = start(process.execPath, [swapping]);
  for (let number = from; number < to; number += 1) {
    const random = chance(seed * 1_000_003 + number);
    const home = join(folder, `home ${from}`);
    rmSync(home, { recursive: true, force: true });
    cpSync(scenery.template, home, { recursive: true });
    const kind = kinds[number % kinds.length];
    count(kind);
    const { what, heard, codes } = await attempt(kind, { random, home, scenery, swapper });
    for (const code of codes) count(code);
    assert.ok(!heard.includes(SECRET), `attempt ${number}, ${what}: the secret was told: ${heard}`);
    after(`attempt ${number}, ${what}`);
  }
  swapper.kill();
  return counts;
}

/** @param {string} kind @param {Attempt} options */
async function attempt(kind, options) {
  const { random, home, scenery } = options;
  if (kind === "ids given") return givenIds(options);
  if (kind === "ids forged") {
    const what = forgeId(options);
    return { what, ...(await inStore(home, random, scenery.id)) };
  }
  const name = scenery.places[random.below(scenery.places.length)] ?? "";
  const target = join(scenery.outside, [name, name, name, "secret", "new", ""][random.below(6)] ?? "");
  const place = join(home, name);
  const link = random.below(2) === 0 ? target : relative(dirname(place), target);
  const what = `${kind}, ${name} to ${link}`;
  if (kind === "swaps") return { what, ...(await whileSwapped(options, { place, target: link })) };
  rmSync(place, { recursive: true, force: true });
  symlinkSync(link, place);
  return { what, ...(await inStore(home, random, scenery.id)) };
}

/** @param {Attempt} options @param {{ place: string, target: string }} swap */
async function whileSwapped({ random, home, scenery, swapper }, swap) {
  const answer = async (/** @type {unknown} */ word) => {
    const before = swapper.said.length;
    swapper.tell(JSON.stringify(word));
    await swapper.until((said) => said.length > before);
    assert.ok(swapper.said.length > before, "the swapper is gone");
  };
  // A file lies beside it, and a folder that was moved aside is not taken for a session.
  await answer({ ...swap, aside: `${home} aside` });
  const outcome = await inStore(home, random, scenery.id);
  await answer({});
  rmSync(`${home} aside`, { recursive: true, force: true });
  return outcome;
}

/** @param {Attempt} options */
async function givenIds({ random, home, scenery }) {
  const id = hostileName(random, { home, scenery });
  if (random.below(100) === 0 && !id.includes("\0") && id.length < 10_000) {
    const command = ["show", "context", "resume", "doctor"][random.below(4)] ?? "";
    const { stdout, stderr } = spawnSync(process.execPath, [cli, command, id, "--home", home, "--json"], {
      encoding: "utf8",
    });
    return { what: `${command} ${id}`, heard: stdout + stderr, codes: ["command lines"] };
  }
  return { what: `id ${id}`, ...(await inStore(home, random, id)) };
}

/** Writes an id that leads out into a file of the session. @param {Attempt} options */
function forgeId({ random, home, scenery }) {
  const name = hostileName(random, { home, scenery });
  const session = join(home, scenery.session);
  const target = random.below(4);
  if (target === 0) {
    forge(join(session, "events.jsonl"), (record) => record.type === "created" && (record.session = name));
  } else if (target === 1) {
    forge(join(session, "messages.jsonl"), ({ content }) => content.blob && (content.blob = name));
  } else if (target === 2) {
    forge(
      join(session, "messages.jsonl"),
      (record) => (record.attachments = [{ name, mimeType: "image/png", blob: name, path: name, bytes: 6 }]),
    );
  } else {
    const path = join(session, "metadata.json");
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), id: name }));
  }
  if (target < 3 && random.below(2) === 0) rmSync(join(session, "metadata.json"));
  if (random.below(2) === 0) rmSync(join(home, "cache", `${scenery.id}.json`));
  return `forged ${["created", "blob", "attachment", "metadata"][target]} ${name}`;
}

/**
 * Does some of what a store can do; gives all that was heard of it.
 * @param {string} home
 * @param {Chance} random
 * @param {string} id
 */
async function inStore(home, random, id) {
  /** @type {unknown[]} */
  const heard = [];
  /** @type {string[]} */
  const codes = [];
  const tried = async (/** @type {() => Promise<unknown>} */ deed) => {
    try {
      heard.push(await deed());
    } catch (error) {
      // Whatever was done to its files, it says what is wrong; else it is a bug.
      if (!(error instanceof LeftoffError) || error.code === "internal") throw error;
      heard.push(error.message);
      codes.push(error.code);
    }
  };
  const store = await openStore({ home, project: "/" });
  for (let left = DEEDS; left > 0; left -= 1) await tried(() => deed(store, random, id));
  await tried(() => store.close());
  return { heard: heard.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n"), codes };
}

/** @param {Store} store @param {Chance} random @param {string} id */
async function deed(store, random, id) {
  const which = random.below(12);
  if (which === 0) return store.list({ all: true, type: null });
  if (which === 1) return (await store.create({ title: id })).metadata;
  const session = await store.session(id);
  switch (which) {
    case 2:
      return session.append({ role: "user", content: "x".repeat(300_000) }, { durability: "buffered" });
    case 3:
      return session.append({ role: "user", content: "x" });
    case 4:
      return session.context({ window: 100_000, encoding: "estimate-1" });
    case 5:
      return session.resume({ window: 100_000, encoding: "estimate-1" });
    case 6:
      return session.examine();
    case 7:
      return session.others();
    case 8:
      return collect(session.messages({ newestFirst: random.below(2) === 0 }));
    case 9:
      return session.close();
    default:
      return session.append({ role: "user", content: "x" }, { durability: "buffered" });
  }
}

/** @param {AsyncIterable<unknown>} messages */
async function collect(messages) {
  const found = [];
  for await (const message of messages) found.push(message);
  return found;
}

const [, script, folder = "", json = ""] = process.argv;
if (script === fileURLToPath(import.meta.url) && existsSync(folder)) {
  const scenery = JSON.parse(readFileSync(join(folder, "scenery.json"), "utf8"));
  // Whoever traces it takes silence for hanging.
  const after = (/** @type {string} */ what) => console.log(JSON.stringify(what));
  await scene(
    "intruder",
    ({ folder, start }) => attempts({ folder, scenery, start, after, ...JSON.parse(json) }),
    IN_MEMORY,
  );
}
