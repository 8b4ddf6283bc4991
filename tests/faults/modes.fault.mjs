// @ts-check
/** Whatever the umask is, files are 0600 and folders 0700. */
// Tries: js/storage/node.js, js/storage/folders.js, js/storage/whole-file.js

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const library = new URL("../../js/index.js", import.meta.url).href;
const transcript = fileURLToPath(
  new URL("../fixtures/claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl", import.meta.url),
);

/** Everything that makes a file: creating, appending, importing, opening again, closing. */
const script = `
  process.umask(Number(process.argv[1]));
  const { openStore } = await import(${JSON.stringify(library)});
  for (let run = 0; run < 2; run += 1) {
    const store = await openStore({ home: process.argv[2], project: "/" });
    const session = await store.continue({ model: "m" });
    await session.append({ role: "user", content: "x".repeat(400_000) });
    await session.append({ role: "user", content: "short" }, { durability: "buffered" });
    await store.import(${JSON.stringify(transcript)});
    await store.close();
  }
`;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "files are 0600 and folders 0700 under any umask",
  async run() {
    let checked = 0;
    for (const umask of [0o000, 0o022, 0o077]) {
      const home = join(mkdtempSync(join(tmpdir(), "leftoff-modes-")), "home");
      const { status, stderr } = spawnSync(
        process.execPath,
        ["--input-type=module", "-e", script, String(umask), home],
        { encoding: "utf8" },
      );
      assert.equal(status, 0, stderr);
      for (const name of ["", ...readdirSync(home, { recursive: true, encoding: "utf8" })]) {
        const found = lstatSync(join(home, name));
        assert.equal(
          (found.mode & 0o777).toString(8),
          found.isDirectory() ? "700" : "600",
          `${name}, umask ${umask.toString(8)}`,
        );
        checked += 1;
      }
      rmSync(join(home, ".."), { recursive: true });
    }
    return { umasks: 3, "files and folders": checked };
  },
};
