// @ts-check
/**
 * Where a sequence happens: two processes with a store each on the same files, and a look at these files past leftoff.
 * In memory the processes share a storage and are this one; on a disk they are children, and a crash is `kill -9`.
 */

import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { MemoryStorage } from "../../../js/index.js";
import { Process } from "./verbs.mjs";

/** @import { Start } from "../tools.mjs" */

const NOTICED_MS = 51;
const WRITES = new Set(["append", "replace"]);
const child = fileURLToPath(new URL("child.mjs", import.meta.url));

/**
 * @typedef {object} World
 * @property {{ home: string, workspace: string, projects: string[] }} places
 * @property {Files} files
 * @property {(by: number, verb: string, asked: any, now: number) => Promise<{ value?: any, code?: string, message?: string }>} ask
 * @property {(by: number) => Promise<void>} crash the process is gone; the next that is asked is another one
 * @property {() => Promise<Process>} fresh a process that has seen nothing
 *
 * @typedef {object} Files
 * @property {(path: string) => Promise<Uint8Array | null>} read
 * @property {(path: string, bytes: Uint8Array) => Promise<void>} write
 * @property {(path: string, bytes: Uint8Array) => Promise<void>} append
 * @property {(path: string) => Promise<void>} remove
 * @property {(path: string) => Promise<string[]>} list the names in a folder
 */

/** Folders that are there: a store wants the real path of its project. @param {string} folder */
export function placesIn(folder) {
  const places = {
    home: join(folder, "home"),
    workspace: join(folder, "work"),
    projects: [join(folder, "one"), join(folder, "two")],
  };
  for (const path of [places.workspace, ...places.projects]) mkdirSync(path, { recursive: true });
  return places;
}

/** @param {World["places"]} places @returns {World} */
export function inMemory(places) {
  const storage = new MemoryStorage();
  const options = { home: places.home, workspace: places.workspace, project: places.projects[0] };
  const begun = () => {
    const seen = seenBy(storage);
    return { process: new Process({ ...options, storage: seen.storage }), seen };
  };
  const processes = [begun(), begun()];
  const at = (/** @type {number} */ by) => /** @type {ReturnType<typeof begun>} */ (processes[by]);
  return {
    places,
    files: {
      read: (path) => storage.read(path),
      write: (path, bytes) => storage.replace(path, bytes),
      append: async (path, bytes) => void (await storage.append(path, bytes)),
      remove: (path) => storage.remove(path),
      list: async (path) => ((await storage.list(path)) ?? []).map(({ name }) => name),
    },
    ask: (by, verb, asked, now) => at(by).process.does(verb, asked, now),
    async crash(by) {
      await at(by).seen.crash();
      processes[by] = begun();
    },
    fresh: async () => begun().process,
  };
}

/**
 * A storage as one process sees it: closed for it alone, and what it held is that of a process that is gone after a
 * crash. It says that it is durable, so that leases are held.
 * @param {MemoryStorage} storage
 */
function seenBy(storage) {
  let isGone = false;
  /** @type {Set<string>} */
  const leases = new Set();
  /** @type {any} */
  const seen = { capabilities: Object.freeze({ ...storage.capabilities, durable: true }), close: async () => {} };
  for (const verb of /** @type {const} */ ([
    "read",
    "readRange",
    "append",
    "replace",
    "link",
    "move",
    "list",
    "remove",
    "stat",
  ])) {
    seen[verb] = async (/** @type {any[]} */ ...args) => {
      if (isGone) throw new Error(`a process that is gone asks for ${verb} ${args[0]}`);
      if (WRITES.has(verb) && args[0].includes(".open/")) leases.add(args[0]);
      return /** @type {any} */ (storage)[verb](...args);
    };
  }
  const crash = async () => {
    isGone = true;
    for (const path of leases) {
      const bytes = await storage.read(path);
      if (bytes)
        await storage.replace(path, bytesOf(JSON.stringify({ ...JSON.parse(textOf(bytes)), start: "before" })));
    }
  };
  return { storage: seen, crash };
}

/**
 * @param {World["places"]} places @param {Start} start
 * @returns {World & { moveTo: (places: World["places"]) => void }} `moveTo`: another sequence, elsewhere; the processes
 *   stay
 */
export function onDisk(places, start) {
  const begun = () => {
    const mine = start(process.execPath, [child]);
    const options = { home: places.home, workspace: places.workspace, project: places.projects[0] };
    mine.tell(JSON.stringify({ options }));
    return mine;
  };
  const processes = [begun(), begun()];
  const at = (/** @type {number} */ by) => /** @type {ReturnType<typeof begun>} */ (processes[by]);
  let number = 0;
  return {
    get places() {
      return places;
    },
    files: {
      read: async (path) => (existsSync(path) ? readFileSync(path) : null),
      write: async (path, bytes) => {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, bytes);
      },
      append: async (path, bytes) => appendFileSync(path, bytes),
      remove: async (path) => rmSync(path, { recursive: true, force: true }),
      list: async (path) => (existsSync(path) ? readdirSync(path) : []),
    },
    async ask(by, verb, asked, now) {
      const mine = (number += 1);
      const { tell, until, said } = at(by);
      tell(JSON.stringify({ verb, asked, now, number: mine }));
      await until((all) => all.some((one) => one.number === mine));
      // A folder that another process moved away is noticed so late, where a file in it is open:
      // js/storage/open-file.js.
      if (verb === "delete" || verb === "relocate") await new Promise((resolve) => setTimeout(resolve, NOTICED_MS));
      return (
        said.find((one) => one.number === mine) ?? {
          code: "bug",
          message: `the process is gone that was asked to ${verb}: ${(await at(by).ended).stderr}`,
        }
      );
    },
    async crash(by) {
      at(by).kill();
      await at(by).ended;
      processes[by] = begun();
    },
    fresh: async () => new Process({ home: places.home, workspace: places.workspace, project: places.projects[0] }),
    moveTo(next) {
      places = next;
      for (const [by, mine] of processes.entries()) {
        mine.said.length = 0;
        const options = { home: places.home, workspace: places.workspace, project: places.projects[0] };
        at(by).tell(JSON.stringify({ options }));
      }
    },
  };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param {string} text */
export function bytesOf(text) {
  return encoder.encode(text);
}

/** @param {Uint8Array} bytes */
export function textOf(bytes) {
  return decoder.decode(bytes);
}
