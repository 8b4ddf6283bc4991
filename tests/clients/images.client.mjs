// @ts-check
// Images of a prompt and of a tool's result, named and not, are written for each client, and the real one sends them
// on.
// Tries: src/interop/native/, src/interop/attachment_address.rs

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { openStore } from "../../js/index.js";
import { scene } from "../faults/tools.mjs";
import { present, selectClients } from "./clients.mjs";
import { seat } from "./holding.mjs";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Present } from "./clients.mjs" */

// What each image is; no two are the same.
const SHADES = { "of a prompt, without a name": 40, "of a prompt, with a name": 120, "of a result": 200 };
const [UNNAMED, NAMED, RESULT] = Object.values(SHADES).map((shade) => png(shade).toString("base64"));

// Copilot CLI shows no image of a result to a model that is not GitHub's own, neither what it saw itself.
const KEPT_BACK = "of a result";

/** @type {Suite} */
export default {
  title:
    "an image of a prompt or of a result, named or not, reaches the model of each client that goes on with the session",
  async run({ all }) {
    const clients = present(selectClients({ all }));
    await scene("images", async ({ folder }) => {
      const tried = await Promise.allSettled(clients.map((one) => goesOn(one, join(folder, one.client.agent))));
      const errors = tried.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
      if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${clients.length} clients`);
    });
    return { clients: clients.length };
  },
};

/** @param {Present} present @param {string} folder */
async function goesOn({ client, program }, folder) {
  mkdirSync(folder);
  const at = seat(program, folder);
  const store = await openStore({ home: join(folder, "leftoff"), project: at.project });
  const script = new Script([{ text: "That was all." }], { name: "later" });
  let sent = "";
  const server = await serve(script, { seen: ({ isMain, body }) => void (isMain && (sent = JSON.stringify(body))) });
  try {
    const session = await store.create();
    const { name, input } = client.tools.shell("ls");
    const file = (/** @type {string} */ data, more = {}) => ({ mime: "image/png", data, ...more });
    await session.append([
      { role: "user", content: "See both.", attachments: [file(UNNAMED), file(NAMED, { name: "a shot.png" })] },
      {
        role: "assistant",
        content: "I look.",
        assistant: { toolCalls: [{ id: "call_1", name, arguments: JSON.stringify(input) }] },
      },
      { role: "tool", content: "seen", tool: { callId: "call_1", name }, attachments: [file(RESULT)] },
      { role: "assistant", content: "Both are gray." },
    ]);
    const model = client.agent === "opencode" ? { model: "script/script" } : {};
    const handed = await store.writeForAgent(session, {
      agent: client.agent,
      window: 1_000_000,
      env: { HOME: at.home },
      ...model,
    });
    assert.deepEqual(handed.losses, [], client.name);
    const place = { ...at, url: server.url };
    client.prepare(place);
    await client.take?.(at, handed.path);
    await client.ask(place, { prompt: "And now?", id: handed.id, resumes: true });
    const found = Object.keys(SHADES).filter((_, nth) => sent.includes([UNNAMED, NAMED, RESULT][nth] ?? ""));
    const expected = Object.keys(SHADES).filter((one) => client.agent !== "copilot" || one !== KEPT_BACK);
    assert.deepEqual(found, expected, client.name);
  } finally {
    await server.close();
    await store.close();
  }
}

/** A square of one shade, as small as every client takes it. @param {number} shade */
function png(shade) {
  const size = 32;
  const chunk = (/** @type {string} */ type, /** @type {Buffer} */ data) => {
    const named = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, check]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 0], 8);
  const rows = Buffer.alloc(size * (size + 1), shade);
  for (let row = 0; row < size; row += 1) rows[row * (size + 1)] = 0;
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
