// @ts-check
// npm test: everything that can be wrong, each part with its heading and its time. It stops at the first failure.

import { run, step } from "./run.mjs";

const parts = {
  lint: () => run("node", ["scripts/lint.mjs"]),
  rust: () => run("cargo", ["test", "--release"]),
  javascript: () => run("node", ["--test", "tests/js/"]),
  size: () => run("node", ["scripts/size.mjs"]),
};

const asked = process.argv.slice(2);
for (const [name, part] of Object.entries(parts)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`\n== ${name}`);
  await step(name, () => void part());
}
