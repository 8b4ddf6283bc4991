// @ts-check
/** `leftoff resume`: hands a session to its next run. */

import { mcpServers } from "../agents/mcp.js";
import {
  installedAgents,
  outputLimitOf,
  rejectUnlessAnyInstalled,
  rejectUnlessInstalled,
  startClient,
} from "../agents/native.js";
import { refuseBug } from "../error.js";
import { LeftoffError } from "../index.js";
import { typedIn } from "../init/names.js";
import { shellWords } from "../init/shell.js";
import { chooseSession } from "./choose.js";
import { parseContextRequest } from "./commands.js";
import { listSessions, parseListOptions } from "./find.js";
import { currentCommandOf, linger, readTypedWords } from "./in-agent.js";
import { begin } from "./lifecycle.js";
import { lossText } from "./losses.js";
import { isTerminal, note } from "./print.js";
import { canAsk } from "./screen.js";
import { findSession, withStore } from "./store.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../store/store.js").Store} Store */

/** @param {Args} args */
export async function resume(args) {
  if (args.from !== undefined) return resumeInAgent(args);
  const words = args._.join(" ");
  if (args.list && words) throw new LeftoffError({ code: "usage", message: "give SESSION or --list, not both" });
  const isAlone = !words && !args.print && args.with === undefined;
  if (args.list || (isAlone && !canAsk(args))) return listSessions(args);
  const request = { ...(await parseContextRequest(args)), override: args.override };
  if (isAlone) return resumeFromList(args, request);
  return args.print && args.with === undefined
    ? printResumption(args, words, request)
    : resumeInClient(args, words, request);
}

/** @param {Args} args @param {import("../types/index.js").ContextRequest & { override?: boolean }} request */
async function resumeFromList(args, request) {
  const { isNone, one } = await withStore(args, async (store) => {
    const listed = await store.list(parseListOptions(args));
    const isNone = listed.length === 0;
    return {
      isNone,
      one: isNone
        ? undefined
        : await chooseSession(args, store, listed, { message: "Select a session to resume:", canBegin: true }),
    };
  });
  if (isNone) return listSessions(args);
  return one ? resumeInClient(args, one.id, request) : begin(args);
}

/**
 * Finds the session that words mean, or the current one, among those that the typed filters leave.
 * @param {Store} store
 * @param {Args} args
 * @param {string} words
 */
async function findSessionByWords(store, args, words) {
  const { sort: _, limit: __, all, ...asked } = parseListOptions(args);
  const filters = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  return findSession(store, {
    ...args,
    all,
    session: words || "last",
    saidToo: true,
    filters: Object.keys(filters).length > 0 ? filters : undefined,
  });
}

/**
 * Prints the text that resumes a session, for users who start the agent themselves.
 * @param {Args} args
 * @param {string} words
 * @param {import("../types/index.js").ContextRequest & { override?: boolean }} request
 */
async function printResumption(args, words, request) {
  // Printed text has one shape, whatever the agent's provider takes.
  const asked = args.json ? request : { ...request, format: undefined };
  const { model, window } = request;
  const { text, context, ...value } = await withStore(
    args,
    async (store) => {
      const session = await findSessionByWords(store, args, words);
      const { text: command, promptHash } = await currentCommandOf(store, session, args.from);
      const now = { model, window, promptHash, servers: args.from && (await mcpServers(args.from, store)) };
      // Printing only looks at the session; in a client the text goes on there.
      const revives = args.from !== undefined;
      const wasPaused = session.metadata.lifecycle === "paused";
      const first = command ?? session.metadata.agent.command;
      const head = first ? `${first}\n\n` : "";
      const most = args.json ? {} : { maxBytes: Math.max(0, outputLimitOf(args.from) - Buffer.byteLength(head)) };
      const { text = "", ...value } = await session.resume({ ...asked, assumes: true, now, revives, ...most });
      const resumed = { ...value, text: args.json ? "" : `${head}${text}` };
      // In a client the text will be said there: note it. If that fails, the text is there all the same, but recording
      // it later cannot tell its origin.
      if (revives)
        await store.goesOn(session, resumed.text).catch((error) => {
          refuseBug(error);
          note(`the conversation that continues from this text will be a new session: ${error.message}`);
        });
      if (revives && wasPaused)
        note(`"${(await store.redacted(session.metadata.display.title)).value}" is active again`);
      return resumed;
    },
    "resuming",
    { readOnly: args.from === undefined },
  );
  for (const warning of value.warnings) note(warning);
  if (args.from === undefined) noteAssumed(context.report.assumed);
  linger(args.from, text);
  return { text, value };
}

/** @param {import("../types/index.js").ContextReport["assumed"]} assumed */
function noteAssumed(assumed) {
  if (assumed?.encoding)
    note(
      `unknown model "${assumed.model}": counted with ${assumed.encoding}${assumed.window ? `, assuming a window of ${assumed.window} tokens` : ""}`,
    );
}

