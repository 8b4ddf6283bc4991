// @ts-check
/**
 * The plugin for OpenCode: records its sessions while they go on, lets the model search and recall what was said, and
 * tells a compaction what not to lose. Whatever fails here, OpenCode goes on.
 */

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
