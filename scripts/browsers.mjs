// @ts-check
// The system's browsers, which tests and benches drive.

import { existsSync } from "node:fs";
import process from "node:process";
import { installPackages } from "./debian.mjs";
import { ask } from "./run.mjs";

/** @typedef {{ name: string, variable: string, programs: string[], debian: string }} BrowserKind */

/** @type {BrowserKind} */
export const CHROMIUM = {
  name: "Chromium",
  variable: "CHROMIUM",
  programs: [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ],
  debian: "chromium",
};

/** @type {BrowserKind} */
export const FIREFOX = {
  name: "Firefox",
  variable: "FIREFOX",
  programs: ["/usr/bin/firefox-esr", "/usr/bin/firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"],
  debian: "firefox-esr",
};

/** Finds a browser, or installs it if possible. @param {BrowserKind} kind @returns {string | undefined} */
export function findBrowser({ name, variable, programs, debian }) {
  const find = () => [process.env[variable] ?? "", ...programs].find((path) => existsSync(path));
  const found = find();
  if (found) return found;
  if (process.getuid?.() === 0 && ask("apt-get", ["--version"]) !== null) {
    console.log(`  ${name} is not installed: apt-get installs Debian's, some 300 MB, once.`);
    installPackages([debian]);
    return find();
  }
  console.log(
    `  skipped: no ${name} is installed, and only root can install it by apt-get. ${variable} names one that lies elsewhere.`,
  );
  return undefined;
}
