// @ts-check
/** `leftoff ask`: asks an agent that remembers nothing, with the earlier conversation in the prompt. */

import { resolve } from "node:path";

import { isOnPath } from "../../agents/native.js";
import { LeftoffError, historyText } from "../../index.js";
import { agents } from "../../wasm/agents.js";
import { nowMs } from "../../wasm/clock.js";
import { fromBytes } from "../../wasm/core.js";
import { parseWholeNumber } from "../arguments.js";
import { readFileText } from "../input-files.js";
import { note, print, printPiece } from "../print.js";
import { withStore } from "../store.js";
import { runEngine } from "./engine.js";
import { TranscriptFile } from "./transcript.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../../store/store.js").Store} Store */
/** @typedef {import("./engine.js").Engine} Engine */

/** @param {Args} args */
export async function ask(args) {
  const question = args._.join(" ");
  if (question.trim() === "") throw new LeftoffError({ code: "usage", message: "no QUESTION given" });
  const timeout = args.timeout === undefined ? undefined : parseWholeNumber(args.timeout, "timeout");
  if (timeout === 0) throw new LeftoffError({ code: "usage", message: "--timeout takes a number of seconds above 0" });
  return withStore(args, async (store) => {
    const { ask: kept } = store.settings;
    const engine = chooseEngine({ ...args, engine: args.engine ?? (kept.engine || undefined) });
    const prompt = args.prompt ?? (kept.prompt && resolve(store.home, kept.prompt));
    const instructions = prompt ? await readFileText(prompt) : undefined;
    const window = args.window === undefined ? engine.window : parseWholeNumber(args.window, "window");
    const transcript = args.resume
      ? TranscriptFile.openLatest(store.home)
      : TranscriptFile.create(store.home, store.project);
    try {
      transcript.append(agents.call((core) => core.askQuestion(nowMs(), question)));
      transcript.flush();
      const { session, history, left } = await readHistory(store, transcript.path, { window, instructions });
      if (left > 0)
        note(`the conversation is too long for ${engine.name}: ${left} of its messages are left out or shortened`);
      const { answer, ...ended } = await recordAnswer(transcript, engine, {
        args,
        timeout,
        prompt: await buildPrompt(store, { instructions, history, question }),
      });
      await store.import(transcript.path, { from: "ask" });
      if (ended.stopped) note(`the answer is incomplete: ${ended.stopped}`);
      process.exitCode ||= ended.status;
      const value = {
        session,
        transcript: transcript.path,
        engine: engine.name,
        answer,
        stopped: ended.stopped ?? null,
        exitStatus: ended.status,
      };
      return { text: "", value };
    } finally {
      transcript.close();
    }
  });
}

/**
 * Builds the engine's prompt, redacted; the history is redacted already.
 * @param {Store} store
 * @param {{ instructions?: string, history: string, question: string }} told
 */
async function buildPrompt(store, { history, ...told }) {
  const { instructions, question } = (await store.redacted(told)).value;
  return agents.call((core) => core.askPrompt(instructions, history, question));
}

/** @param {Args} args @returns {Engine} */
function chooseEngine(args) {
  const installed = agents.call((core) => core.askEngines()).filter((name) => isOnPath(name));
  return fromBytes(agents.call((core) => core.askEngine(args.engine, args.model, installed)));
}

/**
 * Reads what was said before the question, as text, as much as fits the engine's window.
 * @param {Store} store @param {string} path @param {{ window: number, instructions?: string }} of
 */
async function readHistory(store, path, { window, instructions }) {
  const { imported } = await store.import(path, { from: "ask" });
  const session = await store.session({ source: { agent: "ask", id: sourceIdOf(path) } });
  if (imported.length === 0 || session.metadata.stats.messageCount < 2)
    return { session: session.id, history: "", left: 0 };
  const system = instructions ?? agents.call((core) => core.askInstructions());
  const { messages, originalMessageCount, includedMessageCount } = await session.context({
    window,
    system,
    format: "leftoff",
    assumes: true,
  });
  const before = /** @type {object[]} */ (messages).slice(0, -1);
  return {
    session: session.id,
    history: before.length > 0 ? historyText(before) : "",
    left: originalMessageCount - includedMessageCount,
  };
}

/** @param {string} path */
function sourceIdOf(path) {
  return path.replace(/^.*[\\/]/, "").replace(/\.md$/, "");
}

/**
 * Runs the engine; its answer is written down first, then shown.
 * @param {TranscriptFile} transcript
 * @param {Engine} engine
 * @param {{ args: Args, timeout?: number, prompt: Uint8Array }} how
 */
async function recordAnswer(transcript, engine, { args, timeout, prompt }) {
  transcript.append(agents.call((core) => core.askAnswer(nowMs(), engine.name)));
  const recorder = agents.call((core) => new core.AskRecorder());
  const decoder = new TextDecoder();
  /** @type {Uint8Array[]} */
  const heard = [];
  let kept = new Uint8Array();
  let shown = "";
  const show = async (/** @type {Uint8Array} */ bytes, isLast = false) => {
    const text = decoder.decode(bytes, { stream: !isLast });
    shown = text || shown;
    if (args.json) heard.push(bytes);
    else if (text) await printPiece(text);
  };
  const onOutput = async (/** @type {Uint8Array} */ bytes) => {
    transcript.append(agents.call(() => recorder.feed(bytes)));
    const all = Buffer.concat([kept, bytes]);
    const end = all.length - agents.call(() => recorder.heldByteCount);
    kept = all.subarray(end);
    await show(all.subarray(0, end));
  };
  /** @type {import("./engine.js").EngineResult} */
  let ended = { status: 1, stopped: "leftoff failed" };
  try {
    ended = await runEngine(engine, {
      prompt,
      folder: process.cwd(),
      timeout,
      onOutput,
      onErrorLine: args.json ? note : undefined,
    });
  } catch (error) {
    ended.stopped = error instanceof Error ? error.message : String(error);
    throw error;
  } finally {
    transcript.append(agents.call(() => recorder.end()));
    await show(kept, true);
    if (!args.json && shown && !shown.endsWith("\n")) print("\n");
    if (!shown && !ended.stopped) ended.stopped = "the engine said nothing";
    transcript.append(agents.call((core) => core.askEnd(nowMs(), ended.stopped)));
    transcript.flush();
  }
  return { ...ended, answer: Buffer.concat(heard).toString("utf8") };
}
