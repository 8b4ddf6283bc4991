// @ts-check
// Which sub-agents' sessions the viewer finds: those that a session called, and those that these called.
// Tries: js/viewer/children.js

import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStorage, openStore } from "../../js/index.js";
import { MAX_NESTED, findChildren } from "../../js/viewer/children.js";
import { Model } from "../../js/viewer/model.js";

const NAMES = ["root", "one", "two", "three", "four"];

test("sub-agents are found as deep as they are shown, and one level more to open", async () => {
  const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project" });
  const sessions = [];
  for (const [level, name] of NAMES.entries()) {
    const parent = level === 0 ? {} : { parent: NAMES[level - 1] };
    const session = await store.create({ title: name, source: { agent: "my-app", id: name, ...parent } });
    const call = { id: `call-${name}`, name: "Task", arguments: JSON.stringify({ prompt: `Do ${NAMES[level + 1]}` }) };
    await session.append([
      { role: "user", content: `Do ${name}` },
      { role: "assistant", content: "", assistant: { toolCalls: [call] } },
    ]);
    sessions.push(session);
  }
  const [root] = sessions;
  const model = new Model(root.metadata);
  for await (const message of root.messages()) model.add([message]);
  await findChildren(model, store, root);
  assert.equal(MAX_NESTED, 2);
  assert.deepEqual(
    [...model.children].map(([callId, { id }]) => [callId, id]),
    [
      ["call-root", sessions[1].id],
      ["call-one", sessions[2].id],
      ["call-two", sessions[3].id],
    ],
  );
});
