// @ts-check
/** A session of the component's on its way into another agent. */

import { resolve as whole } from "node:path";

import { texts } from "../../../component/host.mjs";
import { json } from "./answers.mjs";

/** @import { ScriptedHost } from "./host.mjs" */

/**
 * @param {ScriptedHost} host @param {any} session @param {any} asked
 * @param {{ context: (asked: any) => any, resume: (asked: any) => any }} by what gives a context, and what resumes the
 *   session
 */
export async function handedOver(
  host,
  session,
  { agent, folder = host.project, resume, env = process.env, ...request },
  by,
) {
  const wanted = { ...request, assumes: true, format: texts.nativeFormat(agent), stored: true };
  const { command, ...how } = resume ?? {};
  const begun = resume
    ? { resumed: await by.resume({ ...wanted, ...how }), command }
    : { context: await by.context(wanted) };
  const isFitted = Object.values(request).some((value) => value !== undefined);
  const { display } = JSON.parse(session.metadata());
  return json(
    host.run(
      host.store.writeForAgent(
        JSON.stringify({
          ...begun,
          agent,
          session: session.id(),
          title: display.title,
          model: request.model,
          isFitted,
          folder: whole(folder),
          variables: env,
        }),
      ),
    ),
  );
}
