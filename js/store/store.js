// @ts-check
/** A store: the sessions of a home folder, and of workspaces. */

import { collectAgentFiles, followReadable, listNamedFiles } from "../agents/files.js";
import { LeftoffError, unlessBug } from "../error.js";
import { transcriptLocations, realPath, writeNativeSession } from "../host/host.node.js";
import { join, resolve } from "../host/path.node.js";
import { layoutNames } from "../placement/placement.js";
import { handleOf } from "../session/session.js";
import { OpenSessions } from "./open-sessions.js";
import { checkOptions, checkKind, checkSession } from "../wasm/options.js";
import { ToolOutputs } from "./outputs.js";
import { rankByWords } from "./search.js";
import { agents } from "../wasm/agents.js";
import { offsetChanges } from "../wasm/clock.js";
import { CoreStore } from "../wasm/store.js";

/** @import { TranscriptLocation } from "../agents/transcript-locations.js" */
/** @import { Session } from "../session/session.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { StoreParts } from "./open-sessions.js" */
/**
 * @import { AutoPersistConfig, Committed, CreateOptions, DoctorOptions, DoctorReport, WriteForAgent, WrittenForAgent, Found, ImportOptions, ImportableOptions, ImportableResult, SearchOptions, ImportResult, ListOptions, Listed, Notice, ReadMessage, RecallOptions, Recalled, Secret, SessionInfo, Setting, SettingProblem, Settings, ToldAtTurn, Trashed, UsageOptions, UsageReport } from "../types/index.js"
 */

/**
 * The sessions of a home folder, and those in workspaces that it knows of. `openStore` opens one. Methods throw
 * `LeftoffError`: beside the codes that each names, those of the storage (`disk_full`, `permission_denied`,
 * `storage_closed` …).
 */
export class Store {
  #idleMs;
  #read;
  #redaction;
  #places;
  #core;
  /** The same store in the second module. */
  #agentsStore;
  #open;
  /** @type {ToolOutputs | undefined} made when first asked for */
  #outputs;
  /** @type {Promise<void> | undefined} */
  #closing;

