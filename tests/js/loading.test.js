// @ts-check
// The package finds its files wherever it is loaded: also where no script of a file runs.
// Tries: js/host/
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";

const urls = {
  import: new URL("../../js/index.js", import.meta.url).href,
  require: fileURLToPath(new URL("../../pkg/index.cjs", import.meta.url)),
};
const COUNTED = "countTokens('hello world').then((count) => console.log(count))";
const IMPORTED = `import(${JSON.stringify(urls.import)}).then(({ countTokens }) => ${COUNTED})`;
const REQUIRED = `const { countTokens } = require(${JSON.stringify(urls.require)}); ${COUNTED}`;
/** @param {string} code */
const worker = (code) => `new (require("node:worker_threads").Worker)(${JSON.stringify(code)}, { eval: true })`;

for (const [what, args, input] of /** @type {[string, string[], string?][]} */ ([
  ["import in node -e", ["-e", IMPORTED]],
  ["require in node -e", ["-e", REQUIRED]],
  ["import in node --input-type=module -e", ["--input-type=module", "-e", IMPORTED]],
  ["import in node -p", ["-p", `${IMPORTED}, ""`]],
  ["import in a script from standard input", ["-"], IMPORTED],
  ["import in a worker made of a text", ["-e", worker(IMPORTED)]],
  ["require in a worker made of a text", ["-e", worker(REQUIRED)]],
  [
    "a store in node -e",
    [
      "-e",
      `import(${JSON.stringify(urls.import)}).then(async ({ openStore }) => { const store = await openStore({ home: "home" }); const session = await store.create(); await session.append({ role: "user", content: "x" }); await session.context({ window: 100 }); await store.close(); console.log(2); })`,
    ],
  ],
])) {
  test(`the package finds its files: ${what}`, () =>
    inFolder(async (folder) => {
      const { status, stdout, stderr } = spawnSync(nodePath, args, { cwd: folder, input, encoding: "utf8" });
      assert.deepEqual([status, stdout.trim(), stderr], [0, "2", ""]);
    }));
}
