// @ts-check
/**
 * The server of the Model Context Protocol: a store's conversations for whatever client a model runs in. Each answer is
 * short, says where it is from and how to go on, and shows what was said in a fence: it is data, and no instruction.
 */

import { McpServer, ResourceTemplate, fromJsonSchema } from "@modelcontextprotocol/server";

import { LeftoffError, historyText } from "../index.js";
import { VERSION } from "../wasm/version.js";

/** @import { CallToolResult, GetPromptResult, StandardSchemaWithJSON } from "@modelcontextprotocol/server" */
/** @import { Session } from "../session/session.js" */
/** @import { Store } from "../store/store.js" */
/** @import { ReadMessage } from "../types/index.js" */

/** The most bytes of an answer: a model reads all of it. */
const MAX_ANSWER_BYTES = 4096;
/** What an answer has beside what is quoted: the fence, what it says of the session, how to go on. */
const FRAME_BYTES = 700;
/** The most bytes of one message, as JSON; the whole of it is in the session's resource. */
const MAX_MESSAGE_BYTES = 3000;
/** How many messages before the one that is asked for are shown. */
const MESSAGES_BEFORE = 2;
/** How many sessions are listed as resources. */
const MAX_RESOURCES = 50;
const BRIEF_TOKENS = 900;
/** How much of a model's window a resumed conversation is made for, in tokens and in bytes. */
const RESUME_WINDOW = 32_000;
const RESUME_BYTES = 60_000;

const INSTRUCTIONS =
  "leftoff keeps the conversations of all agents in this project. Use recall with a question before you ask the user " +
  "what was decided or why; use search for words, files or errors; use open to read on where they point.";

const READS = { readOnlyHint: true, openWorldHint: false };
/**
 * The arguments of a call: texts, unless they are named as flags.
 * @param {Record<string, string>} described what each is
 * @param {{ required?: string[], flags?: string[] }} [kinds]
 * @returns {any}
 */
function argumentsOf(described, { required = [], flags = [] } = {}) {
  const properties = Object.entries(described).map(([name, description]) => [
    name,
    { type: flags.includes(name) ? "boolean" : "string", description },
  ]);
  return fromJsonSchema({
    type: "object",
    properties: Object.fromEntries(properties),
    required,
    additionalProperties: false,
  });
}

/** @typedef {{ words: string, all?: boolean, cursor?: string }} WordsRequest */
/** @typedef {{ session: string, message?: string, cursor?: string }} OpenRequest */

const CURSOR = "Where an earlier answer went on";
/** @type {StandardSchemaWithJSON<WordsRequest, WordsRequest>} */
const WORDS = argumentsOf(
  {
    words: "Words to look for; those in double quotes must occur exactly so",
    all: "In all projects, not only this one",
    cursor: CURSOR,
  },
  { required: ["words"], flags: ["all"] },
);
/** @type {StandardSchemaWithJSON<OpenRequest, OpenRequest>} */
const PLACE = argumentsOf(
  {
    session: "The session's id, or the beginning of it",
    message: "The id of a message to open it at; the newest messages without it",
    cursor: CURSOR,
  },
  { required: ["session"] },
);
/** @type {StandardSchemaWithJSON<{ question: string }, { question: string }>} */
const QUESTION = argumentsOf({ question: "The question, in a sentence" }, { required: ["question"] });
/** @type {StandardSchemaWithJSON<{ summary?: string }, { summary?: string }>} */
const SUMMARY = argumentsOf({ summary: "What was done and what is open, in a few sentences" });
/** @type {StandardSchemaWithJSON<{ session?: string }, { session?: string }>} */
const CHOICE = argumentsOf({ session: "The session's id; the current one without it" });

/** Makes a server for one client. @param {Store} store */
export function createServer(store) {
  const server = new McpServer({ name: "leftoff", version: VERSION }, { instructions: INSTRUCTIONS });
  const searching = {
    description: "Searches what was said in this project's conversations, of all agents. Gives previews with ids.",
    annotations: READS,
    inputSchema: WORDS,
  };
  // The second is the name that the documents give it, as they name get_context.
  for (const name of ["search", "search_workspace"])
    server.registerTool(name, searching, (asked) => answer(store, () => search(store, asked)));
  server.registerTool(
    "open",
    {
      description: "Shows the messages of a conversation, around one of them or the newest.",
      annotations: READS,
      inputSchema: PLACE,
    },
    (asked) => answer(store, () => open(store, asked)),
  );
  server.registerTool(
    "recall",
    {
      description: "Quotes what earlier conversations say on a question, each quote with its source.",
      annotations: READS,
      inputSchema: QUESTION,
    },
    ({ question }) => answer(store, () => recall(store, question)),
  );
  server.registerTool(
    "get_context",
    {
      description: "Tells where a conversation stands: task, decisions, open tasks, files, failed commands.",
      annotations: READS,
      inputSchema: CHOICE,
    },
    ({ session }) => answer(store, async () => brief(await chooseSession(store, session))),
  );
  server.registerTool(
    "save",
    {
      description: "Saves and pauses the current conversation, with a summary. It goes on with the next message.",
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      inputSchema: SUMMARY,
    },
    ({ summary }) => answer(store, () => save(store, summary)),
  );
  registerPrompts(server, store);
  registerSessions(server, store);
  return server;
}

