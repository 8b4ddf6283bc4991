// @ts-check
/** `leftoff search`: columns for programs; for a person the hits, grouped by how much of the words they have. */

import { LeftoffError } from "../index.js";
import { parseListOptions } from "./find.js";
import { nowhereText, searchText } from "./hits.js";
import { columnsText, formatCount, noteLater } from "./print.js";
import { screenLook } from "./screen.js";
import { rememberList } from "./numbered-lists.js";
import { idLengthFor, withStore } from "./store.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../types/index.js").Found} SearchHit */

// The most sessions shown: nobody reads more.
const MAX_SESSIONS = 10;

/** @param {Args} args */
export async function search(args) {
  const words = args._.join(" ");
  const { file, command, error } = args;
  rejectMixed(args, words);
  const { limit, sort: _, ...asked } = parseListOptions(args);
  const most = args.limit === undefined ? MAX_SESSIONS : limit;
  return withStore(
    args,
    async (store) => {
      const kind = { role: args.role, regex: args.regex, file, command, error };
      const options = { ...asked, ...kind, numbers: true, limit: most === Infinity ? undefined : most + 1 };
      const found = await hitsBySession(store, words, options);
      const shown = found.slice(0, most);
      if (args.json) return { text: "", value: shown.flat().map(hitValue) };
      if (shown.length === 0)
        return { text: found.length > 0 ? "" : sayOrNote(args, await explainNoHits(store, args, asked)), value: [] };
      const more = found.length > most ? "more sessions match; --limit N shows N" : "";
      return isPiped(args) ? printColumns(args, store, shown, more) : renderScreen(args, store, shown, more);
    },
    "searching",
  );
}

/** @param {Args} args @param {string} words */
function rejectMixed({ file, command, error, role, regex }, words) {
  const isWorded = file === undefined && command === undefined && error === undefined;
  const refuse = (/** @type {string} */ message) => new LeftoffError({ code: "usage", message });
  if (isWorded && !words.trim()) throw refuse("no WORDS to search for");
  if (isWorded) return;
  if (role !== undefined || regex)
    throw refuse("--role and --regex go with WORDS, not with --file, --command or --error");
  if (words.trim()) throw refuse("give one of WORDS, --file, --command and --error");
}

/** @param {Store} store @param {string} words @param {import("../types/index.js").SearchOptions} options */
async function hitsBySession(store, words, options) {
  /** @type {Map<string, SearchHit[]>} */
  const found = new Map();
  for await (const hit of store.search(words, options))
    found.set(hit.session.path, [...(found.get(hit.session.path) ?? []), hit]);
  return [...found.values()];
}

/** @param {Args} args */
function isPiped({ from }) {
  return !from && !process.stdout.isTTY;
}

/** Prints what is no answer where a pipe does not read it. @param {Args} args @param {string} text */
function sayOrNote(args, text) {
  if (!isPiped(args)) return text && `${text}\n`;
  if (text) noteLater(text);
  return "";
}

/** @param {Args} args @param {Store} store @param {SearchHit[][]} shown @param {string} more */
async function printColumns(args, store, shown, more) {
  await rememberList(store, args, shown.map(sessionOf));
  for (const text of [nowhereText(shown[0]?.[0]?.nowhere ?? []), more]) if (text) noteLater(text);
  return { text: shown.flat().map(renderColumns).join(""), value: [] };
}

/** @param {Args} args @param {Store} store @param {SearchHit[][]} found @param {string} more */
async function renderScreen(args, store, found, more) {
  const { isScreen, ...look } = screenLook(args);
  const idLength = await idLengthFor(store, found.map(sessionOf));
  const { value } = await store.redacted(found);
  const { text, shown } = searchText(value, { ...look, idLength });
  await rememberList(store, args, shown.map(sessionOf));
  const nowhere = nowhereText(found[0]?.[0]?.nowhere ?? []);
  const all = `${nowhere && `${nowhere}\n\n`}${text}${more && `\n${more}\n`}`;
  return { text: all, screen: isScreen ? all : undefined, value: [] };
}

/**
 * Explains what was not found, and where else it may be.
 * @param {Store} store @param {Args} args @param {Omit<ReturnType<typeof parseListOptions>, "limit" | "sort">} asked
 */
async function explainNoHits(store, args, { all, status }) {
  const where = all ? "" : " in this project";
  const archived = status === undefined ? (await store.list({ all, archived: true })).length : 0;
  const hidden = archived > 0 ? [`--status archived searches ${formatCount(archived, "session")} that lists hide`] : [];
  const others = [...(all ? [] : ["--all searches all projects"]), ...hidden];
  const words = args._.join(" ").split(/\s+/).filter(Boolean);
  const isPlain = words.length > 0 && !args.regex && !words.some((/** @type {string} */ word) => word.includes('"'));
  const sought = args.file ?? args.command ?? args.error ?? words.join(" ");
  return [isPlain ? `${nowhereText(words)}${where}` : `nothing${where} matches ${sought}`, ...others].join("; ");
}

/** @param {SearchHit[]} hits */
function sessionOf(hits) {
  return /** @type {SearchHit} */ (hits[0]).session;
}

/** A hit as a JSON value. @param {SearchHit} found */
function hitValue({
  session,
  id,
  role,
  timestamp,
  number,
  excerpt,
  found,
  words,
  missing,
  nowhere,
  instead,
  isChanged,
  command,
  exitCode,
  after,
}) {
  const { agent, project, title } = session;
  const message = {
    ...(id && { id }),
    ...(role && { role }),
    ...(timestamp && { timestamp }),
    ...(number && { number }),
  };
  const lacks = { ...(missing && { missing }), ...(nowhere && { nowhere }), ...(instead && { instead }) };
  const ended = exitCode === undefined ? {} : { exitCode };
  const thing = {
    ...(isChanged !== undefined && { isChanged }),
    ...(command !== undefined && { command }),
    ...ended,
    ...(after && { after }),
  };
  const where = { session: session.id, title, ...(agent && { agent }), project: project ?? null };
  return { ...where, ...message, excerpt, found, words, ...lacks, ...thing };
}

/** A line for a pipe: columns separated by tabs, nothing cut. @param {SearchHit} hit */
function renderColumns({
  session,
  number,
  role,
  timestamp,
  excerpt,
  found,
  words,
  missing = [],
  isChanged,
  exitCode,
  command,
  after,
}) {
  const { id, agent, project, lastActive, title } = session;
  const text = excerpt.map((part) => part.text).join("");
  const did = isChanged === undefined ? "" : isChanged ? "changed" : "read";
  const thing = did || command !== undefined ? [did, exitCode, command, after?.command] : [];
  const cells = [
    id,
    agent,
    project,
    lastActive,
    number,
    role,
    timestamp,
    found,
    words.join(","),
    missing.join(","),
    title,
    text,
    ...thing,
  ];
  return columnsText(cells);
}
