// @ts-check
/** Opens the store and finds the session for a command. */

import { LeftoffError, openStore } from "../index.js";
import { rankByWords } from "../store/search.js";
import { hasPending } from "./hooks/queue.js";
import { didYouMean, nearestWords } from "./nearest.js";
import { endWorking, noteLater, showWorking } from "./print.js";
import { uniqueLength } from "./rows.js";
import { canAsk } from "./screen.js";
import { isNumber, findIdByNumber } from "./numbered-lists.js";
import { cut } from "./width.js";

/** @typedef {import("../types/index.js").Listed} ListedSession */
/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../session/session.js").Session} Session */

/** The most candidates that a person is asked to choose between. */
const MAX_CANDIDATES = 5;
/** The most suggestions in an error. */
const MAX_SUGGESTIONS = 3;
/** The columns of a title that are enough to recognize it. */
const MAX_TITLE_CHARS = 50;
const SESSION_HINT = "name one by its id, or by the number that 'leftoff list' gives it";

/**
 * Opens the store for one command.
 * @template T
 * @param {Record<string, any>} args
 * @param {(store: Store) => Promise<T>} work
 * @param {string} [doing] the work's name, shown to a person who waits
 * @param {{ readOnly?: boolean }} [as]
 */
export async function withStore(args, work, doing = "working", { readOnly = false } = {}) {
  showWorking(doing);
  const store = await openStore({ home: args.home, project: args.workspace, redact: args.redact, readOnly });
  for (const { message } of store.problems) noteLater(message);
  try {
    if (hasPending(store.home)) await (await import("./hooks/recorder.js")).settleRecordings(store.home, { readOnly });
    const { value } = await store.redacted(await work(store));
    for (const { path, notice } of store.notices()) noteLater(`${path}: ${notice.message}`);
    for (const { rule, placeholder, count } of store.secrets)
      noteLater(`a secret (${rule}) is in this ${count === 1 ? "once" : `${count} times`}: ${placeholder}`);
    return value;
  } catch (error) {
    if (!(error instanceof LeftoffError)) throw error;
    error.message = (await store.redacted(error.message)).value;
    throw error;
  } finally {
    await store.close();
    endWorking();
  }
}

/**
 * Finds the session for a command: the one that goes on in an agent's client, the current one, or the one that words
 * mean; `filters` limit the choice.
 * @param {Store} store @param {Record<string, any>} args
 */
export async function findSession(store, args) {
  if (args.from && args.session === undefined)
    return (await import("./in-agent.js")).recordOpenConversation(store, args.from);
  const isNamed = args.session !== undefined && args.session !== "last";
  const session = await (isNamed ? findByWords(store, args, args.session) : findNewest(store, args));
  if (!session && args.filters)
    throw new LeftoffError({ code: "not_found", message: "no session matches these filters" });
  if (!session)
    throw new LeftoffError({
      code: "not_found",
      message: "this project has no sessions; 'leftoff list --all' shows those of other projects",
    });
  for (const { message } of session.notices.splice(0)) noteLater(message);
  return session;
}

/**
 * Finds the current session, or the first that the filters leave.
 * @param {Store} store
 * @param {Record<string, any>} args
 * @returns {Promise<Session | undefined>}
 */
async function findNewest(store, { all, filters }) {
  if (!filters) return store.current();
  const [first] = await store.list({ all, ...filters, limit: 1 });
  return first && store.session(first.id);
}

/**
 * Finds the session by a number of the last list, by an id or its beginning, by a name, or by words of its title or
 * summary;
 * `saidToo`: else by words of its messages. One that only resembles the words is suggested, never taken.
 * @param {Store} store @param {Record<string, any>} args @param {string} words
 */
async function findByWords(store, args, words) {
  if (isNumber(words))
    return rejectUnlessListed(store, args, {
      words,
      session: await store.session(await findIdByNumber(store, args, words)),
    });
  try {
    return await rejectUnlessListed(store, args, { words, session: await store.session(words) });
  } catch (error) {
    if (!(error instanceof LeftoffError) || !["not_found", "ambiguous"].includes(error.code)) throw error;
    const all = await store.list({ all: args.all, ...listFilters(args) });
    const called =
      error.code === "ambiguous"
        ? all.filter(({ id, name }) => id.startsWith(words) || name === words)
        : findByTitle(words, all);
    const found = called.length === 0 && args.saidToo ? await findByMessages(store, args, words) : called;
    const [one, ...others] = found;
    if (one && others.length === 0 && (error.code === "not_found" || args.filters)) return store.session(one.id);
    if (one && others.length > 0 && canAsk(args)) return askWhichSession(store, args, { words, found });
    if (error.code === "ambiguous" || !one) throw await explainNotFound(error, store, words);
    throw new LeftoffError({
      code: "ambiguous",
      message: `"${words}" matches ${found.length} sessions:\n${renderCandidates(found)}\n${SESSION_HINT}`,
    });
  }
}

/** The list filters for a named session, which may be one that lists hide. @param {Record<string, any>} args */
function listFilters({ filters = {} }) {
  return { type: null, ...(filters.status === undefined && { archived: null }), ...filters };
}

