// @ts-check
/**
 * The plugin for OpenCode: records its sessions while they go on, lets the model search and recall what was said, and
 * tells a compaction what not to lose. Whatever fails here, OpenCode goes on.
 */

import { Recorder } from "./recorder.js";

/** @import { Store } from "../store/store.js" */
/** @import { OpenCodeClient } from "./recorder.js" */
/** @typedef {import("./plugin.js").PluginHooks} PluginHooks */
/** @typedef {import("./plugin.js").PluginOptions} PluginOptions */

/**
 * The plugin, as OpenCode 1 loads it.
 * @type {{ id: string, server: (at: { client: OpenCodeClient, directory: string }, options?: PluginOptions) => Promise<PluginHooks> }}
 */
export default {
  id: "leftoff",
  // Loaded here, so that a version of OpenCode that calls something else loads nothing.
  server: async (at, options) => (await import("./plugin.js")).openPlugin(at, options),
};

/**
 * Makes what records sessions of OpenCode, for a plugin of your own.
 * @param {Store} store
 * @param {{ client: OpenCodeClient, report?: (error: unknown, session: string) => unknown }} parts `client`: as a plugin
 *   is given it; `report`: is told why something was not recorded, with the agent's id of the session
 * @example
 * const recording = recorder(store, { client });
 * recording.take({ type: "message.updated", properties: { info } });
 * recording.take({ type: "message.part.updated", properties: { part } });
 * const session = await recording.session(info.sessionID);
 * session.metadata.imported?.agent; // => "opencode"
 */
export function recorder(store, { client, report = () => {} }) {
  return new Recorder(store, client, report);
}
