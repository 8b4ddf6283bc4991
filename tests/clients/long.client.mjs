// @ts-check
// A session that is longer than what a client takes of a command's output: its end, and a whole fence, reach the model.
// Tries: src/resume/history.rs, js/cli/resume.js

import assert from "node:assert/strict";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { openStore } from "../../js/index.js";
import { scene } from "../faults/tools.mjs";
import { IN_CI, present } from "./clients.mjs";
import { seat } from "./holding.mjs";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";
import { setUp } from "./set-up.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Present } from "./clients.mjs" */
/** @import { Turn } from "./model/turns.mjs" */

const TURNS = 120;

/** @type {Suite} */
export default {
  title: "a long session that is resumed by a command reaches the model up to its last word",
  async run() {
    const clients = present(IN_CI);
    const all = await Promise.all(clients.map((one) => scene("long", ({ folder }) => tryClient(one, folder))));
    return Object.fromEntries(all.map((chars, at) => [clients[at]?.client.name, `${chars} characters`]));
  },
};

/** @param {Present} present @param {string} folder */
async function tryClient({ client, program }, folder) {
  const at = seat(program, folder);
  const own = setUp(client, at);
  own.leftoff("init", client.agent);
  await fillSession(at);
  const [, { prompt, steps }] = /** @type {[any, { prompt: string, steps: import("./talk.mjs").MarkedStep[] }]} */ (
    own.resumed("A long one", [])
  );
  /** @type {Turn[]} */
  let seen = [];
  const server = await serve(new Script(steps), {
    seen: (request) => (request.isMain ? (seen = request.turns) : undefined),
  });
  try {
    client.prepare({ ...at, url: server.url });
    await client.ask({ ...at, url: server.url }, { prompt, id: randomUUID(), resumes: false });
  } finally {
    await server.close();
  }
  const text = seen.flatMap(({ text = "", results = [] }) => [text, ...results.map((one) => one.text)]).join("\n");
  const fence = /^----- [0-9a-f]{32}$/m.exec(text)?.[0] ?? "no fence";
  assert.equal(text.split(fence).length, 3, `${client.name}: the fence is whole in ${text.slice(0, 2000)}`);
  assert.ok(
    text.includes("Conversation: chat / A long one") &&
      text.includes(`Question ${TURNS}.`) &&
      text.includes("The last word."),
    client.name,
  );
  return text.length;
}

/** @param {import("./driving.mjs").Seat} at */
async function fillSession({ home, project }) {
  const store = await openStore({ home: join(home, ".leftoff"), project });
  const session = await store.create({ title: "A long one" });
  for (let turn = 1; turn <= TURNS; turn += 1) {
    await session.append([
      { role: "user", content: `Question ${turn}. ${"Some more words of it. ".repeat(20)}` },
      { role: "assistant", content: `Answer ${turn}: "${"quoted, ünï 漢字 ".repeat(20)}"` },
    ]);
  }
  await session.append({ role: "assistant", content: "The last word." });
  await session.stop();
  await store.close();
}
