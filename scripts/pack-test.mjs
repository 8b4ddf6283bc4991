// @ts-check
// The packed tarball, installed in an empty project, loaded as its users load it.

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, run, step } from "./run.mjs";

const project = mkdtempSync(join(tmpdir(), "leftoff-pack-"));
const bin = join(root, "node_modules", ".bin");

/** @param {string} name @param {string} loading how the package is loaded, into `leftoff` */
function write(name, loading) {
  const home = JSON.stringify(join(project, `home-${name}`));
  const call = `smoke(leftoff, { project: ${JSON.stringify(project)}, home: ${home} }).catch((error) => { console.error(error); process.exit(1); });`;
  writeFileSync(join(project, name), `${loading}\n${call}\n`);
  return name;
}

writeFileSync(join(project, "package.json"), '{ "name": "user", "private": true }');
copyFileSync(join(root, "tests", "pack", "smoke.mjs"), join(project, "smoke.mjs"));
const imported = 'import process from "node:process";\nimport * as leftoff from "leftoff";\nimport { smoke } from "./smoke.mjs";';

console.log("packed");
await step("npm pack and install", () => {
  run("npm", ["pack", "--pack-destination", project], { quiet: true });
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", "./leftoff-0.1.0.tgz"], { cwd: project, quiet: true });
});
await step("import in Node", () => void run("node", [write("import.mjs", imported)], { cwd: project }));
await step("require in Node", () => {
  const loading = 'const leftoff = require("leftoff");\nconst smoke = (...args) => import("./smoke.mjs").then((found) => found.smoke(...args));';
  run("node", [write("require.cjs", loading)], { cwd: project });
});
await step("import in Deno", () => {
  run(join(bin, "deno"), ["run", "--allow-all", "--cached-only", "--node-modules-dir=manual", write("deno.mjs", imported)], { cwd: project });
});
await step("a CommonJS bundle of esbuild", () => {
  mkdirSync(join(project, "bundled"));
  run(join(bin, "esbuild"), [write("bundle.mjs", imported), "--bundle", "--platform=node", "--format=cjs", "--outfile=bundled/index.cjs", "--log-level=error"], { cwd: project });
  run("node", ["bundled/index.cjs"], { cwd: project });
});
await step("the command line", () => {
  const out = run(join(project, "node_modules", ".bin", "leftoff"), ["list", "--json", "--home", join(project, "home-import.mjs"), "--workspace", project], { cwd: project, quiet: true });
  if (JSON.parse(out).length !== 1) throw new Error(`expected one session, but found ${out}`);
});
rmSync(project, { recursive: true, force: true });
console.log("6 passed, 0 failed");
