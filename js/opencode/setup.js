// @ts-check
/**
 * What the plugin does in OpenCode 2, by what is published of its plugins: the tools, and the brief that a compaction is
 * told. It was not tried with a real OpenCode 2. Nothing is recorded there: leftoff can't read its messages yet.
 */

import { StoreOpener } from "../agents/settings-watch.js";
import { BRIEF_TOKENS, createTools, findOwnSession } from "./tools.js";

/** @import { OpenCode2Compaction, OpenCode2Context } from "../types/opencode.js" */

/**
 * Sets the plugin up.
 * @param {Required<OpenCode2Context>} context
 * @param {() => unknown} [closed] is called once it is closed
 * @returns {Promise<() => Promise<void>>} what closes it
 */
export async function setUpPlugin({ location, options, session, tool }, closed = () => {}) {
  const opener = new StoreOpener({ project: location.directory, home: options.home });
  const tools = Object.entries(createTools(async () => ({ store: await opener.open() })));
  await tool.transform((editor) => {
    for (const [name, { description, args, execute }] of tools)
      editor.add({
        name,
        description,
        input: { type: "object", properties: args, required: Object.keys(args), additionalProperties: false },
        // Offered as it is, not as a function in programs that the model writes.
        options: { codemode: false },
        execute: async (input, { sessionID }) => ({
          content: await execute(/** @type {any} */ (input), { sessionID }),
        }),
      });
  });
  await session.hook("compaction", async (event) => {
    // A hook that fails would end the compaction.
    await addBrief(opener, event).catch((error) => console.error(`leftoff: no brief for a compaction: ${error}`));
  });
  return async () => {
    closed();
    await opener.close();
  };
}

/** Adds what the store has of a session to what its compaction is told. @param {StoreOpener} opener @param {OpenCode2Compaction} event */
async function addBrief(opener, { sessionID, system }) {
  const session = await findOwnSession(await opener.open(), sessionID);
  const text = await session?.brief({ maxTokens: BRIEF_TOKENS });
  if (text) system.push({ type: "text", text });
}
