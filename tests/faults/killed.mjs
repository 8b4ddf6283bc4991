// @ts-check
/** Sessions whose programs are killed and started again, some of them until as many were killed as is wanted. */

import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { chance, scene } from "./tools.mjs";

/** @import { Start } from "./tools.mjs" */
/** @typedef {ReturnType<typeof chance>} Chance */
/** @typedef {Record<string, number>} Counts */
/** @typedef {{ kills: number }} Left how many are still to be killed */
/** @typedef {{ home: string, start: Start, random: Chance, counts: Counts, left: Left }} KilledSession */

const KILLS_PER_SESSION = 10;

/**
 * Holds one session after the other, each in a folder of its own.
 * @param {{ name: string, wanted: number, seed: number, counts: Counts }} options `wanted`: how many kills
 * @param {(session: KilledSession) => Promise<void>} holdSession counts its session
 */
export async function killInSessions({ name, wanted, seed, counts }, holdSession) {
  const random = chance(seed);
  await scene(name, async ({ folder, start }) => {
    for (let kills = 0; kills < wanted; kills = counts.kills ?? 0) {
      const home = join(folder, String(counts.sessions));
      mkdirSync(home);
      const left = { kills: Math.min(KILLS_PER_SESSION, wanted - kills) };
      await holdSession({ home, start, random, counts, left });
      rmSync(home, { recursive: true });
    }
  });
}

/**
 * Runs a program; while there are kills left, kills it once it has said so much.
 * @param {string[]} args @param {() => number} drawHeard
 * @param {Pick<KilledSession, "start" | "counts" | "left">} session
 * @returns {Promise<{ isDone: boolean, said: any[] }>} `isDone`: it came to its end
 */
export async function runOrKill(args, drawHeard, { start, counts, left }) {
  const child = start(process.execPath, args);
  if (left.kills > 0) {
    left.kills -= 1;
    const heard = drawHeard();
    await child.until((said) => said.length >= heard);
    child.kill();
  }
  const { code, signal, stderr } = await child.ended;
  if (signal === "SIGKILL") counts.kills = (counts.kills ?? 0) + 1;
  else assert.equal(code, 0, stderr);
  return { isDone: code === 0, said: child.said };
}