/** @param {McpServer} server @param {Store} store */
function registerPrompts(server, store) {
  server.registerPrompt(
    "resume",
    { description: "Goes on with an earlier conversation", argsSchema: CHOICE },
    async ({ session: id }) => {
      const session = await chooseSession(store, id);
      const { block, history } = await session.resume({
        window: RESUME_WINDOW,
        maxBytes: RESUME_BYTES,
        revives: false,
      });
      const text = `${block}\n${historyText(history)}`;
      // What is said next belongs to that session.
      await store.goesOn(session, text);
      return asPrompt(await redact(store, text));
    },
  );
  server.registerPrompt(
    "brief",
    { description: "Tells where a conversation stands", argsSchema: CHOICE },
    async ({ session }) => asPrompt(await redact(store, await brief(await chooseSession(store, session)))),
  );
}

/** @param {McpServer} server @param {Store} store */
function registerSessions(server, store) {
  const uriOf = (/** @type {string} */ id) => `leftoff://session/${id}`;
  const list = async () => ({
    resources: (await store.list({ limit: MAX_RESOURCES })).map(({ id, title, summary }) => ({
      uri: uriOf(id),
      name: title || id,
      description: summary || undefined,
      mimeType: "text/markdown",
    })),
  });
  server.registerResource(
    "session",
    new ResourceTemplate(uriOf("{id}"), { list }),
    { description: "A conversation as Markdown", mimeType: "text/markdown" },
    async (uri, { id }) => {
      const session = await store.session(String(id));
      const text = await redact(store, await session.export("markdown"));
      return { contents: [{ uri: uri.href, mimeType: "text/markdown", text }] };
    },
  );
}

/** @param {string} text @returns {GetPromptResult} */
const asPrompt = (text) => ({ messages: [{ role: "user", content: { type: "text", text } }] });

/**
 * Answers a call; a refusal is an answer, too: the model reads what was wrong.
 * @param {Store} store @param {() => Promise<string>} work @returns {Promise<CallToolResult>}
 */
async function answer(store, work) {
  try {
    return { content: [{ type: "text", text: await redact(store, await work()) }] };
  } catch (error) {
    if (!(error instanceof LeftoffError) || error.code === "internal") throw error;
    const text = await redact(store, `${error.message} (${error.code})`);
    return { isError: true, content: [{ type: "text", text }] };
  }
}

/** A text without the secrets that are to be replaced. @param {Store} store @param {string} text */
async function redact(store, text) {
  return (await store.redacted(text)).value;
}

/**
 * The session one is in, if one goes on: what it says is known.
 * @param {Store} store
 */
async function findOwnSession(store) {
  const session = await store.current();
  return session?.metadata.lifecycle === "active" ? session : undefined;
}

/** @param {Store} store @param {string} [id] */
async function chooseSession(store, id) {
  const session = id === undefined ? await store.current() : await store.session(id);
  if (session) return session;
  throw new LeftoffError({ code: "not_found", message: "this project has no session yet" });
}

/** @param {Store} store @param {WordsRequest} asked */
async function search(store, { words, all, cursor }) {
  const own = await findOwnSession(store);
  const page = new Page();
  const start = placeOf(cursor);
  let count = 0;
  let next;
  for await (const hit of store.search(words, { all })) {
    if (hit.session.id === own?.id) continue;
    count += 1;
    if (count <= start) continue;
    const { session, id, role = "title", timestamp, excerpt } = hit;
    const content = cutToFit(excerpt.map(({ text }) => text).join(""));
    const added = page.add({ role, timestamp, content: `[${session.id}${id ? ` ${id}` : ""}] ${content}` });
    if (!added) {
      next = count - 1;
      break;
    }
  }
  if (page.isEmpty) return count > 0 ? "Nothing more was found." : "Nothing was found.";
  return page.render("Each line begins with the ids of the session and of the message; open shows more.", next);
}

