// @ts-check
/**
 * The first session of a process in Node, in Bun, and in a plugin of the real OpenCode, which is busy while it starts:
 * what waits for the event loop ends late there.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "../tests/clients/history.mjs";
import { runProgram } from "../tests/clients/driving.mjs";
import { seat } from "../tests/clients/holding.mjs";
import { present } from "../tests/clients/clients.mjs";
import { Script } from "../tests/clients/model/script.mjs";
import { serve } from "../tests/clients/model/server.mjs";
import { ENV, opencode } from "../tests/clients/opencode.mjs";
import { bun } from "../tests/pack/tools.mjs";
import { inFolder, median } from "./tools.mjs";

const ROUNDS = 11;
const CLIENT_ROUNDS = 5;
/** How long a busy program takes for a turn of its event loop. */
const BUSY_MS = 30;
const PROGRAM = new URL("beginning.mjs", import.meta.url);

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: "the first session of a process, from the import of the package on",
  async run() {
    const figures = [];
    for (const [name, program] of Object.entries({ Node: process.execPath, Bun: bun() }))
      figures.push(...(await measureRuntime(name, program)));
    const [client] = present([opencode]);
    if (client) figures.push(await measureOpenCode(client.program));
    return figures;
  },
};

/** @param {string} name @param {string} program @returns {Promise<Figure[]>} */
async function measureRuntime(name, program) {
  /** @type {Record<"create" | "session" | "createTurns" | "sessionTurns", number[]>} */
  const found = { create: [], session: [], createTurns: [], sessionTurns: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    await inFolder(async (folder) => {
      const project = join(folder, "project");
      mkdirSync(project);
      git(project, ["init", "--quiet"]);
      const homes = ["home", "busy"].map((home) => join(folder, home));
      for (const [home, busyMs] of /** @type {[string, number][]} */ ([
        [homes[0], 0],
        [homes[1], BUSY_MS],
      ])) {
        const made = begin(program, home, project, `${busyMs}`);
        const opened = begin(program, home, project, `${busyMs}`, made.id);
        found[busyMs ? "createTurns" : "create"].push(busyMs ? made.turns : made.ms);
        found[busyMs ? "sessionTurns" : "session"].push(busyMs ? opened.turns : opened.ms);
      }
    });
  }
  const { create, session, createTurns, sessionTurns } = found;
  return [
    { what: `${name}: openStore and create`, value: median(create), unit: "ms", atMost: 120 },
    { what: `${name}: openStore and session`, value: median(session), unit: "ms", atMost: 120 },
    { what: `${name}, busy: turns until create ends`, value: median(createTurns), unit: "turns", atMost: 8 },
    { what: `${name}, busy: turns until session ends`, value: median(sessionTurns), unit: "turns", atMost: 2 },
  ];
}

/** @param {string} program @param {string[]} args @returns {{ id: string, ms: number, turns: number }} */
function begin(program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, [PROGRAM.pathname, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** @param {string} program @returns {Promise<Figure>} */
async function measureOpenCode(program) {
  const ms = [];
  for (let round = 0; round < CLIENT_ROUNDS; round += 1)
    ms.push(await inFolder((folder) => beginInOpenCode(program, folder)));
  return { what: "OpenCode, once its session is there: the same", value: median(ms), unit: "ms", atMost: 120 };
}

/** @param {string} program @param {string} folder */
async function beginInOpenCode(program, folder) {
  const at = seat(program, folder);
  const out = join(folder, "told.json");
  const server = await serve(new Script([{ text: "Hello." }]));
  try {
    opencode.prepare({ ...at, url: server.url });
    const plugins = join(at.home, ".config", "opencode", "plugin");
    mkdirSync(plugins, { recursive: true });
    writeFileSync(join(plugins, "leftoff.js"), `export { Measure } from ${JSON.stringify(PROGRAM.pathname)};\n`);
    const env = { ...ENV, LEFTOFF_BENCH: out };
    await runProgram("OpenCode", { ...at, args: ["run", "--format", "json"], env, input: "Say hello." });
  } finally {
    await server.close();
  }
  const told = existsSync(out) ? readFileSync(out, "utf8") : "";
  if (!told) throw new Error("expected the plugin to create a session, but OpenCode ended before");
  return JSON.parse(told).ms;
}
