// @ts-check

import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";

import { codeOf } from "./folders.js";

/** @import { HeldPlace } from "./folders.js" */

/** The system's errors where a user may not make links, on Windows, and where a filesystem has none. */
const NO_LINK_CODES = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/**
 * Makes a place a link, made beside it and renamed, so that a reader finds the old one or the new one.
 * @param {HeldPlace} held @param {string} target @returns {boolean} whether the system has links
 */
export function placeLink(held, target) {
  const there = fs.lstatSync(held.systemPath, { throwIfNoEntry: false });
  if (there && !there.isSymbolicLink())
    throw Object.assign(new Error("expected nothing or a link there, but found something else instead"), {
      code: "EEXIST",
    });
  const temporary = join(
    dirname(held.systemPath),
    `.${basename(held.systemPath)}.${process.pid}.${randomBytes(8).toString("hex")}.tmp`,
  );
  try {
    fs.symlinkSync(target, temporary, "junction");
  } catch (error) {
    if (NO_LINK_CODES.includes(codeOf(error))) return false;
    throw error;
  }
  try {
    held.check();
    renameOver(temporary, held.systemPath, there !== undefined);
  } catch (error) {
    fs.unlinkSync(temporary);
    throw error;
  }
  return true;
}

/** @param {string} temporary @param {string} at @param {boolean} isTaken */
function renameOver(temporary, at, isTaken) {
  try {
    fs.renameSync(temporary, at);
  } catch (error) {
    // Windows cannot rename a link to a folder over another one: there is none for a moment.
    if (!isTaken || !["EPERM", "EACCES"].includes(codeOf(error))) throw error;
    fs.unlinkSync(at);
    fs.renameSync(temporary, at);
  }
}
