// @ts-check
// Formats Rust by rustfmt and JavaScript by prettier: `npm run format`. The lint checks the same files.

import { join } from "node:path";
import { run } from "./run.mjs";

/** What prettier formats; `.prettierignore` has others' words and what a program writes. */
const SCRIPTS = "{js,scripts,tests,benches,examples}/**/*.{js,mjs,cjs,ts,mts,cts}";
/** Which packages rustfmt formats: all of the workspace, and one that is a workspace of its own. */
const PACKAGES = [["--all"], ["--manifest-path", join("tests", "component", "rust", "Cargo.toml")]];

/** @param {{ isCheck?: boolean }} [options] `isCheck`: changes nothing, and ends the process where something would be */
export function formatRust({ isCheck = false } = {}) {
  for (const which of PACKAGES) run("cargo", ["fmt", ...which, ...(isCheck ? ["--check"] : [])]);
}

/** @param {{ isCheck?: boolean }} [options] as `formatRust` */
export function formatScripts({ isCheck = false } = {}) {
  run("prettier", [isCheck ? "--check" : "--write", "--log-level", "warn", SCRIPTS]);
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  formatRust();
  formatScripts();
}
