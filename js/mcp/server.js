// @ts-check
/**
 * The server of the Model Context Protocol: a store's conversations for whatever client a model runs in. Each answer is
 * short, says where it is from and how to go on, and shows what was said in a fence: it is data, and no instruction.
 */

import { McpServer, ResourceTemplate, fromJsonSchema } from "@modelcontextprotocol/server";

import { answerBrief, answerCall, answerOpen, answerRecall, answerSearch } from "../answers/answers.js";
import { LeftoffError, historyText } from "../index.js";
import { VERSION } from "../wasm/version.js";

/** @import { CallToolResult, GetPromptResult, StandardSchemaWithJSON } from "@modelcontextprotocol/server" */
/** @import { OpenRequest, WordsRequest } from "../answers/answers.js" */
/** @import { Store } from "../store/store.js" */

/** How many sessions are listed as resources. */
const MAX_RESOURCES = 50;
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

/** Gives the store, by the settings of now. @typedef {() => Promise<Store>} OpenStore */

/** Makes a server for one client. @param {OpenStore} open */
export function createServer(open) {
  const server = new McpServer({ name: "leftoff", version: VERSION }, { instructions: INSTRUCTIONS });
  const searching = {
    description: "Searches what was said in this project's conversations, of all agents. Gives previews with ids.",
    annotations: READS,
    inputSchema: WORDS,
  };
  // The second is the name that the documents give it, as they name get_context.
  for (const name of ["search", "search_workspace"])
    server.registerTool(name, searching, (asked) => answer(open, (store) => search(store, asked)));
  server.registerTool(
    "open",
    {
      description: "Shows the messages of a conversation, around one of them or the newest.",
      annotations: READS,
      inputSchema: PLACE,
    },
    (asked) => answer(open, (store) => answerOpen(store, asked)),
  );
  server.registerTool(
    "recall",
    {
      description: "Quotes what earlier conversations say on a question, each quote with its source.",
      annotations: READS,
      inputSchema: QUESTION,
    },
    ({ question }) => answer(open, (store) => recall(store, question)),
  );
  server.registerTool(
    "get_context",
    {
      description: "Tells where a conversation stands: task, decisions, open tasks, files, failed commands.",
      annotations: READS,
      inputSchema: CHOICE,
    },
    ({ session }) => answer(open, async (store) => answerBrief(await chooseSession(store, session))),
  );
  server.registerTool(
    "save",
    {
      description: "Saves and pauses the current conversation, with a summary. It goes on with the next message.",
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      inputSchema: SUMMARY,
    },
    ({ summary }) => answer(open, (store) => save(store, summary)),
  );
  registerPrompts(server, open);
  registerSessions(server, open);
  return server;
}

/** @param {McpServer} server @param {OpenStore} open */
function registerPrompts(server, open) {
  server.registerPrompt(
    "resume",
    { description: "Goes on with an earlier conversation", argsSchema: CHOICE },
    async ({ session: id }) => {
      const store = await open();
      const session = await chooseSession(store, id);
      const { block, history } = await session.resume({
        window: RESUME_WINDOW,
        maxBytes: RESUME_BYTES,
        revives: false,
      });
      const text = `${block}\n${historyText(history)}`;
      // What is said next belongs to that session.
      await store.goesOn(session, text);
      return asPrompt(text);
    },
  );
  server.registerPrompt(
    "brief",
    { description: "Tells where a conversation stands", argsSchema: CHOICE },
    async ({ session }) => asPrompt(await answerBrief(await chooseSession(await open(), session))),
  );
}

/** @param {McpServer} server @param {OpenStore} open */
function registerSessions(server, open) {
  const uriOf = (/** @type {string} */ id) => `leftoff://session/${id}`;
  const list = async () => ({
    resources: (await (await open()).list({ limit: MAX_RESOURCES })).map(({ id, title, summary }) => ({
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
      const session = await (await open()).session(String(id));
      const text = await session.export("markdown");
      return { contents: [{ uri: uri.href, mimeType: "text/markdown", text }] };
    },
  );
}

/** @param {string} text @returns {GetPromptResult} */
const asPrompt = (text) => ({ messages: [{ role: "user", content: { type: "text", text } }] });

/** @param {OpenStore} open @param {(store: Store) => Promise<string>} work @returns {Promise<CallToolResult>} */
async function answer(open, work) {
  const store = await open();
  const { text, isRefusal } = await answerCall(store, () => work(store));
  return { ...(isRefusal && { isError: true }), content: [{ type: "text", text }] };
}

/**
 * The session one is in, if one goes on: what it says is known.
 * @param {Store} store
 */
async function findOwnSession(store) {
  const session = await store.current();
  return session?.metadata.lifecycle === "active" ? session : undefined;
}

/** @param {Store} store @param {WordsRequest} asked */
async function search(store, asked) {
  return answerSearch(store, asked, { own: (await findOwnSession(store))?.id, hint: "; open shows more" });
}

/** @param {Store} store @param {string} question */
async function recall(store, question) {
  return answerRecall(store, question, { own: (await findOwnSession(store))?.id });
}

/** @param {Store} store @param {string} [id] */
async function chooseSession(store, id) {
  const session = id === undefined ? await store.current() : await store.session(id);
  if (session) return session;
  throw new LeftoffError({ code: "not_found", message: "this project has no session yet" });
}

/** @param {Store} store @param {string} [summary] */
async function save(store, summary) {
  const session = await chooseSession(store);
  await session.stop({ summary });
  const title = JSON.stringify(session.metadata.display.title);
  return `Session saved: ${title} (${session.id}) is paused, and goes on with the next message.`;
}