// In an agent's client the command and its words are one text, typed as a person types, for the model.
/** @param {Args} args */
async function resumeInAgent(args) {
  const typed = await readTypedWords(args._);
  const words = typed.replace(/(^|\s)--override$/, "");
  if (!words) return listInAgent(args);
  try {
    return await printResumption(args, words, {
      ...(await parseContextRequest(args)),
      override: args.override || words !== typed,
    });
  } catch (error) {
    if (!(error instanceof LeftoffError) || !["not_found", "ambiguous"].includes(error.code)) throw error;
    return listInAgent(args, `${error.message.replace(" Run 'leftoff list'", "")}\n\n`);
  }
}

/** Lists what can be resumed, and how; after the reason why nothing was. @param {Args} args @param {string} [why] */
async function listInAgent(args, why = "") {
  const { text: listed, value } = await listSessions(args);
  const command = typedIn(args.from, "resume", args);
  const asks = `\nWhich conversation would you like to continue? Type ${command} with its number or words of its title.\n`;
  const text = `${why}${listed}${value.length > 0 ? asks : ""}`;
  linger(args.from, text);
  return { text, value };
}

/**
 * @param {Args} args
 * @param {string} words
 * @param {import("../types/index.js").ContextRequest & { override?: boolean }} request
 */
async function resumeInClient(args, words, { override, ...request }) {
  const isPrinted = args.print || args.json || !isTerminal();
  const { agent, ...value } = await withStore(
    args,
    async (store) => {
      const session = await findSessionByWords(store, args, words);
      const agent = args.with ?? (await chooseAgent(args, store, session));
      if (!isPrinted) rejectUnlessInstalled(agent, words || "last");
      const isComplete = session.metadata.lifecycle === "completed";
      if (isComplete && !override) await rejectUnlessSure(args, store, session);
      const { text: command, promptHash } = await currentCommandOf(store, session, agent);
      const now = { model: request.model, window: request.window, promptHash, servers: await mcpServers(agent, store) };
      // Printing only looks at the session.
      const resume = { command, now, override: isComplete, revives: !isPrinted };
      return store.writeForAgent(session, { ...request, agent, resume, previews: Boolean(args.print) });
    },
    "resuming",
    { readOnly: Boolean(args.print) },
  );
  const { copy, command, takes, included, messageCount, path, folder, assumed } = value;
  for (const warning of value.warnings ?? []) note(warning);
  noteAssumed(assumed);
  const exports = `'leftoff export ${args._.join(" ") || "last"} --to ${agent}'`;
  if (args.print && copy === "new")
    note(`nothing was written; ${exports} writes such a file and prints the command for it`);
  const rest = included < messageCount ? `, ${included} of ${messageCount} messages as they are` : "";
  const there = folder === process.cwd() ? "" : `cd ${shellWords([folder])} && `;
  const text = `${path}${rest}\n${lossText(value.losses)}${takes ? `${takes.join(" ")}\n` : ""}${there}${command.join(" ")}\n`;
  if (isPrinted) return { text, value: { agent, ...value } };
  note(
    copy === "none" ? `${agent} has this session: it goes on there` : `${messageCount} messages go to ${agent}${rest}`,
  );
  process.exitCode = await startClient(value);
  return { text: "", value };
}

/**
 * Asks before a session marked as completed goes on.
 * @param {Args} args
 * @param {Store} store
 * @param {Session} session
 */
async function rejectUnlessSure(args, store, session) {
  const { value: title } = await store.redacted(session.metadata.display.title);
  if (canAsk(args)) {
    const { askYesNo } = await import("./prompts.js");
    if (await askYesNo(args, `"${title}" is marked complete. Resume it anyway?`)) return;
  }
  throw new LeftoffError({ code: "completed", message: `"${title}" is marked complete; --override resumes it anyway` });
}

/**
 * Chooses the agent: the session's own, else the one in the settings, else the only one installed, else the one that
 * the person picks.
 * @param {Args} args
 * @param {Store} store
 * @param {Session} session
 */
async function chooseAgent(args, store, session) {
  const installed = installedAgents();
  const own = session.metadata.imported?.agent;
  const known = [own, store.settings.agent].find((agent) => agent && installed.includes(agent));
  const [only, ...others] = installed;
  if (known) return known;
  if (only && others.length === 0) return only;
  if (only && canAsk(args)) {
    const { chooseOne } = await import("./prompts.js");
    const agent = await chooseOne(
      args,
      "Continue in which agent? 'leftoff settings agent NAME' sets a default",
      installed,
    );
    if (agent) return agent;
    throw new LeftoffError({ code: "cancelled", message: "no agent chosen; nothing was changed" });
  }
  rejectUnlessAnyInstalled(args._.join(" ") || "last");
  throw new LeftoffError({
    code: "usage",
    message: `no agent to continue in: name one with --with AGENT, or print the handover text with --print. Installed: ${installed.join(", ")}`,
  });
}
