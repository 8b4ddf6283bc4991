// @ts-check
/** What is done with a store. */

import { resolve } from "node:path";

import { realPath } from "../../../../js/storage/real-path.js";
import { toJson } from "../../../../js/wasm/json.js";
import { texts as plain } from "../../../component/host.mjs";
import { awaitDone, json, placementOf, texts } from "./answers.mjs";
import { handedOver } from "./handing.mjs";
import { importPath, importedAll, listedImportable, progressing, recordConversation } from "./importing.mjs";
import { OF_SESSIONS, asking, callerAnswers, redactValue } from "./sessions.mjs";

/** @import { SessionRequest } from "./sessions.mjs" */

/** @type {Record<string, (given: SessionRequest) => unknown>} */
export const OF_STORES = {
  commit: async (given) => {
    const { host, session } = given;
    if (placementOf(session) === "workspace") await host.run(session.flush());
    const { display } = /** @type {any} */ (await OF_SESSIONS.metadata?.(given));
    return json(host.run(host.store.commit(session, display.title)));
  },
  delete: async ({ host, session, asked: { purge = false } }) => {
    return { trash: await json(host.run(host.store.delete(session, purge))) };
  },
  doctor: ({ host, asked }) => progressing(host, asked.onProgress, () => host.store.doctor(JSON.stringify(asked))),
  writeForAgent: ({ host, session, own, asked }) => {
    const by = (/** @type {"context" | "resume"} */ op) => (/** @type {any} */ request) =>
      OF_SESSIONS[op]?.({ host, session, own: { ...own, ...callerAnswers(host, session, request) }, asked: request });
    return handedOver(host, session, asked, { context: by("context"), resume: by("resume") });
  },
  folders: ({ host: { project, home, workspace = project } }) => ({ project, home, workspace }),
  goesOn: ({ host, session, asked: { text } }) => awaitDone(host.run(host.store.continuedBy(session, text))),
  import: ({ host, asked }) => importPath(host, asked),
  importAll: ({ host, asked }) => importedAll(host, asked),
  listImportable: ({ host, asked }) => listedImportable(host, asked),
  saveOutput: ({ host, asked: { result, ...output } }) => {
    host.given = Buffer.from(toJson(result, { about: "result" }));
    return json(host.run(host.store.saveOutput(JSON.stringify({ ...output, sizeBytes: host.given.length }))));
  },
  loadOutput: async ({ host, asked: { path } }) =>
    JSON.parse((await host.run(host.store.loadOutput(path))) || Buffer.from(host.handed).toString()),
  listOutputs: ({ host, asked }) => json(host.run(host.store.outputs(JSON.stringify(asked)))),
  clearOutputs: async ({ host, asked }) => ({
    count: await json(host.run(host.store.clearOutputs(JSON.stringify(asked)))),
  }),
  outputMenu: (given) => json(given.host.run(given.host.store.outputMenu(JSON.stringify(given.asked)), outOf(given))),
  selectOutputs: ({ asked: { answer, outputs } }) =>
    [...plain.chosenOutputs(answer, outputs.length)].map((place) => outputs[place]),
  outputPrompt: (given) =>
    json(given.host.run(given.host.store.outputPrompt(JSON.stringify(given.asked)), outOf(given))),
  redacted: async ({ host, asked: { value } }) => {
    const { changed: _, value: left = value, secrets } = await json(host.run(host.store.out(JSON.stringify(value))));
    return { value: left, secrets };
  },
  restore: ({ host, asked: { id } }) => json(host.run(host.store.restore(id))),
  trashed: ({ host }) => json(host.run(host.store.trashed())),
  find: async ({ host, asked: { words, ...request } }) =>
    JSON.parse(plain.found(words, await host.run(host.store.list(JSON.stringify(request))))),
  search: async ({ host, asked: { words, most, ...asked } }) => {
    const [request, own] = asking(asked);
    return (await texts(host, host.store.search(words, request), own))
      .flatMap((page) => JSON.parse(page))
      .slice(0, most);
  },
  newestMessages: async ({ host, asked: { path, placement } }) =>
    (await texts(host, host.store.newestMessages(path, placement))).flatMap((page) => JSON.parse(page)),
  usage: ({ host, asked }) => json(host.run(host.store.usage(JSON.stringify(asked)))),
  recordMessage: ({ host, session, asked }) => json(host.run(host.store.recordMessage(session, JSON.stringify(asked)))),
  turn: ({ host, asked: { conversation, ...asked } }) =>
    json(host.run(host.store.turn(conversation, JSON.stringify(asked)))),
  recall: ({ host, asked: { question, ...asked } }) => {
    const [request, own] = asking(asked);
    return json(host.run(host.store.recall(question, request), own));
  },
  info: async (given) => redactValue(given, await json(given.host.run(given.host.store.info(given.session)))),
  list: ({ host, asked }) => json(host.run(host.store.list(JSON.stringify(asked)))),
  mend: async ({ host, session }) => {
    await host.run(session.flush());
    return (await json(host.run(host.store.mend(session)))) ?? undefined;
  },
  notices: ({ host }) => JSON.parse(host.store.notices()),
  point: ({ host, session }) => json(host.run(host.store.point(session))),
  relocate: async ({ host, asked: { from, to } }) => {
    const [old, path] = [resolve(from), realPath(to)];
    return { count: await json(host.run(host.store.relocate(old.normalize("NFC"), path, path.normalize("NFC")))) };
  },
  secrets: ({ host }) => JSON.parse(host.store.secrets()),
  listSettings: async ({ host }) => (await json(host.run(host.store.settings()))).all,
  settings: async ({ host }) => {
    const { all: _, ...told } = await json(host.run(host.store.settings()));
    return told;
  },
  tidy: ({ host, asked }) => json(host.run(host.store.tidy(JSON.stringify(asked.limits ?? null)))),
  unsetSetting: ({ host, asked: { key, project = false } }) =>
    awaitDone(host.run(host.store.writeSetting(key, undefined, project))),
  writeSetting: ({ host, asked: { key, value, project = false } }) =>
    awaitDone(host.run(host.store.writeSetting(key, JSON.stringify(value) ?? "null", project))),
};

/** What leaves of no session. @param {SessionRequest} given @returns {Record<string, (asked: any) => any>} */
function outOf({ host }) {
  return host.redacts ? { out: async (value) => ({ tag: "text", val: await host.run(host.store.out(value)) }) } : {};
}

/** Those that end with a session. @type {Record<string, (given: SessionRequest) => Promise<any>>} */
export const OPENING = {
  continue: ({ host, asked }) => host.run(host.store.goOn(JSON.stringify(asked))),
  create: ({ host, asked }) => host.run(host.store.create(JSON.stringify(asked))),
  createFromSource: async ({ host, asked }) =>
    host.run(host.store.session(await json(host.run(host.store.createFromSource(JSON.stringify(asked)))))),
  current: async ({ host }) => {
    const found = await host.run(host.store.current());
    return found === "null" ? undefined : found;
  },
  fork: ({ host, session, asked }) => host.run(host.store.fork(session, JSON.stringify(asked))),
  record: ({ host, asked }) => recordConversation(host, asked),
  move: ({ host, session, asked }) => host.run(host.store.move(session, JSON.stringify(asked))),
  open: async ({ host, asked: { id: given, source } }) => {
    const id = source ? await json(host.run(host.store.ofSource(JSON.stringify(source)))) : given;
    return host.run(host.store.session(id));
  },
};
