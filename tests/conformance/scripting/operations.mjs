// @ts-check
/** The operations of the public surface: what a script asks, and what of its answer is recorded. */

import {
  compareContexts,
  costOf,
  countTokens,
  findStopPhrase,
  historyText,
  listText,
  modelOf,
  pricesOf,
  readTranscript,
} from "../../../js/index.js";

/** @import { Session, Store } from "../../../js/index.js" */

/** @typedef {Record<string, any>} StepRequest */

/** @type {Record<string, (asked: StepRequest) => unknown>} */
export const PLAIN = {
  compareContexts: ({ before, after }) => compareContexts(before, after),
  countTokens: ({ text, ...options }) => countTokens(text, options),
  historyText: ({ messages }) => historyText(messages),
  listText: ({ listed }) => listText(listed),
  modelOf: ({ name }) => modelOf(name),
  costOf: ({ model, usage }) => costOf(model, usage),
  pricesOf: ({ name }) => pricesOf(name),
  findStopPhrase: ({ text }) => findStopPhrase(text),
  /** `text`: the file's content instead of its path, as bytes or as what a page has of a file. */
  readTranscript: async ({ path, text, isBlob, start, end, context, words }) => {
    const transcript = await readTranscript(text === undefined ? path : isBlob ? new Blob([text]) : Buffer.from(text));
    const { session, problems } = transcript;
    const found = words !== undefined && { outline: transcript.outline(), found: transcript.search(words) };
    return {
      session,
      problems,
      length: transcript.length,
      ...(start !== undefined && { messages: transcript.slice(start, end) }),
      ...(context && { context: await transcript.context(context) }),
      ...found,
    };
  },
};

/** @type {Record<string, (store: Store, asked: any, session: () => Session) => unknown>} */
export const OF_STORES = {
  closeStore: (store) => store.close(),
  commit: (store, _, session) => store.commit(session()),
  continue: (store, asked) => store.continue(asked),
  create: (store, asked) => store.create(asked),
  createFromSource: (store, asked) => store.create(asked),
  current: (store) => store.current(),
  delete: (store, asked, session) => store.delete(session(), asked),
  doctor: (store, asked) => progressing(asked, (all) => store.doctor(all)),
  folders: ({ project, home, workspace }) => ({ project, home, workspace }),
  find: (store, { words, ...options }) => store.find(words, parseDates(options)),
  goesOn: (store, { text }, session) => store.goesOn(session(), text),
  writeForAgent: (store, asked, session) => store.writeForAgent(session(), { env: process.env, ...asked }),
  import: (store, { path, ...options }) => progressing(options, (all) => store.import(path, all)),
  importAll: (store, asked) => progressing(asked, (all) => store.importAll(all)),
  listImportable: (store, { path, ...options }) => progressing(options, (all) => store.listImportable(path, all)),
  info: (store, _, session) => store.info(session()),
  list: (store, asked) => store.list(parseDates(asked)),
  listSettings: (store) => store.listSettings(),
  mend: (store, _, session) => store.mend(session()),
  notices: (store) => store.notices(),
  clearOutputs: (store, asked) => store.outputs.clear(asked),
  listOutputs: (store, asked) => store.outputs.list(asked),
  loadOutput: (store, { path }) => store.outputs.load(path),
  outputMenu: (store, asked) => store.outputs.menu(asked),
  outputPrompt: (store, asked) => store.outputs.prompt(asked),
  saveOutput: (store, asked) => store.outputs.save(asked),
  selectOutputs: (store, { answer, outputs }) => store.outputs.select(answer, outputs),
  open: (store, { id, source }) => store.session(source ? { source } : id),
  point: (store, _, session) => store.point(session()),
  record: (store, { command, ...conversation }) =>
    store.record({ ...conversation, ...(command && { commandOf: async () => command }) }),
  recall: (store, { question, ...options }) => store.recall(question, options),
  usage: (store, asked) => store.usage(parseDates(asked)),
  turn: (store, { conversation, ...options }) => store.turn(conversation, options),
  redacted: (store, { value }) => store.redacted(value),
  relocate: (store, { from, to }) => store.relocate(from, to),
  restore: (store, { id }) => store.restore(id),
  newestMessages: async (store, listed) => takeItems(store.newestMessages(listed), Infinity),
  search: async (store, { words, most = Infinity, ...options }) =>
    takeItems(store.search(words, parseDates(options)), most),
  secrets: (store) => store.secrets,
  settings: (store) => ({ settings: store.settings, problems: store.problems }),
  tidy: (store, { limits }) => store.tidy(limits),
  trashed: (store) => store.trashed(),
  unsetSetting: (store, { key, ...options }) => store.unsetSetting(key, options),
  writeSetting: (store, { key, value, ...options }) => store.writeSetting(key, value, options),
  fork: (store, asked, session) => store.fork(session(), asked),
  move: (store, asked, session) => store.move(session(), asked),
};