  /** @private @param {StoreParts} parts */
  constructor({ project, home, workspace, storage, places, countTokens, idleMs, read, redaction, runGit }) {
    this.#read = read;
    this.#idleMs = idleMs ?? read.settings.idleMinutes * 60_000;
    this.#places = places;
    this.#redaction = redaction;
    const storageOf = (/** @type {string | undefined} */ root) => places.storageOf(root);
    /** @type {import("../wasm/store.js").CoreStoreParts} */
    const parts = {
      project,
      home,
      workspace,
      idleMs: this.#idleMs,
      redacts: redaction.isOn,
      countTokens,
      storage,
      storageOf,
      runGit,
      turn: (path) => this.#open.turn(path),
    };
    this.#core = new CoreStore(parts);
    this.#agentsStore = new CoreStore({ ...parts, tell: (notices) => this.#core.addNotices(notices) }, agents);
    const cache = { storage, folder: join(home, layoutNames().cache) };
    this.#open = new OpenSessions(
      {
        core: this.#core,
        agentsStore: this.#agentsStore,
        cache,
        countTokens,
        redaction,
        ended: (id) => this.#outputs?.clear({ sessionId: id }),
        search: (...asked) => this.#agentsStore.pages(redaction.own, "searchIn", ...asked),
        fork: (...asked) => this.fork(...asked),
      },
      places,
      this.#idleMs,
    );
    /** The project's folder. */
    this.project = project;
    /** The store's folder. */
    this.home = home;
    /** The workspace: the folder that has `conversations/`. */
    this.workspace = workspace ?? project;
  }

  /**
   * The effective settings: the files' values, and defaults for the rest.
   * @returns {Settings}
   * @example store.settings.idleMinutes; // => 5
   */
  get settings() {
    return this.#read.settings;
  }

  /** The values in settings files that could not be used. @returns {SettingProblem[]} */
  get problems() {
    return this.#read.problems;
  }

  /**
   * Lists each setting, and where its value comes from.
   * @returns {Setting[]}
   * @example
   * store.listSettings().find(({ key }) => key === "idleMinutes")?.value; // => 5
   */
  listSettings() {
    return structuredClone(this.#read.all);
  }

  /**
   * Writes a setting into the home's file, or the project's.
   * @param {string} key `autoPersist.debounceMs`
   * @param {unknown} value
   * @param {{ project?: boolean }} [options]
   * @throws {LeftoffError} `invalid_setting` for a key that is not known, a value of another kind, a file that is no
   *   JSON object
   * @example await store.writeSetting("redact", "replace"); store.settings.redact; // => "replace"
   */
  async writeSetting(key, value, options = {}) {
    const { project = false } = checkOptions("setting", options);
    await this.#agentsStore.run("writeSetting", key, value === undefined ? "" : settingJson(value), String(project));
    this.#read = await this.#core.run("settings");
  }

  /**
   * Takes a setting out of the home's file, or the project's.
   * @param {string} key
   * @param {{ project?: boolean }} [options]
   * @throws {LeftoffError} what `writeSetting` throws
   * @example
   * await store.writeSetting("idleMinutes", 30);
   * await store.unsetSetting("idleMinutes");
   * store.settings.idleMinutes; // => 5
   */
  unsetSetting(key, options) {
    return this.writeSetting(key, undefined, options);
  }

  /**
   * Opens the project's current session, or creates one.
   * @param {{ model?: string }} [options] `model`: that of a new session
   * @returns {Promise<Session>}
   * @throws {LeftoffError} `invalid_request` for a `model` that is no text
   * @example
   * const session = await store.continue({ model: "gpt-5" }); (await store.continue()).id === session.id; // => true
   */
  async continue(options = {}) {
    return this.#open.openWith("goOn", checkOptions("continue", options));
  }

  /**
   * Creates a session of the project, which is its current one from then on. With `source`: opens or creates the one
   * that an agent's session is recorded into, and that an import of the agent's files finds again; the current one stays.
   * @param {CreateOptions} [options]
   * @returns {Promise<Session>}
   * @throws {LeftoffError} `invalid_id` for a name that is no plain name; `already_exists` where the workspace has it;
   *   `invalid_request` for a source whose agent is no name, or an agent's name in another spelling
   * @example
   * (await store.create({ title: "The parser", agent: { command: "/brainstorm" } })).metadata.display.title; // => "The parser"
   */
  async create(options = {}) {
    if (Object(options).source === undefined) return this.#open.openWith("create", checkOptions("create", options));
    const asked = checkOptions("createFromSource", options);
    return this.session(await this.#agentsStore.runWith({ lease: this.#core.lease }, "createFromSource", asked));
  }

  /**
   * Opens a session by its id, a unique beginning of one, or its name in a workspace; or by its id in the agent from
   * which it
   * was imported or recorded. If a session was resumed in that agent's session, the one that goes on there is opened.
   * @param {string | { source: { agent: string, id: string } }} id
   * @returns {Promise<Session>}
   * @throws {LeftoffError} `not_found`; `ambiguous` where several begin so
   * @example const { id } = await store.create(); (await store.session(id)).id === id; // => true
   */
  async session(id) {
    if (Object(id) === id)
      return this.session(
        await this.#agentsStore.run(
          "ofSource",
          checkOptions("source", checkOptions("session", /** @type {any} */ (id)).source),
        ),
      );
    return this.#open.openWith("session", checkKind("id", /** @type {string} */ (id)));
  }

  /**
   * Reads from a session's files all there is to know of it: messages by role, the session it came from and the
   * project's sessions
   * that came from it, the files in its folder and their health.
   * @param {Session} session
   * @returns {Promise<SessionInfo>}
   * @throws {LeftoffError} `not_found`
   * @example (await store.info(await store.create({ title: "The parser" }))).title; // => "The parser"
   */
  async info(session) {
    const { location: lying, redactor: secrets } = handleOf(checkSession(session));
    return secrets.redactResult(this.#agentsStore.runWith({ lease: this.#core.lease }, "info", ...lying)); // By the lease's name, sessions open in the first module don't count as open elsewhere.
  }

  /**
   * Reports what is wrong with a session, or with all of them and the store itself. Without `fix` it changes no byte;
   * with `fix`
   * it mends what can be mended, and never touches a complete line of a log.
   * @param {DoctorOptions} [options] `id`: as `session` takes it; `secrets`: also looks for secrets in the files;
   *   `onProgress`: called before each session is examined
   * @returns {Promise<DoctorReport[]>} places are byte offsets
   * @throws {LeftoffError} `not_found` or `ambiguous` for an `id` that means none, or several
   * @example
   * await store.create();
   * const [report] = await store.doctor();
   * report.health; // => "ok"
   */
  async doctor(options = {}) {
    const { onProgress: onPage, ...asked } = checkOptions("doctor", options);
    const request = { ...asked, onProgress: onPage !== undefined };
    return this.#redactResult(this.#agentsStore.runWith({ onPage }, "doctor", request));
  }

  /**
   * Mends a session's files where they can be mended.
   * @param {Session} session
   * @returns {Promise<DoctorReport | undefined>} nothing where it is there no longer
   * @throws {LeftoffError} `invalid_request` for what is no session; `not_found` for one of another store
   * @example await store.mend(await store.create());
   */
  async mend(session) {
    await checkSession(session).flush();
    return (await this.#agentsStore.run("mend", session.path, session.placement)) ?? undefined;
  }

  /**
   * Lists sessions, last active first: the project's, or all. Unchanged ones come from the session index; others are
   * opened
   * and indexed again.
   * @param {ListOptions} [options]
   * @returns {Promise<Listed[]>}
   * @throws {LeftoffError} `invalid_request` for options that cannot be meant
   * @example
   * await store.create({ title: "The parser" }); (await store.list({ limit: 10 })).map(({ title }) => title); // => ["The parser"]
   */
  async list(options = {}) {
    const { limit, ...asked } = checkOptions("list", options);
    const wanted = { ...asked, limit: limit === Infinity ? undefined : limit };
    const isLimit = (/** @type {Setting} */ { key, source }) =>
      source !== "default" && /^autoPersist\.(max|autoArchive)/.test(key);
    // Only the second module archives old sessions and redacts: unless one of these is set it need not be loaded.
    if (!this.#redaction.isOn && !this.#read.all.some(isLimit)) return this.#core.run("list", wanted);
    await this.#core.run("rest"); // Pauses idle sessions: those open here are another process's to the second module, which may not do it.
    return this.#runRedacted("list", wanted);
  }

  /**
   * Finds the sessions that words may mean: those with the words in title or summary, best first; else those that
   * resemble them.
   * @param {string} words
   * @param {ListOptions} [options]
   * @returns {Promise<Listed[]>}
   * @throws {LeftoffError} `invalid_request` for words that are no text; what `list` throws
   * @example await store.create({ title: "The parser" }); (await store.find("parser")).length; // => 1
   */
  async find(words, options) {
    const listed = await this.list(options);
    await agents.ready();
    return rankByWords(checkKind("words", words), listed);
  }

  /**
   * Reads the messages of a listed session, newest first, those of all branches. The session is not opened, and nothing
   * of it changes.
   * @param {{ path: string, placement: "home" | "workspace" }} listed
   * @returns {AsyncGenerator<ReadMessage>}
   * @throws {LeftoffError} `invalid_request` for what no list has; `not_found` where it is there no longer
   * @example
   * await (await store.create()).append({ role: "user", content: "Rename the parser." });
   * const [listed] = await store.list();
   * const said = [];
   * for await (const { content } of store.newestMessages(listed)) said.push(content);
   * said; // => ["Rename the parser."]
   */
  async *newestMessages(listed) {
    const { path, placement } = Object(listed);
    yield* this.#agentsStore.pages(
      this.#redaction.own,
      "newestMessages",
      checkKind("path", path, "/"),
      checkKind("placement", placement),
      {},
    );
  }

  /**
   * Searches messages for a question or words: the best session first, and of each its best messages. Searches the
   * sessions that
   * `list` gives; `limit`: how many sessions at most; `since`, `until`: when it was said; `role`: by whom. Words in
   * double
   * quotes must occur exactly so; the other words rank.
   * @param {string} question
   * @param {SearchOptions} [options]
   * @returns {AsyncGenerator<Found>}
   * @throws {LeftoffError} `invalid_request` for options that cannot be meant
   * @example
   * const session = await store.create();
   * await session.append({ role: "user", content: "Rename the parser's entry point." });
   * const found = [];
   * for await (const { role, found: how } of store.search("where do parsers enter?")) found.push([role, how]);
   * found; // => [["user", "some"]]
   */
  async *search(question, options = {}) {
    yield* this.#agentsStore.pages(
      this.#redaction.own,
      "search",
      checkKind("question", question),
      checkOptions("search", options),
    );
  }

  /**
   * Quotes what other sessions say on a question, as a fenced block for a model, each quote with its source; an empty
   * text where
   * nothing matches. Searches the project's sessions, unless `project` names another one's folder, or `all` is set.
   * @param {string} question
   * @param {RecallOptions} [options]
   * @returns {Promise<Recalled>}
   * @throws {LeftoffError} `invalid_request` for options that cannot be meant
   * @example
   * const session = await store.create({ title: "Croniter" });
   * await session.append({ role: "assistant", content: "We pinned croniter: version 2 drops Python 3.8." });
   * const { text, sources } = await store.recall("why did we pin croniter?", { maxTokens: 200 });
   * [text.includes("drops Python 3.8"), sources[0].title]; // => [true, "Croniter"]
   */
  async recall(question, options = {}) {
    return this.#runRedacted("recall", checkKind("question", question), checkOptions("recall", options));
  }

  /**
   * Sums the model calls of sessions, sub-agents' and archived ones too: tokens as the providers counted them, and their
   * cost by the list that `pricesOf` has. A call counts once, whatever forks have a copy of it.
   * @param {UsageOptions} [options]
   * @returns {Promise<UsageReport>} days in their order, else what cost most first
   * @throws {LeftoffError} `invalid_request` for options that cannot be meant
   * @example
   * const session = await store.create();
   * const assistant = { model: "gpt-4o", usage: { input: 1000, output: 200 } };
   * await session.append({ role: "assistant", content: "Done.", assistant });
   * const { rows, total } = await store.usage({ by: ["model"] });
   * rows[0].model; // => "gpt-4o"
   * total.cost; // => 0.0045
   */
  async usage(options = {}) {
    return this.#runRedacted("usage", { ...checkOptions("usage", options), offsets: offsetChanges() });
  }

  /**
   * Tells a client's hook what to say at a turn of a conversation: what other sessions say on the prompt, as the
   * setting `recall`
   * wants it, and nothing twice; whether the user seems to stop; and whether to offer a save, once, after 40 turns
   * without one.
   * @param {string} conversation by which the client knows it, the path of its record mostly
   * @param {{ prompt?: string, session?: string, hasForgotten?: boolean }} [options] `prompt`: what was typed;
   *   `session`: the id of its
   *   session in the store; `hasForgotten`: the client has just forgotten most of it @returns {Promise<ToldAtTurn>}
   * @throws {LeftoffError} `invalid_request` for a conversation or options that are none
   * @example
   * await store.turn(transcriptPath, { prompt: "let's call it a day" }); // => { recalled: "", wantsStop: true, offersSave: false }
   */
  async turn(conversation, options = {}) {
    return this.#runRedacted("turn", checkKind("conversation", conversation), checkOptions("turn", options));
  }

  /**
   * Imports an agent's file, or all files in a folder, into the store. Importing again adds only what is new; in a
   * folder only files that have changed since are read.
   * @param {string} path
   * @param {ImportOptions} [options]
   * @returns {Promise<ImportResult>}
   * @throws {LeftoffError} for one file: `not_found`, `unknown_format`, `too_deep`, `empty_file`, `damaged`,
   *   `too_large`,
   *   `missing_dependency`; for a folder they are among the `problems`
   * @example const { imported, problems } = await store.import(transcriptPath); imported[0].agent; // => "claude-code"
   */
  async import(path, options = {}) {
    const { from, only, onProgress } = checkOptions("import", options);
    const { path: whole, stat } = await followReadable(this.#places.storageOf(), resolve(checkKind("path", path, "/")));
    if (stat?.kind === "folder") return this.#importFolders([{ path: whole, is: () => true }], options);
    return this.#runImport("importFile", { path: whole, from, only, size: stat?.size }, onProgress);
  }

  /**
   * Imports all that the known agents keep on this machine.
   * @param {Omit<ImportOptions, "from">} [options]
   * @returns {Promise<ImportResult>}
   * @throws {LeftoffError} `invalid_request` for options that cannot be meant; of a file they are among the `problems`
   * @example
   * const { imported } = await store.importAll({ onProgress: ({ done, total }) => console.error(done, total) });
   */
  async importAll(options = {}) {
    return this.#importFolders(await transcriptLocations(this), checkOptions("import", options));
  }

  /**
   * Lists the sessions of which the store lacks something, those of the files that changed last at first: what an import
   * would take in. Nothing is written.
   * @param {string | string[]} [paths] agents' files, and folders of them; else all that the known agents keep on this
   *   machine
   * @param {ImportableOptions} [options]
   * @returns {Promise<ImportableResult>}
   * @throws {LeftoffError} what `import` throws
   * @example
   * const { importable } = await store.listImportable(transcriptPath);
   * [importable[0].agent, importable[0].isNew, (await store.list()).length]; // => ["claude-code", true, 0]
   */
  async listImportable(paths, options = {}) {
    const { limit, onProgress, ...asked } = checkOptions("listImportable", options);
    await agents.ready();
    const storage = this.#places.storageOf();
    const files = async () => collectAgentFiles(storage, await transcriptLocations(this));
    const pages = this.#agentsStore.pages(this.#redaction.own, "listImportable", {
      ...(paths === undefined ? { files: await files() } : await listNamedFiles(storage, paths)),
      ...asked,
      limit: limit === Infinity ? undefined : limit,
      tells: onProgress !== undefined,
    });
    for (;;) {
      const { value, done } = await pages.next();
      if (done) return value;
      onProgress?.(value);
    }
  }

  /**
   * Records what an agent's client has written of a conversation so far, while it goes on there; does nothing where the
   * setting `record` is off.
   * @param {import("../types/index.js").Conversation} conversation
   * @returns {Promise<Session | undefined>} its session in the store
   * @throws {LeftoffError} what `import` throws for one file
   * @example
   * const session = await store.record({ agent: "claude-code", path: transcriptPath });
   * session?.metadata.imported?.agent; // => "claude-code"
   */
  async record(conversation) {
    const { agent: from, path, only, commandOf } = checkOptions("record", conversation);
    const found = await this.#agentsStore.runWith({ stores: true, own: { commandOf } }, "record", {
      path: resolve(checkKind("path", path, "/")),
      from,
      only,
      hasCommand: commandOf !== undefined,
    });
    return found ? this.#open.findWith("recorded", found) : undefined;
  }

  /**
   * Notes the text that resumes a session in an agent: what is said after that text in the agent's own session is
   * imported
   * into this one.
   * @param {Session} session
   * @param {string} text with `historyText`
   * @throws {LeftoffError} `invalid_request` for what is no session, or no text
   * @example
   * const session = await store.create();
   * await session.append({ role: "user", content: "Hello" });
   * const { block, history } = await session.resume({ window: 8000 });
   * await store.goesOn(session, `${block}\n${historyText(history)}`);
   */
  async goesOn(session, text) {
    await this.#core.run("noteText", checkKind("text", text), checkSession(session).id);
  }

  /**
   * Writes a session as another agent keeps its own, where its client looks for it, so that the client resumes it. What
   * is said
   * there continues this session once it is imported.
   * @param {Session} session
   * @param {WriteForAgent} writeForAgent
   * @returns {Promise<WrittenForAgent>}
   * @throws {LeftoffError} `invalid_request` for an agent that takes no sessions; `empty_file` where nothing was said;
   *   `missing_dependency`
   * @example
   * const session = await store.create({ model: "gpt-5" });
   * await session.append({ role: "user", content: "Hello" });
   * const { command } = await store.writeForAgent(session, { agent: "codex", env: { CODEX_HOME: folder } });
   * command.slice(0, 2); // => ["codex", "resume"]
   */
  async writeForAgent(session, writeForAgent) {
    const write = (/** @type {object} */ asked, /** @type {Storage} */ outside) =>
      this.#agentsStore.runWith({ outside }, "writeForAgent", asked);
    return writeNativeSession(checkSession(session), { folder: this.project, ...writeForAgent, write });
  }

  /**
   * Large tool outputs, kept beside the sessions.
   * @example await store.outputs.list(); // => []
   */
  get outputs() {
    return (this.#outputs ??= new ToolOutputs(this.#agentsStore, this.#redaction));
  }

  /** Secrets found in outgoing text since the store was opened; needs the setting `redact`. @returns {Secret[]} */
  get secrets() {
    return this.#redaction.reportedSecrets;
  }

  /**
   * Redacts a value, JSON or a text, as the setting `redact` says: for what you read and pass on yourself.
   * Contexts, exports and sessions for other agents are redacted already.
   * @template T
   * @param {T} value
   * @returns {Promise<{ value: T, secrets: Secret[] }>}
   * @throws {LeftoffError} `missing_dependency` where the rules for secrets are not installed
   * @example
   * const { value, secrets } = await store.redacted({ note: "nothing secret" });
   * value; // => { note: "nothing secret" }
   */
  async redacted(value) {
    const { changed: _, ...out } = await this.#redaction.redact(value);
    return out;
  }

  /**
   * Forks a session, as its own `fork` does.
   * @param {Session} session
   * @param {{ at?: string }} [options]
   * @returns {Promise<Session>}
   * @throws {LeftoffError} what `fork` throws
   * @example
   * const one = await store.create();
   * await one.append({ role: "user", content: "Hi" }); (await store.fork(one)).metadata.stats.messageCount; // => 1
   */
  async fork(session, options = {}) {
    const lying = handleOf(checkSession(session)).location;
    const fork = await this.#agentsStore.runWith({ stores: true }, "fork", ...lying, checkOptions("fork", options));
    return this.#open.openWith("kept", fork.path, fork.placement);
  }

  /**
   * Deletes a session: moves it into the trash, whole. With `purge` it is gone for good.
   * @param {Session} session
   * @param {{ purge?: boolean }} [options]
   * @returns {Promise<{ trash: string | null }>} its place in the trash
   * @throws {LeftoffError} `open_elsewhere` where another process has it open
   * @example await store.delete(await store.create()); await store.list(); // => []
   */
  async delete(session, options = {}) {
    const { purge = false } = checkOptions("delete", options);
    const [path, placement, id] = handleOf(checkSession(session)).location;
    const trash = await this.#core.run("delete", path, placement, id, String(purge));
    this.#open.drop(session, true);
    // The session is deleted even if cleaning the search index fails: a search leaves out what no longer exists.
    await this.#agentsStore.run("forgetWords", path, placement).catch(unlessBug);
    return { trash };
  }

  /**
   * Assigns a folder's sessions to another folder, after a project was moved.
   * @param {string} from
   * @param {string} to
   * @returns {Promise<{ count: number }>} how many sessions
   * @throws {LeftoffError} `open_elsewhere` where another process has one of them open; `not_found` where `to` is no
   *   folder
   * @example await store.relocate("/home/ann/old", folder); // => { count: 0 }
   */
  async relocate(from, to) {
    const [old, path] = [resolve(checkKind("from", from, "/")), realPath(checkKind("to", to, "/"))];
    return { count: await this.#core.run("relocate", old.normalize("NFC"), path, path.normalize("NFC")) };
  }

  /**
   * Moves a session into the other placement, with all that belongs to it; the old folder goes to the trash.
   * @param {Session} session
   * @param {{ to: "home" | "workspace", name?: string, day?: string, title?: string }} options `name`, `day`: the
   *   conversation's; a name is made from `title` unless given
   * @returns {Promise<Session>} the session in its new place
   * @throws {LeftoffError} `open_elsewhere` where another process has it open; `already_exists`
   * @example
   * const session = await store.create({ title: "The parser" });
   * (await store.move(session, { to: "workspace" })).placement; // => "workspace"
   */
  async move(session, options) {
    const moved = await this.#open.openWith(
      "move",
      ...handleOf(checkSession(session)).location,
      checkOptions("move", options),
    );
    if (moved !== session) this.#open.drop(session, false);
    return moved;
  }

  /**
   * Lists the sessions in the trash, last deleted first.
   * @returns {Promise<Trashed[]>}
   * @throws {LeftoffError} what any method throws
   * @example
   * await store.delete(await store.create({ title: "The parser" })); (await store.trashed())[0].title; // => "The parser"
   */
  async trashed() {
    return this.#redactResult(this.#agentsStore.run("trashed"));
  }

  /**
   * Brings a session back from the trash to where it was, by its id or a unique beginning of one.
   * @param {string} id
   * @returns {Promise<{ id: string, title: string, path: string }>}
   * @throws {LeftoffError} `not_found`, `ambiguous`; `already_exists` where the store has a session of this id
   * @example
   * const { id } = await store.create();
   * await store.delete(await store.session(id));
   * await store.restore(id);
   * (await store.session(id)).id === id; // => true
   */
  async restore(id) {
    return this.#redactResult(this.#agentsStore.run("restore", checkKind("id", id)));
  }

  /**
   * Archives sessions of the project that are too many, or inactive for too long; archived ones are hidden from lists,
   * but
   * whole. The current session, open ones and those of a workspace stay as they are.
   * @param {Pick<AutoPersistConfig, "maxSessionsPerProject" | "autoArchiveAfterDays">} [limits] the settings' unless
   *   given
   * @returns {Promise<string[]>} the ids of the archived sessions
   * @throws {LeftoffError} `invalid_request` for limits that are no numbers
   * @example await store.tidy({ maxSessionsPerProject: 50, autoArchiveAfterDays: 30 }); // => []
   */
  async tidy(limits = this.settings.autoPersist) {
    return this.#core.run("tidy", checkOptions("tidy", limits));
  }

  /**
   * Commits a conversation with its session, or the session alone where only that changed, by git itself.
   * @param {Session} session
   * @returns {Promise<Committed>}
   * @throws {LeftoffError} `not_in_workspace`, `not_a_repository`, `git_missing`, `git_busy`, `git_failed`,
   *   `session_ignored`
   * @example
   * const { commit, message } = await store.commit(await store.create({ placement: "workspace", title: "The parser" }));
   */
  async commit(session) {
    if (checkSession(session).placement === "workspace") await session.flush();
    return this.#agentsStore.run("commit", session.path, session.placement, session.metadata.display.title);
  }

  /**
   * Makes a session the project's current one.
   * @param {Session} session
   * @returns {Promise<boolean>} whether the project can have one
   * @throws {LeftoffError} `invalid_request` for what is no session; `not_found` for one that the store does not have
   * @example
   * const session = await store.create();
   * await store.create();
   * await store.point(session);
   * (await store.current())?.id === session.id; // => true
   */
  async point(session) {
    return this.#core.run("point", checkSession(session).id, session.path);
  }

  /**
   * Opens the project's current session: the one that is pointed to, else the last active one.
   * @returns {Promise<Session | undefined>}
   * @throws {LeftoffError} what any method throws
   * @example await store.current(); // => undefined
   */
  async current() {
    return this.#open.findWith("current");
  }

  /**
   * Takes the notices that lists found about sessions not opened since; each is given once.
   * @returns {{ path: string, notice: Notice }[]}
   * @example store.notices(); // => []
   */
  notices() {
    return this.#core.notices();
  }

  /**
   * Writes derived files and releases all files. Also called at the end of `await using store = await openStore()`.
   * @throws {LeftoffError} those of the storage
   * @example await store.close();
   */
  close() {
    return (this.#closing ??= this.#closeAll().finally(() => (this.#closing = undefined)));
  }

  async #closeAll() {
    /** @type {PromiseSettledResult<unknown>[]} */
    const closed = await Promise.allSettled([this.#open.close()]);
    closed.push(...(await Promise.allSettled([this.#agentsStore.isClosed ? undefined : this.#outputs?.clear()])));
    closed.push(...(await Promise.allSettled([this.#agentsStore.end()])));
    closed.push(...(await this.#places.close()));
    for (const core of [this.#core, this.#agentsStore]) core.close();
    // A session that could not be closed must not keep the others open.
    for (const one of closed) if (one.status === "rejected") throw one.reason;
  }

  /** The same as `close`. @throws {LeftoffError} what `close` throws */
  [Symbol.asyncDispose]() {
    return this.close();
  }

  /**
   * Runs an operation of the second module and redacts its answer.
   * @param {string} name
   * @param {(string | object)[]} asked
   * @returns {Promise<any>}
   */
  async #runRedacted(name, ...asked) {
    return (await this.#agentsStore.pages(this.#redaction.own, name, ...asked).next()).value;
  }

  /** Redacts the core's answer. @template T @param {Promise<T>} told */
  async #redactResult(told) {
    return (await this.redacted(await told)).value;
  }

  /**
   * Imports the files in folders that have changed since the last import.
   * @param {TranscriptLocation[]} kept
   * @param {ImportOptions} options
   */
  async #importFolders(kept, { from, onProgress }) {
    await agents.ready();
    return this.#runImport(
      "importFiles",
      { files: await collectAgentFiles(this.#places.storageOf(), kept), from },
      onProgress,
    );
  }

  /**
   * Runs an import; after a trap it begins again with what was noted until then.
   * @param {string} name
   * @param {object} asked
   * @param {ImportOptions["onProgress"]} onProgress
   * @param {object[]} [notes]
   * @returns {Promise<ImportResult>}
   */
  async #runImport(name, asked, onProgress, notes = []) {
    const known = notes.length;
    const onPage = (/** @type {any} */ page) => (page.note ? void notes.push(page.note) : onProgress?.(page));
    try {
      const result = await this.#agentsStore.runWith({ stores: true, onPage }, name, {
        ...asked,
        ...("files" in asked && { notes }),
        tells: onProgress !== undefined,
      });
      await this.#open.refresh(result.imported.map((/** @type {{ id: string }} */ { id }) => id));
      return result;
    } catch (error) {
      if (!(error instanceof LeftoffError && error.cause instanceof WebAssembly.RuntimeError && notes.length > known))
        throw error;
      return this.#runImport(name, asked, onProgress, notes);
    }
  }
}

/** A setting's value as JSON; what JSON cannot hold becomes null, which no setting accepts. @param {unknown} value */
function settingJson(value) {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return "null";
  }
}

// Unlike a session's, not made in a static block: a bundle without a store would keep the class.
/** Makes a store from its parts. @internal @param {StoreParts} parts @returns {Store} */
export const storeOf = (parts) => Reflect.construct(Store, [parts]);
