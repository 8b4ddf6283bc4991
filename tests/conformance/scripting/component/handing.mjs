// @ts-check
/** A session of the component's on its way into another agent: where its client looks, and what is written there. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { agentHomes } from "../../../../js/agents/homes.js";
import { clientOf } from "../../../../js/agents/native.js";
import { refusal, texts } from "../../../component/host.mjs";
import { done } from "./answers.mjs";

/** @import { ScriptedHost } from "./host.mjs" */

/**
 * @param {ScriptedHost} host @param {any} session @param {any} asked
 * @param {{ context: (asked: any) => any, resume: (asked: any) => any }} by what gives a context, and what resumes the session
 */
export async function handedOver(host, session, { agent, folder = host.project, resume, env = process.env, ...request }, by) {
  const wanted = { ...request, assumes: true, format: texts.nativeFormat(agent), stored: true };
  const { command, ...how } = resume ?? {};
  const begun = resume ? { resumed: await by.resume({ ...wanted, ...how }), command } : { context: await by.context(wanted) };
  const client = clientOf(agent);
  const home = client.inbox?.(env) ?? agentHomes(env)[/** @type {"pi"} */ (agent)];
  const place = await client.place?.(home, folder);
  const model = request.model ?? (await client.model?.(env, folder));
  const { display } = JSON.parse(session.metadata());
  const given = JSON.stringify({ ...begun, session: session.id(), title: display.title, model, folder, home, place });
  const { path, text, continues, told } = JSON.parse(texts.handOver(agent, given, host.stamp()));
  written(path, text);
  if (continues) await done(host.run(host.store.continuedIn(session, continues.agent, continues.sourceId, continues.last)));
  return told;
}

/** Never over a file that is there. @param {string} path @param {string} text */
function written(path, text) {
  if (existsSync(path)) throw refusal("already_exists", `expected no file at "${path}", but found one`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
