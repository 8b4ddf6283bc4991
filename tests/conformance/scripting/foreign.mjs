// @ts-check
/** What others do meanwhile: to files, past every host. */

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

import { crcOf } from "./disk.mjs";

const FIXTURES = new URL("../../fixtures/", import.meta.url);

/** @type {Record<string, (asked: Record<string, any>) => unknown>} */
export const FOREIGN = {
  appendFile: ({ file, ...what }) => appendFileSync(file, bytesOf(what)),
  writeFile: ({ file, isProgram, ...what }) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytesOf(what), { mode: isProgram ? 0o755 : 0o644 });
  },
  copyFixture: ({ fixture, to }) => cpSync(fileURLToPath(new URL(fixture, FIXTURES)), to, { recursive: true }),
  copyFile: ({ file, to }) => cpSync(file, to, { recursive: true }),
  /** Puts one text in the place of another, once. */
  editFile: ({ file, old, now }) => {
    const text = readFileSync(file, "latin1");
    const at = text.indexOf(Buffer.from(old).toString("latin1"));
    if (at < 0) throw new Error(`expected "${old}" in "${file}", but found none`);
    writeFileSync(
      file,
      text.slice(0, at) + Buffer.from(now).toString("latin1") + text.slice(at + Buffer.byteLength(old)),
      "latin1",
    );
  },
  /** Takes so many bytes from its end. */
  cutFile: ({ file, bytes }) => truncateSync(file, readFileSync(file).length - bytes),
  readFile: ({ file }) => readFileSync(file, "utf8"),
  removeFile: ({ file }) => rmSync(file, { recursive: true }),
  moveFile: ({ file, to }) => {
    mkdirSync(dirname(to), { recursive: true });
    renameSync(file, to);
  },
  linkFile: ({ file, to }) => symlinkSync(to, file),
  /** Says when a file last changed. */
  dateFile: ({ file, at }) => utimesSync(file, new Date(at), new Date(at)),
  makeFolder: ({ folder }) => void mkdirSync(folder, { recursive: true }),
  git: ({ folder, args }) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }) && undefined,
};

/** `text`, `base64`, or `lines`: records, written as leftoff does, with their checksums. @param {any} what */
function bytesOf({ text, base64, lines, json }) {
  if (base64 !== undefined) return Buffer.from(base64, "base64");
  if (lines !== undefined) return Buffer.from(lines.map(lineOf).join(""));
  return Buffer.from(json === undefined ? text : `${JSON.stringify(json, null, 2)}\n`);
}

/** @param {object} record */
function lineOf(record) {
  const open = JSON.stringify({ v: 1, ...record }).slice(0, -1);
  return `${open},"crc":"${crcOf(Buffer.from(open).toString("latin1"))}"}\n`;
}