/** @param {Store} store @param {OpenRequest} asked */
async function open(store, { session: id, message, cursor }) {
  const session = await store.session(id);
  /** @type {ReadMessage[]} */
  const all = [];
  for await (const one of session.messages()) all.push(one);
  const found = message === undefined ? -1 : all.findIndex((one) => one.id === message);
  if (message !== undefined && found < 0)
    throw new LeftoffError({ code: "not_found", message: `the session has no message "${message}" on its branch` });
  const { display, type, lifecycle } = session.metadata;
  const about = `${session.id}: ${JSON.stringify(display.title)}, ${type}, ${lifecycle}, ${all.length} messages.`;
  const page = new Page();
  if (cursor === undefined && message === undefined) {
    let first = all.length;
    while (first > 0 && page.addBefore(toLine(/** @type {ReadMessage} */ (all[first - 1])))) first -= 1;
    const older = first > 0 ? ` Those before: cursor "0".` : "";
    return page.render(`${about} The newest:${older}`);
  }
  let place = cursor === undefined ? Math.max(0, found - MESSAGES_BEFORE) : placeOf(cursor);
  const start = place + 1;
  while (place < all.length && page.add(toLine(/** @type {ReadMessage} */ (all[place])))) place += 1;
  return page.render(`${about} From message ${start} on:`, place < all.length ? place : undefined);
}

/** A message as a line of an answer. @param {ReadMessage} message */
function toLine({ role, timestamp, content = "", assistant }) {
  const calls = assistant?.toolCalls?.map(({ name }) => name).join(", ");
  const cut = cutToFit(content);
  return { role, timestamp, content: calls ? `${cut} [calls ${calls}]`.trimStart() : cut };
}

/** The beginning of a text that has room in an answer. @param {string} text */
function cutToFit(text) {
  const byteLength = Buffer.byteLength(JSON.stringify(text));
  if (byteLength <= MAX_MESSAGE_BYTES) return text;
  let kept = Math.floor((text.length * MAX_MESSAGE_BYTES) / byteLength);
  // What takes more bytes than the rest may stand at the beginning.
  while (Buffer.byteLength(JSON.stringify(text.slice(0, kept))) > MAX_MESSAGE_BYTES) kept = Math.floor(kept / 2);
  return `${text.slice(0, kept)} [… ${text.length - kept} characters more]`;
}

/** @param {Store} store @param {string} question */
async function recall(store, question) {
  const own = await findOwnSession(store);
  const { text } = await store.recall(question, { maxBytes: MAX_ANSWER_BYTES, exclude: own ? [own.id] : [] });
  return text || "Nothing that was said before matches.";
}

/** @param {Session} session */
async function brief(session) {
  return (await session.brief({ maxTokens: BRIEF_TOKENS })) || "Nothing was said in this session yet.";
}

/** @param {Store} store @param {string} [summary] */
async function save(store, summary) {
  const session = await chooseSession(store);
  await session.stop({ summary });
  const title = JSON.stringify(session.metadata.display.title);
  return `Session saved: ${title} (${session.id}) is paused, and goes on with the next message.`;
}

/** @param {string} [cursor] */
function placeOf(cursor) {
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw new LeftoffError({
    code: "invalid_request",
    message: `expected a cursor that an earlier answer gave, but found ${JSON.stringify(cursor)} instead`,
  });
}

/** What an answer shows of a message. @typedef {{ role?: string, timestamp?: string, content: string }} Line */

/** The lines of an answer, as many as it has room for. */
class Page {
  /** @type {Line[]} */
  #lines = [];
  #byteLength = FRAME_BYTES;

  /** Adds a line, unless there is no room; the first one always has. @param {Line} line */
  add(line) {
    if (!this.#takes(line)) return false;
    this.#lines.push(line);
    return true;
  }

  /** Adds a line before the others. @param {Line} line */
  addBefore(line) {
    if (!this.#takes(line)) return false;
    this.#lines.unshift(line);
    return true;
  }

  get isEmpty() {
    return this.#lines.length === 0;
  }

  /** @param {string} about @param {number} [next] where it goes on */
  render(about, next) {
    const more = next === undefined ? "" : `\nThere is more: cursor "${next}".`;
    return `${about}\n${historyText(this.#lines)}${more}`;
  }

  /** @param {Line} line */
  #takes(line) {
    const byteLength = Buffer.byteLength(JSON.stringify(line)) + 1;
    if (this.#byteLength + byteLength > MAX_ANSWER_BYTES && !this.isEmpty) return false;
    this.#byteLength += byteLength;
    return true;
  }
}
