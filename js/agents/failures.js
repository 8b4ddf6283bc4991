// @ts-check
/**
 * What could not be recorded of agents' conversations and was not told to anybody: for each agent and project the last
 * failure, in a file of its own in the home's cache, until recording works again there. It has no text of a conversation.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { codeOf } from "../storage/folders.js";
import { nowMs } from "../wasm/clock.js";

/**
 * `at`: RFC 3339; `event`: at which the agent's client asked for it.
 * @typedef {{ agent: string, project: string, at: string, event?: string, code: string, message: string }} Failure
 */

/** How many are kept; further ones are not. */
const MAX_FAILURES = 100;
const MAX_MESSAGE_CHARS = 500;

/** @param {string} home */
const failuresFolder = (home) => join(home, "cache", "failures");

/**
 * Where a failure is kept; its names may be anything.
 * @param {string} home @param {Pick<Failure, "agent" | "project">} of
 */
function fileOf(home, { agent, project }) {
  const name = createHash("sha256")
    .update(JSON.stringify([agent, project]))
    .digest("hex")
    .slice(0, 32);
  return join(failuresFolder(home), `${name}.json`);
}

/**
 * Keeps a failure, if the home lets it.
 * @param {string} home @param {Omit<Failure, "at">} failure without secrets that are to be replaced
 */
export function keepFailure(home, failure) {
  const file = fileOf(home, failure);
  try {
    mkdirSync(failuresFolder(home), { recursive: true, mode: 0o700 });
    if (namesIn(home).length >= MAX_FAILURES) return;
    const at = new Date(nowMs()).toISOString();
    const text = JSON.stringify({ ...failure, at, message: failure.message.slice(0, MAX_MESSAGE_CHARS) });
    writeFileSync(`${file}.${process.pid}.tmp`, text, { mode: 0o600 });
    renameSync(`${file}.${process.pid}.tmp`, file);
  } catch {
    // A home that cannot be written is told by whoever needs to write there.
  }
}

/**
 * Forgets the failure of an agent in a project: recording works again.
 * @param {string} home @param {Pick<Failure, "agent" | "project">} of
 */
export function forgetFailure(home, of) {
  try {
    rmSync(fileOf(home, of), { force: true });
  } catch {
    // It is told once more than it should be.
  }
}

/** @param {string} home @returns {(Failure & { file: string })[]} `file`: below the home; the newest failure first */
export function readFailures(home) {
  const found = namesIn(home).flatMap((name) => {
    const file = join("cache", "failures", name);
    try {
      return [{ ...JSON.parse(readFileSync(join(home, file), "utf8")), file }];
    } catch {
      return []; // Forgotten meanwhile.
    }
  });
  return found.sort((one, other) => (one.at < other.at ? 1 : -1));
}

/** Forgets all failures. @param {string} home */
export function forgetFailures(home) {
  rmSync(failuresFolder(home), { recursive: true, force: true });
}

/** @param {string} home */
function namesIn(home) {
  try {
    return readdirSync(failuresFolder(home)).filter((name) => name.endsWith(".json"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
