// @ts-check
/** What the plugin does in one instance of OpenCode: an instance works in one project. */

import { forgetFailure, keepFailure } from "../agents/failures.js";
import { StoreOpener } from "../agents/settings-watch.js";
import { confirmPause, renderAnswer } from "../answers/prompts.js";
import { isRecordingOff } from "../cli/hooks/input.js";
import { homeOf } from "../cli/hooks/queue.js";
import { LeftoffError } from "../index.js";
import { ANSWER_PHRASE, typedIn } from "../init/names.js";
import { Contexts } from "./context.js";
import { Recorder } from "./recorder.js";
import { BRIEF_TOKENS, createTools } from "./tools.js";

/** @import { Store } from "../store/store.js" */
/** @import { OpenCodeClient, OpenCodeEvent, OpenCodeHooks, OpenCodePart } from "../types/opencode.js" */
/** @import { OpenCodePlace, OpenCodePluginOptions } from "../types/opencode.js" */

const AGENT = "opencode";

/**
 * Opens the plugin.
 * @param {OpenCodePlace} at
 * @param {OpenCodePluginOptions} [options]
 * @param {() => unknown} [closed] is called once it is closed
 * @returns {Promise<OpenCodeHooks>}
 */
export async function openPlugin({ client, directory }, options = {}, closed = () => {}) {
  const log = new FailureLog(client, { home: homeOf(options.home), project: directory });
  const opener = new StoreOpener({ project: directory, home: options.home });
  /** @type {{ store: Store, recorder: Recorder } | undefined} */
  let opened;
  // Opens the store anew once its settings were changed.
  const reopen = async () => {
    const store = await opener.open();
    if (store === opened?.store) return opened;
    const before = opened;
    log.redactWith(store);
    const now = (opened = { store, recorder: new Recorder(store, client, (error) => log.report(error)) });
    await before?.recorder.settle();
    return now;
  };
  const open = async () => opened ?? reopen();
  const contexts = new Contexts(client, options.context === true ? {} : options.context || {});
  // Events are taken in their order, also while the store is being opened.
  let last = Promise.resolve();
  const take = async (/** @type {OpenCodeEvent} */ event) => {
    const { store, recorder } = await open();
    if (isRecording(store)) recorder.take(event);
  };
  return {
    async event({ event }) {
      contexts.take(event);
      if (isRecorded(event)) last = last.then(() => log.guard(() => take(event)));
    },

    async "chat.message"({ sessionID }, { message, parts }) {
      contexts.endCompaction(sessionID);
      // By then the prompt before, and its answer, are recorded.
      await log.guardAndForget(async () => {
        const { store, recorder } = await (last = last.then(() => log.guard(async () => void (await reopen())))).then(
          open,
        );
        const text = await answerPrompt({ store, recorder }, sessionID, parts);
        const [before] = parts.slice(-1);
        // Its id comes behind the others', in whose order the client keeps them.
        const id = `${before?.id}l`;
        if (text && before) parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true });
      });
    },

    ...(options.context && {
      async "experimental.chat.messages.transform"(_, { messages }) {
        await log.guardContext(async () => {
          await last;
          const { store, recorder } = await open();
          if (isRecording(store)) await contexts.fit(messages, (id) => recorder.session(id));
        });
      },
    }),

    async "experimental.session.compacting"({ sessionID }, output) {
      contexts.beginCompaction(sessionID);
      await log.guard(async () => {
        await last;
        const { store, recorder } = await open();
        if (!isRecording(store)) return;
        const session = await recorder.session(sessionID);
        const brief = await session.brief({ maxTokens: BRIEF_TOKENS });
        if (brief) output.context.push(brief);
      });
    },

    tool: createTools(reopen),

    async dispose() {
      closed();
      await log.guard(async () => {
        await last;
        await opened?.recorder.settle();
        await opener.close();
      });
    },
  };
}

/**
 * What the model is told at a prompt, as a client's hook tells it.
 * @param {{ store: Store, recorder: Recorder }} opened @param {string} id the agent's of the session
 * @param {OpenCodePart[]} parts those of the prompt
 */
async function answerPrompt({ store, recorder }, id, parts) {
  const said = parts.filter((part) => part.type === "text" && !part.synthetic);
  const prompt = said.map(({ text = "" }) => text).join("\n");
  if (!isRecording(store) || prompt === "" || isAnswer(prompt)) return undefined;
  const session = await recorder.session(id);
  const told = await store.turn(`opencode/${id}`, { prompt, session: session.id });
  if (!told.wantsStop) return renderAnswer(told, nameCommand);
  await session.state();
  if (session.metadata.lifecycle === "active") await session.stop();
  return confirmPause(nameCommand);
}

/** How a command is typed. @param {"stop" | "resume"} name */
const nameCommand = (name) => typedIn(AGENT, name);

/** Whether conversations are to be recorded. @param {Store} store */
const isRecording = (store) => store.settings.record && !isRecordingOff();

/** Whether a prompt is the text of one of leftoff's own commands. @param {string} prompt */
const isAnswer = (prompt) => prompt.includes(ANSWER_PHRASE);

/** Whether an event tells what was said, or of the session in which it was. @param {OpenCodeEvent} event */
function isRecorded({ type }) {
  return type.startsWith("message.") || type.startsWith("session.");
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** Tells OpenCode's log why something failed, each reason once, and `leftoff doctor` until nothing does any longer. */
class FailureLog {
  #client;
  #at;
  /** @type {Set<string>} */
  #told = new Set();
  #count = 0;
  /** The failure that doctor shows at present. */
  #kept = "";
  /** @type {Store | undefined} */
  #store;

  /** @param {OpenCodeClient} client @param {{ home: string, project: string }} at */
  constructor(client, at) {
    this.#client = client;
    this.#at = at;
  }

  /** From now on what is kept is without the secrets that are to be replaced. @param {Store} store */
  redactWith(store) {
    this.#store = store;
  }

  /** Tells why something was not recorded. @param {unknown} error */
  async report(error) {
    this.#count += 1;
    const message = `not recorded: ${messageOf(error)}`;
    if (message !== this.#kept) await this.#keep(error);
    this.#kept = message;
    await this.#tell(message);
  }

  /** Makes a context, without which OpenCode sends all that it has. @param {() => Promise<void>} work */
  async guardContext(work) {
    await work().catch((error) => this.#tell(`sent without a context: ${messageOf(error)}`));
  }

  /** Records something, which may fail. @param {() => Promise<void>} work */
  async guard(work) {
    await work().catch((error) => this.report(error));
  }

  /** The same; what failed before is forgotten if nothing fails. @param {() => Promise<void>} work */
  async guardAndForget(work) {
    const before = this.#count;
    await this.guard(work);
    if (this.#count !== before) return;
    this.#kept = "";
    forgetFailure(this.#at.home, { agent: AGENT, project: this.#at.project });
  }

  /** @param {string} message */
  async #tell(message) {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    await this.#client.app.log({ body: { service: "leftoff", level: "error", message } }).catch(() => {});
  }

  /** @param {unknown} error */
  async #keep(error) {
    const { code = "error", message = String(error) } = /** @type {any} */ (error ?? {});
    const said = (await this.#store?.redacted(String(message)).catch(() => undefined))?.value;
    // Without a store no conversation was read: then the reason is one of leftoff's own.
    const text = said ?? (error instanceof LeftoffError ? error.message : "");
    keepFailure(this.#at.home, { agent: AGENT, project: this.#at.project, code: String(code), message: text });
  }
}
