// @ts-check
/**
 * What a search finds does not hang on what becomes of the index: processes that make it are killed, two work at once,
 * it is deleted.
 */
// Tries: src/operation/store/recall/, src/recall/index_file/

import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { chance, scene } from "./tools.mjs";

const searcher = fileURLToPath(new URL("searcher.mjs", import.meta.url));
/** More files than these nobody would have to look into. */
const MOST_FILES = 64;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "what was said is found, and nothing else: also where those that index are killed, where two do, and where there is no index",
  run: ({ scaled, seed }) =>
    scene("recall", async ({ folder, start }) => {
      const home = join(folder, "home");
      const random = chance(seed);
      const kills = scaled(300);
      const store = await openStore({ home, project: "/", idleMs: Infinity });
      /** @type {{ word: string, id: string }[]} */
      const said = [];
      let [searches, deletions, files] = [0, 0, 0];
      const other = start(process.execPath, [searcher, home, "0", String(seed)]);
      await other.until((all) => all.length > 0);
      for (let round = 1; round <= kills; round += 1) {
        const child = start(process.execPath, [searcher, home, String(round), String(seed + round)]);
        const enough = 1 + random.below(4);
        await child.until((all) => all.length >= enough);
        if (random.below(2) === 0) await new Promise((resolve) => setTimeout(resolve, random.below(30)));
        child.kill();
        const { signal, stderr } = await child.ended;
        assert.equal(signal, "SIGKILL", stderr);
        said.push(...child.said);
        if (random.below(10) === 0)
          (rmSync(join(home, "cache", "recall"), { recursive: true, force: true }), (deletions += 1));
        for (const { word, id } of [
          said.at(-1),
          said[random.below(said.length)],
          other.said[random.below(other.said.length)],
        ]) {
          const found = new Set();
          for await (const hit of store.search(word, { all: true })) if (hit.found === "all") found.add(hit.session.id);
          assert.deepEqual([...found], [id], `${word} in round ${round}`);
          searches += 1;
        }
        files = Math.max(files, readdirSync(join(home, "cache", "recall")).length);
      }
      other.kill();
      const { signal, stderr } = await other.ended;
      assert.equal(signal, "SIGKILL", stderr);
      await store.close();
      assert.ok(files <= MOST_FILES, `expected at most ${MOST_FILES} files of the index, but found ${files}`);
      return {
        kills,
        messages: said.length + other.said.length,
        searches,
        "deleted indexes": deletions,
        "files of the index at most": files,
      };
    }),
};
