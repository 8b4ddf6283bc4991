// A plugin for OpenCode of your own: it records each session as it goes on, and tells the model what the project's other
// sessions left open. The file lies in `.opencode/plugin/`, or is named in `opencode.json`, beside `npm install leftoff`:
//
//     { "plugin": ["./opencode-plugin.mjs"] }

import { openStore } from "leftoff";
import { recorder } from "leftoff/opencode";

/** @param {import("leftoff/opencode").OpenCodePlace} place */
export async function OpenTasks({ client, directory }) {
  const store = await openStore({ project: directory });
  const report = (/** @type {unknown} */ error) =>
    client.app.log({ body: { service: "open-tasks", level: "error", message: String(error) } });
  const recording = recorder(store, { client, report });

  /** What the other sessions left open, a line for each. @param {string} own the id of the session that asks */
  async function describeOpenTasks(own) {
    const lines = [];
    for (const { id, title } of await store.list({ limit: 20 })) {
      if (id === own) continue;
      const session = await store.session(id);
      const { openTasks } = await session.state();
      lines.push(...openTasks.map((task) => `${title}: ${task}`));
    }
    return lines.join("\n") || "Nothing is open.";
  }

  return {
    event: async ({ event }) => recording.take(event),
    tool: {
      open_tasks: {
        description: "Tells which tasks earlier sessions of this project left open, each with its session's title.",
        args: {},
        execute: async (_, { sessionID }) => describeOpenTasks((await recording.session(sessionID)).id),
      },
    },
    dispose: () => recording.settle().then(() => store.close()),
  };
}