/** @param {Store} store @param {Record<string, any>} args @param {{ words: string, session: Session }} found */
async function rejectUnlessListed(store, args, { words, session }) {
  if (!args.filters || (await store.list({ all: true, ...listFilters(args) })).some(({ id }) => id === session.id))
    return session;
  throw new LeftoffError({ code: "usage", message: `session "${words}" does not match the filters` });
}

/** Renders candidates, one a line; of many, how many more there are. @param {ListedSession[]} found */
function renderCandidates(found) {
  const lines = found.slice(0, MAX_CANDIDATES).map(({ id, title }) => `  ${id}  ${title.replace(/\s+/g, " ")}`);
  return [...lines, ...(found.length > MAX_CANDIDATES ? [`  and ${found.length - MAX_CANDIDATES} more`] : [])].join(
    "\n",
  );
}

/** @param {LeftoffError} error @param {Store} store @param {string} words */
async function explainNotFound(error, store, words) {
  if (error.code === "ambiguous") error.message += `\n${SESSION_HINT}`;
  else if (words.trim()) error.message = `no session "${words}"${await suggestSessions(store, words)}`;
  return error;
}

/** @param {Store} store @param {Record<string, any>} args @param {{ words: string, found: ListedSession[] }} between */
async function askWhichSession(store, args, { words, found }) {
  const { chooseSession } = await import("./choose.js");
  const one = await chooseSession(args, store, found, { message: `Which one does "${words}" mean?` });
  return one && store.session(one.id);
}

/**
 * Finds sessions whose title or summary has all words; an exact title wins, even an archived session's. Sub-agents' and
 * archived ones only if no other has the words.
 * @param {string} words
 * @param {ListedSession[]} all
 */
function findByTitle(words, all) {
  const wanted = foldText(words).split(/\s+/).filter(Boolean);
  const has = (/** @type {ListedSession} */ { title, summary, name }) => {
    const texts = [title, summary ?? "", name ?? ""].map(foldText);
    return wanted.length > 0 && wanted.every((word) => texts.some((text) => text.includes(word)));
  };
  const found = rankByWords(words, all.filter(has));
  const own = found.filter(({ type, archivedAt }) => type !== "subagent" && !archivedAt);
  for (const some of [own, found]) {
    const named = some.filter(({ title }) => foldText(title) === foldText(words));
    if (named.length === 1) return named;
  }
  return own.length > 0 ? own : found;
}

/**
 * Finds the sessions in which one message has all of the words, best first.
 * @param {Store} store
 * @param {Record<string, any>} args
 * @param {string} words
 * @param {number} [limit] how many of the best
 */
export async function findByMessages(store, args, words, limit) {
  /** @type {Map<string, ListedSession>} */
  const found = new Map();
  const { since: _, until: __, ...filters } = args.filters ?? {};
  for await (const { session, found: how } of store.search(words, { all: args.all, limit, ...filters }))
    if (how === "all" || how === "exact") found.set(session.path, session);
  return [...found.values()];
}

/**
 * How many characters of these sessions' ids tell each from all others.
 * @param {Store} store
 * @param {ListedSession[]} listed
 */
export async function idLengthFor(store, listed) {
  const all = await store.list({ all: true, type: null, archived: null, verify: false });
  return uniqueLength(
    listed.map(({ id }) => id),
    all.map(({ id }) => id),
  );
}

/** Folds a text: without accents and case. @param {string} text */
function foldText(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

/**
 * Runs work on the session of a typed id; without one, on the session that is meant.
 * @template T
 * @param {Store} store
 * @param {Record<string, any>} args
 * @param {(id: string | undefined) => Promise<T>} work
 */
export async function withId(store, args, work) {
  try {
    if (args.session !== "last" && !isNumber(args.session ?? "")) return await work(args.session);
  } catch (error) {
    if (!(error instanceof LeftoffError) || !["not_found", "ambiguous"].includes(error.code)) throw error;
  }
  return work((await findSession(store, args)).id);
}

/** Suggests sessions that a mistyped id may mean. @param {Store} store @param {string} typed */
async function suggestSessions(store, typed) {
  const all = await store.list({ all: true, type: null, archived: null });
  // Compared with the beginnings of ids: nobody types a whole one.
  const near = new Set(
    nearestWords(
      typed,
      all.flatMap(({ id, name }) => [id.slice(0, typed.length), ...(name ? [name] : [])]),
    ),
  );
  const resembling = all.filter(({ id, name }) => near.has(id.slice(0, typed.length)) || (name && near.has(name)));
  const some = resembling.length > 0 ? resembling : rankByWords(typed, all);
  const named = (/** @type {ListedSession} */ { id, title }) =>
    `${id} "${cut(title.replace(/\s+/g, " "), MAX_TITLE_CHARS)}"`;
  if (some.length > 0) return didYouMean(some.slice(0, MAX_SUGGESTIONS).map(named));
  const [last] = all;
  return `${last ? `; the last one is ${named(last)}` : ""}; 'leftoff list --all' shows all sessions`;
}
