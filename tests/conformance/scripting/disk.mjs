// @ts-check
/** What lies on the disk at the end of a script. */

import { lstatSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join, relative, sep } from "node:path";

import { sha256, shortOf } from "./masks.mjs";

/** @import { Masks } from "./masks.mjs" */
/** @import { File } from "./run.mjs" */

/** What names processes, is derived in ways that a host may choose, or belongs to git. */
const LEFT_OUT = [/^home\/cache\//, /(?:^|\/)\.git\//, /^home\/redaction\.key$/];
const INDEX = "home/sessions/index.jsonl";
const LINES = 40;

/**
 * The files below a folder, masked: how large they were, and what they hash to.
 * @param {string} root @param {Pick<Masks, "text">} masks
 * @returns {{ files: Record<string, File>, texts: Map<string, string> }}
 */
export function filesIn(root, masks) {
  const found = listFiles(root)
    .map((path) => ({ path, name: relative(root, path).split(sep).join("/") }))
    .filter(({ name }) => !LEFT_OUT.some((one) => one.test(name)));
  const read = found.map(({ path, name }) => ({ name, ...readAt(path) }));
  // Before anything new gets a number: which comes first must not depend on ids.
  const looked = read.map((one) => ({
    ...one,
    order: masks.text(`${one.name} ${one.bytes ? textOf(one.name, one.bytes) : ""}`, { isLook: true }),
  }));
  /** @type {Record<string, File>} */
  const files = {};
  const texts = new Map();
  for (const { name, bytes, link } of looked.sort((a, b) => (a.order < b.order ? -1 : 1))) {
    const masked = masks.text(name);
    if (link !== undefined) {
      files[masked] = { link: masks.text(link) };
      continue;
    }
    const text = masks.text(textOf(name, bytes ?? Buffer.alloc(0)));
    const lines = text.split("\n");
    texts.set(masked, text);
    // The index has the times of files, which are as long as they are.
    files[masked] = {
      size: name === INDEX ? text.length : bytes?.length,
      sha256: sha256(text),
      ...(lines.length <= LINES && { lines: lines.map(shortOf).join(" ") }),
    };
  }
  return { files, texts };
}

/** @param {string} path @returns {{ bytes?: Buffer, link?: string }} */
function readAt(path) {
  return lstatSync(path).isSymbolicLink() ? { link: readlinkSync(path) } : { bytes: readFileSync(path) };
}

/** @param {string} folder @returns {string[]} */
function listFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

/**
 * A file as text; of its checksums, whether they are right: those of masked lines nobody can know.
 * @param {string} name
 * @param {Buffer} bytes
 */
function textOf(name, bytes) {
  const lines = bytes
    .toString("latin1")
    .split("\n")
    .map((line) =>
      line.replace(
        /,"crc":"([0-9a-f]{8})"(?=\}\r?$)/,
        (_, crc, at) => `,"crc":"${crcOf(line.slice(0, at)) === crc ? "right" : "wrong"}"`,
      ),
    );
  const text = Buffer.from(lines.join("\n"), "latin1").toString("utf8");
  return name === INDEX ? indexOf(text) : text;
}

// In which order sessions are looked at is the host's choice; when their files changed is the filesystem's.
/** @param {string} text */
function indexOf(text) {
  const masked = text.replaceAll(/"files":\[.*?\],"id"/g, (files) => files.replaceAll(/,\d+(?:\.\d+)?\]/g, ",<time>]"));
  return masked.split("\n").sort().join("\n");
}

/** CRC-32C, as eight hex digits. @param {string} latin1 */
export function crcOf(latin1) {
  let crc = 0xffff_ffff;
  for (let at = 0; at < latin1.length; at += 1) crc = (TABLE[(crc ^ latin1.charCodeAt(at)) & 0xff] ?? 0) ^ (crc >>> 8);
  return ((crc ^ 0xffff_ffff) >>> 0).toString(16).padStart(8, "0");
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0x82f6_3b78 : value >>> 1;
  return value;
});
