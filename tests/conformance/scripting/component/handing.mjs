// @ts-check
/** A session of the component's on its way into another agent: where its client looks, and what is written there. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { agentHomes } from "../../../../js/agents/homes.js";
import { clientOf } from "../../../../js/agents/native.js";
import { newId } from "../../../../js/wasm/core.js";
import { nowMs } from "../../../../js/wasm/clock.js";
import { contentOf, refusal, texts } from "../../../component/host.mjs";
import { done } from "./answers.mjs";

/** @import { ScriptedHost } from "./host.mjs" */

/**
 * @param {ScriptedHost} host @param {any} session @param {any} asked
 * @param {{ context: (asked: any) => any, resume: (asked: any) => any }} by what gives a context, and what resumes the session
 */
export async function handedOver(host, session, { agent, folder = host.project, resume, env = process.env, ...request }, by) {
  const wanted = { ...request, assumes: true, format: texts.nativeFormat(agent), stored: true };
  const { context, first, warnings } = resume ? await resumed(by, wanted, resume) : { context: await by.context(wanted) };
  if (context.originalMessageCount === 0) throw refusal("empty_file", `expected a session in which something was said, but nothing was said in "${session.id()}"`);
  const client = clientOf(agent);
  const home = client.inbox?.(env) ?? agentHomes(env)[/** @type {"pi"} */ (agent)];
  const place = await client.place?.(home, folder);
  const model = request.model ?? (await client.model?.(env, folder));
  const { display } = JSON.parse(session.metadata());
  const about = { id: client.newId?.() ?? newId(), folder, place, title: display.title, model, first, nowMs: nowMs() };
  const native = JSON.parse(texts.writeNative(agent, JSON.stringify(context.messages), JSON.stringify(about)));
  const path = join(home, ...native.path.split("/"));
  await written(path, native.text);
  await noted(host, session, { path, text: native.text, agent });
  return {
    id: native.id,
    agent,
    path,
    folder,
    command: [client.program, ...client.resumes(native.id)],
    ...(client.takes && { takes: [client.program, ...client.takes(path)] }),
    messageCount: context.originalMessageCount,
    included: context.includedMessageCount,
    losses: native.losses,
    ...(warnings && { warnings }),
    ...(context.report.assumed && { assumed: context.report.assumed }),
    ...(context.secrets && { secrets: context.secrets }),
  };
}

/** What the next run is told before the history. @param {{ resume: (asked: any) => any }} by @param {any} request @param {any} how */
async function resumed(by, request, { command, ...how }) {
  const { block, context, warnings, ...told } = await by.resume({ ...request, ...how });
  const begins = command ?? told.command;
  return { context, first: begins ? `${begins}\n\n${block}` : block, warnings };
}

/** Never over a file that is there. @param {string} path @param {string} text */
async function written(path, text) {
  if (existsSync(path)) throw refusal("already_exists", `expected no file at "${path}", but found one`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** What is said there goes on with this session. @param {ScriptedHost} host @param {any} session @param {{ path: string, text: string, agent: string }} of */
async function noted(host, session, { path, text, agent }) {
  const [about, [messages = "[]"]] = texts.transcript([contentOf(Buffer.from(text))], path, agent, undefined);
  const [one] = JSON.parse(about).sessions;
  const last = JSON.parse(messages).at(-1);
  if (one && last) await done(host.run(host.store.continuedIn(session, one.agent, one.sourceId, last.id)));
}