/** @type {Record<string, (session: Session, asked: any) => unknown>} */
export const OF_SESSIONS = {
  append: async (session, { messages, ...options }) => {
    const { acknowledged, records } = await session.append(messages, options);
    return { acknowledged, records };
  },
  appendTool: (session, { execution }) => session.appendTool(execution),
  archive: (session) => session.archive(),
  brief: (session, asked) => session.brief(asked),
  closeSession: (session) => session.close(),
  compact: (session, asked) => session.compact(asked),
  complete: (session, asked) => session.complete(asked),
  context: (session, asked) => session.context(asked),
  examine: (session) => session.examine(),
  export: (session, { format, ...options }) => session.export(format, options),
  flush: (session, asked) => session.flush(asked),
  recordMessage: (session, { message, ...options }) => session.record(message, options),
  follow: (session, { most, signal }) => collectFollowed((options) => session.follow(options), most, signal),
  lastContext: (session, asked) => session.lastContext(asked),
  messages: (session, { most = Infinity, ...reading }) => takeItems(session.messages(reading), most),
  metadata: (session) => session.metadata,
  others: async (session) => (await session.others()).length,
  pause: (session) => session.pause(),
  pin: (session, { messageId }) => session.pin(messageId),
  pins: (session) => session.pins(),
  searchIn: async (session, { question, most = Infinity, ...options }) =>
    takeItems(session.search(question, parseDates(options)), most),
  refresh: (session) => session.refresh(),
  rename: (session, { title }) => session.rename(title),
  resume: (session, asked) => session.resume(asked),
  setAgent: (session, { agent }) => session.setAgent(agent),
  state: (session) => session.state(),
  stop: (session, asked) => session.stop(asked),
  summaryOf: (session, asked) => session.summaryOf(asked),
  tools: (session) => session.tools(),
  unarchive: (session) => session.unarchive(),
  unpin: (session, { messageId }) => session.unpin(messageId),
  updateAgent: (session, { agent }) => session.updateAgent(agent),
};

/** @param {any} options with times as texts */
function parseDates({ since, until, ...options }) {
  return { ...options, ...(since && { since: new Date(since) }), ...(until && { until: new Date(until) }) };
}

/**
 * With what is told before each file or session, where that is asked for; how often it tells of one is its choice.
 * @param {any} options
 * @param {(options: any) => Promise<object>} work
 */
async function progressing({ onProgress, ...options }, work) {
  if (onProgress !== true) return work({ ...options, ...(onProgress !== undefined && { onProgress }) });
  /** @type {Map<string, object>} */
  const first = new Map();
  const answer = await work({
    ...options,
    onProgress: (/** @type {{ path: string }} */ one) => void (first.has(one.path) || first.set(one.path, one)),
  });
  return { ...(Array.isArray(answer) ? { reports: answer } : answer), progress: [...first.values()] };
}

/**
 * What comes until there are so many, and the signal ends it.
 * @param {(options: { signal: AbortSignal }) => ReturnType<Session["follow"]>} follow
 * @param {number} [most]
 * @param {any} [signal]
 */
async function collectFollowed(follow, most = 0, signal) {
  const ended = new AbortController();
  if (most === 0) ended.abort();
  const all = [];
  for await (const message of follow({ signal: signal ?? ended.signal })) if (all.push(message) === most) ended.abort();
  return all;
}

/** @template T @param {AsyncGenerator<T>} generator @param {number} most */
async function takeItems(generator, most) {
  const all = [];
  while (all.length < most) {
    const { done, value } = await generator.next();
    if (done) return all;
    all.push(value);
  }
  await generator.return(undefined);
  return all;
}
