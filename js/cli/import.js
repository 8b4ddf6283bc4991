// @ts-check
/** `leftoff import`: imports other agents' sessions and reports them agent by agent, with their losses. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";

import { transcriptLocations } from "../agents/transcript-locations.js";
import { LeftoffError } from "../index.js";
import { MAX_NAMES, lossText } from "./losses.js";
import { formatCount, note, progress, printError } from "./print.js";
import { withStore } from "./store.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../types/index.js").ImportedSession} ImportedSession */

const LOSS_LABEL = "not imported";

/** @param {Args} args */
export async function importFiles(args) {
  rejectMixed(args);
  if (args["dry-run"]) return (await import("./missing.js")).listImportable(args);
  /** @type {import("../types/index.js").ImportResult} */
  const all = { imported: [], problems: [], unchanged: 0 };
  const { onProgress, end } = progress("importing", "file");
  const take = (/** @type {import("../types/index.js").ImportResult} */ { imported, problems, unchanged }) => {
    all.imported.push(...imported);
    all.problems.push(...problems);
    all.unchanged += unchanged;
  };
  /** @type {LeftoffError[]} */
  const failed = [];
  const elsewhere = await withStore(args, async (store) => {
    if (args.all) take(await store.importAll({ onProgress }));
    for (const path of args._) {
      try {
        take(await store.import(path, { from: args.from, onProgress }));
      } catch (error) {
        if (!(error instanceof LeftoffError)) throw error;
        if (!error.message.includes(`"${resolve(path)}"`)) error.message = `${path}: ${error.message}`;
        failed.push(error);
      }
    }
    if (args.json) return "";
    const count = all.imported.length + all.problems.length + all.unchanged + failed.length;
    return count === 0 ? nothingText(store, args) : describeOtherProjects(store, all.imported);
  });
  end();
  for (const { path, code, message, start, end } of all.problems)
    note(`${path}: ${start === undefined ? "" : `bytes ${start} to ${end}: `}${message} (${code})`);
  for (const error of failed) printError(error);
  if (failed.length > 0 && failed.length === args._.length) return { text: "", value: undefined };
  if (all.problems.length > 0 && all.imported.length + all.unchanged === 0) process.exitCode = 1;
  return { text: `${importText(all, args.verbose)}${elsewhere}`, value: all.imported.map(({ path, ...one }) => one) };
}

/** @param {Args} args */
function rejectMixed({ all, from, limit, "dry-run": isDry, _: paths }) {
  if (all ? paths.length > 0 || from !== undefined : paths.length === 0) {
    throw new LeftoffError({ code: "usage", message: "name PATHS to import, or --all; --from goes with PATHS" });
  }
  if (limit !== undefined && !isDry) throw new LeftoffError({ code: "usage", message: "--limit goes with --dry-run" });
  // The system would take an empty name for the working folder.
  if (paths.includes("")) throw new LeftoffError({ code: "usage", message: "a PATH is empty" });
}

/**
 * Reports one session by itself; several by a line for each agent, and a total.
 * @param {import("../types/index.js").ImportResult} result @param {boolean} [isVerbose]
 */
export function importText({ imported, unchanged }, isVerbose) {
  const rest = unchanged > 0 ? `${formatCount(unchanged, "file")} unchanged\n` : "";
  const named = isVerbose || imported.length === 1 ? imported : [];
  const each = named.map((one) => `${sessionText(one)}${isVerbose ? lossText(one.losses, LOSS_LABEL) : ""}`);
  const lost = imported.filter(({ losses }) => losses.some(({ isTalk }) => isTalk));
  const talk = isVerbose
    ? ""
    : lossText(
        lost.flatMap(({ losses }) => losses.filter(({ isTalk }) => isTalk)),
        LOSS_LABEL,
      );
  const heading = talk && imported.length > 1 ? incompleteText(lost) : "";
  return `${each.join("")}${imported.length > 1 ? sumText(imported) : ""}${heading}${talk}${rest}`;
}

/**
 * Names the files that lost something: importing all files again would skip these as unchanged.
 * @param {ImportedSession[]} lost
 */
function incompleteText(lost) {
  const paths = [...new Set(lost.map(({ path }) => path))];
  const lines = [
    ...paths.slice(0, MAX_NAMES),
    ...(paths.length > MAX_NAMES ? [`and ${paths.length - MAX_NAMES} more`] : []),
  ];
  const heading = `incomplete: ${formatCount(lost.length, "session")}; 'leftoff import FILE --verbose' lists what a file lost`;
  return `${[heading, ...lines].join("\n    ")}\n`;
}

/** @param {ImportedSession} one */
function sessionText({ id, agent, messageCount, added }) {
  return `${id}  ${agent}  ${formatCount(messageCount, "message")}, ${added} new\n`;
}

/** @param {ImportedSession[]} imported */
function sumText(imported) {
  const names = [...new Set(imported.map(({ agent }) => agent))].sort();
  const row = (/** @type {string} */ name, /** @type {ImportedSession[]} */ some) => {
    const added = some.reduce((sum, one) => sum + one.added, 0);
    return { name, sessions: formatCount(some.length, "session"), messages: formatCount(added, "new message") };
  };
  const rows = names.map((name) =>
    row(
      name,
      imported.filter(({ agent }) => agent === name),
    ),
  );
  if (names.length > 1) rows.push(row("total", imported));
  const wide = (/** @type {"name" | "sessions" | "messages"} */ column) =>
    Math.max(...rows.map((one) => one[column].length));
  // Pads singulars by one, so that a plural's "s" does not shift the columns.
  const cell = (/** @type {string} */ text, /** @type {number} */ width) =>
    (text.endsWith("s") ? text : `${text} `).padStart(width + 1);
  const line = (/** @type {ReturnType<typeof row>} */ { name, sessions, messages }) =>
    `${name.padEnd(wide("name"))} ${cell(sessions, wide("sessions"))} ${cell(messages, wide("messages"))}`.trimEnd();
  return rows.map((one) => `${line(one)}\n`).join("");
}

/** Says where was searched, if nothing was found. @param {Store} store @param {Args} args */
async function nothingText(store, { all, _: paths }) {
  if (!all) return `no sessions found in ${paths.join(", ")}\n`;
  const places = await transcriptLocations(store);
  const wide = Math.max(...places.map(({ agent }) => agent?.length ?? 0));
  const lines = places.map(
    ({ agent = "", path }) => `  ${agent.padEnd(wide)}  ${path}${existsSync(path) ? "" : " (does not exist)"}\n`,
  );
  return `no sessions found. Searched:\n${lines.join("")}To import from elsewhere: leftoff import PATH\n`;
}

/**
 * Says that lists of this project do not show all imported sessions, if so.
 * @param {Store} store
 * @param {{ id: string }[]} imported
 */
async function describeOtherProjects(store, imported) {
  if (imported.length === 0) return "";
  const here = new Set((await store.list({ type: null, archived: null })).map(({ id }) => id));
  const away = imported.filter(({ id }) => !here.has(id)).length;
  if (away === 0) return "";
  const one = imported.length === 1 ? "it belongs" : "one of them belongs";
  const those =
    away === 1 ? `${one} to another project` : `${away === imported.length ? "all" : away} belong to other projects`;
  return `${those}; 'leftoff list --all' shows ${away === 1 ? "it" : "them"}\n`;
}
