// @ts-check
/** `leftoff list` and `leftoff recall`: finding sessions by filters, by words, by what was said. */

import { resolve } from "node:path";

import { realPathAsFar } from "../storage/real-path.js";
import { LeftoffError, listText } from "../index.js";
import { parseWholeNumber } from "./arguments.js";
import { columnsText, noteLater } from "./print.js";
import { rowsText } from "./rows.js";
import { screenLook } from "./screen.js";
import { rememberList } from "./numbered-lists.js";
import { idLengthFor, withStore } from "./store.js";
import { parseTime } from "./times.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../types/index.js").Listed} ListedSession */

/**
 * `leftoff list`: in a pipe one line per session, for programs. Resuming shows people and models the numbered list
 * instead.
 * @param {Args} args
 */
export function listCommand(args) {
  return listSessions(args, { isTabbed: !args.json && !args.from && !process.stdout.isTTY });
}

/** @param {Args} args @param {{ isTabbed?: boolean }} [as] */
export async function listSessions(args, { isTabbed = false } = {}) {
  const asked = parseListOptions(args);
  return withStore(args, async (store) => {
    const listed = await store.list(asked);
    return answerList(args, store, {
      listed,
      isTabbed,
      none: listed.length > 0 || asked.limit === 0 ? "" : await explainEmptyList(store, asked),
    });
  });
}

/**
 * Answers with a numbered list, whose numbers are remembered for the next command; on a terminal one line per session.
 * @param {Args} args
 * @param {Store} store
 * @param {{ listed: ListedSession[], isTabbed: boolean, none: string }} found `none`: the text for an empty list
 */
async function answerList(args, store, { listed, isTabbed, none }) {
  if (!args.json) await rememberList(store, args, listed);
  if (isTabbed && none) noteLater(none.trim());
  if (isTabbed) return { text: listed.map(renderColumns).join(""), value: [] };
  const screen = await renderScreen(args, store, listed);
  // `listText` is in the second module, which takes longer to load than the list: it is called only where its text is
  // printed.
  return {
    text: screen === undefined && !args.json ? listText(listed) || none : "",
    screen,
    value: listed.map(sessionValue),
  };
}

/**
 * Renders the list for a person at a terminal; nothing for an agent's client, which may run a terminal, too.
 * @param {Args} args
 * @param {Store} store
 * @param {ListedSession[]} listed
 */
async function renderScreen(args, store, listed) {
  const { isScreen, ...look } = screenLook(args);
  if (!isScreen || args.json || listed.length === 0) return undefined;
  const { value: shown } = await store.redacted(listed);
  return rowsText(shown, { ...look, idLength: await idLengthFor(store, listed) });
}

/**
 * Explains why a list is empty, and what may be done about it.
 * @param {Store} store
 * @param {ReturnType<typeof parseListOptions>} asked
 */
async function explainEmptyList(store, { all, sort: _, limit: __, ...filters }) {
  const where = all ? "" : " of this project";
  const flags = Object.entries(filters).flatMap(([name, value]) =>
    value === undefined ? [] : `--${name === "folder" ? "project" : name}`,
  );
  const count = async (/** @type {import("../types/index.js").ListOptions} */ options) =>
    (await store.list(options)).length;
  const here = await count({ all });
  const without = flags.length === 1 ? "it" : "them";
  if (flags.length > 0 && here > 0)
    return `no session${where} matches ${flags.join(" and ")}; without ${without} there ${formatAreCount(here)}\n`;
  const archived = await count({ all, archived: true });
  const elsewhere = all ? 0 : await count({ all: true });
  const hidden = archived > 0 ? `, 'leftoff list${all ? " --all" : ""} --status archived' shows what is archived` : "";
  const others =
    elsewhere > 0
      ? `, 'leftoff list --all' shows ${elsewhere === 1 ? "the one" : `the ${elsewhere}`} of other projects`
      : "";
  const agents = hidden || others ? "" : ", 'leftoff import --all' imports those of your agents";
  return `no sessions here; 'leftoff new' starts one${hidden}${others}${agents}\n`;
}

/** @param {number} count */
function formatAreCount(count) {
  return count === 1 ? "is 1" : `are ${count}`;
}

/** `leftoff recall`: quotes what other sessions say on a question, for a model. @param {Args} args */
export async function recall(args) {
  const question = args._.join(" ");
  if (!question.trim()) throw new LeftoffError({ code: "usage", message: "no QUESTION given" });
  const maxTokens = args["max-tokens"] === undefined ? undefined : parseWholeNumber(args["max-tokens"], "max-tokens");
  return withStore(args, async (store) => {
    const value = await store.recall(question, { all: args.all, project: projectFolderOf(args.project), maxTokens });
    const within = maxTokens === undefined ? "" : ` within ${maxTokens} tokens`;
    return {
      text: value.text
        ? `${value.text}\n`
        : `no session${args.all ? "" : " of this project"} answers that${within}${args.all ? "" : "; --all asks all projects"}\n`,
      value,
    };
  });
}

// A bare name is a folder's name, wherever it lies; a path is the folder there, or the one that was there when its
// sessions began.
/** @param {string | undefined} project */
function projectFolderOf(project) {
  return project === undefined || !/[/\\]|^\.\.?$/.test(project) ? project : realPathAsFar(resolve(project));
}

/** Parses the options that choose sessions. @param {Args} args */
export function parseListOptions(args) {
  const { type, status, agent, project } = args;
  return {
    all: args.all || project !== undefined,
    type,
    status,
    agent,
    folder: projectFolderOf(project),
    since: parseTime(args.since, "since"),
    until: parseTime(args.until, "until"),
    sort: args.sort,
    limit: args.limit === undefined ? Infinity : parseWholeNumber(args.limit, "limit"),
  };
}

/** A line for a pipe: columns separated by tabs, nothing cut. @param {ListedSession} listed */
function renderColumns({ id, agent, project, lastActive, messageCount, status, archivedAt, title, summary }) {
  const cells = [id, agent, project, lastActive, messageCount, archivedAt ? "archived" : status, title, summary];
  return columnsText(cells);
}

/** A session as a JSON value. @param {ListedSession} listed */
export function sessionValue({
  id,
  name,
  agent,
  project,
  type,
  title,
  status,
  lastActive,
  summary,
  messageCount,
  placement,
  path,
}) {
  return {
    id,
    ...(name && { name }),
    ...(agent && { agent }),
    project: project ?? null,
    type,
    title,
    status,
    lastActive,
    summary,
    messageCount,
    placement,
    path,
  };
}
