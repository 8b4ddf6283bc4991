// @ts-check
/** A home folder that others have been at: its places, names that lead out of it, and a secret outside. */

import assert from "node:assert/strict";
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { openStore } from "../../js/index.js";
import { thisProcess } from "../../js/storage/process.js";

/** @typedef {ReturnType<typeof import("./tools.mjs").chance>} Chance */
/**
 * Names begin behind the home's.
 * @typedef {{ template: string, outside: string, id: string, session: string, places: string[] }} Scenery
 */

/** In everything outside, and nowhere else. As long as what stands there at home. */
export const SECRET = "SECRET";
const PUBLIC = "PUBLIC";
/** Thousands of homes come and go; none has to survive anything. */
export const IN_MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/**
 * Makes a home to copy, and outside of it the same with a secret in it.
 * @param {string} folder
 * @returns {Promise<Scenery>}
 */
export async function furnish(folder) {
  const [template, outside] = [join(folder, "template"), join(folder, "outside")];
  const store = await openStore({ home: template, project: "/" });
  const session = await store.create({ title: PUBLIC });
  const texts = [`${PUBLIC} `.repeat(50_000), PUBLIC, PUBLIC.repeat(1000)];
  await session.append(texts.map((content) => ({ role: "user", content })));
  await store.close();
  const { id } = session;
  const lease = join(template, "cache", `${id}.open`, "5e55a9e0-0000-4000-8000-000000000000.json");
  mkdirSync(dirname(lease), { recursive: true });
  writeFileSync(lease, JSON.stringify({ ...thisProcess(), program: PUBLIC, since: "2026-01-01T00:00:00Z" }));
  cpSync(template, outside, { recursive: true });
  const names = readdirSync(template, { recursive: true, encoding: "utf8" });
  for (const name of names) {
    if (lstatSync(join(outside, name)).isDirectory()) continue;
    const bytes = readFileSync(join(outside, name)).toString("latin1").replaceAll(PUBLIC, SECRET);
    writeFileSync(join(outside, name), Buffer.from(bytes, "latin1"));
  }
  writeFileSync(join(outside, "secret"), SECRET);
  const places = [
    ...names,
    join("cache", "new"),
    join(relative(template, session.path), "new"),
    join("sessions", "projects", "new"),
  ];
  return { template, outside, id, session: relative(template, session.path), places };
}

/** What tells whether anything of a folder was changed: times, sizes, names. @param {string} folder */
export function snapshot(folder) {
  const names = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })].sort();
  return names
    .map((name) => {
      const { ino, size, mode, mtimeNs, ctimeNs } = lstatSync(join(folder, name), { bigint: true });
      return [name, ino, size, mode, mtimeNs, ctimeNs].join(" ");
    })
    .join("\n");
}

/**
 * A name that leads to what lies outside, if it is taken for a path.
 * @param {Chance} random
 * @param {{ home: string, scenery: Scenery }} options
 */
export function hostileName(random, { home, scenery: { outside, places, session, id } }) {
  const target = join(outside, ["secret", "new", places[random.below(places.length)] ?? ""][random.below(3)] ?? "");
  const from =
    [join(home, session, "blobs"), join(home, "cache"), join(home, "sessions", "projects", "x"), home][
      random.below(4)
    ] ?? "";
  const names = [
    relative(from, target),
    target,
    `${id}/${relative(from, target)}`,
    `${relative(from, target)}\0`,
    `\0${target}`,
    `${id}\0/../../secret`,
    relative(from, target).replaceAll("/", "\\"),
    relative(from, target).replaceAll("/", "\u2215"),
    encodeURIComponent(relative(from, target)),
    `file://${target}`,
    `${"../".repeat(40)}${target.slice(1)}`,
    `${"./".repeat(3000)}${relative(from, target)}`,
    `/proc/self/root${target}`,
    "..",
    ".",
    "",
    "/",
    "~",
    "~/secret",
    "CON",
    "nul",
    "COM1.json",
    "a:b",
    "\u202e",
    "x".repeat(300),
    `../${"x".repeat(70_000)}`,
    "-",
    "--home",
    "*",
    "$(id)",
    "\ud800/..",
  ];
  return names[random.below(names.length)] ?? "";
}

/** Rewrites lines of a log, without their checksums. @param {string} path @param {(record: any) => void} change */
export function forge(path, change) {
  const lines = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const { crc, ...record } = JSON.parse(line);
      assert.ok(crc);
      change(record);
      return JSON.stringify(record);
    });
  writeFileSync(path, `${lines.join("\n")}\n`);
}
