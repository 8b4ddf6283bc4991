// @ts-check
// Finds the system's Chromium. If it is missing and the user may install it, apt-get installs it.

import { existsSync } from "node:fs";
import process from "node:process";
import { installPackages } from "./debian.mjs";
import { ask } from "./run.mjs";

const PROGRAMS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The program's path; nothing where there is none. */
export function findChromium() {
  const found = [process.env.CHROMIUM ?? "", ...PROGRAMS].find((path) => existsSync(path));
  if (found) return found;
  if (process.getuid?.() !== 0 || ask("apt-get", ["--version"]) === null) return undefined;
  console.log("  Chromium is not installed: apt-get installs Debian's, some 300 MB, once.");
  installPackages(["chromium"]);
  return PROGRAMS.find((path) => existsSync(path));
}
