// @ts-check
// In each client that leftoff sets up a session is held, stopped, found and resumed by what it installed.
// Tries: js/init/, js/cli/lifecycle.js

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readTranscript } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";
import { scene } from "../faults/tools.mjs";
import { IN_CI, present } from "./clients.mjs";
import { seat } from "./holding.mjs";
import { countRoles, inOrder, last, runTalk, readStored } from "./saying.mjs";
import { setUp } from "./set-up.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Present } from "./clients.mjs" */
/** @import { RoleCounts } from "./saying.mjs" */

const CONVERSATION = "conversations/2026-11-22/001-brainstorm-api-design";
const TOPIC = 'api\'s "design" & 漢字 🙂';
const OLD = "You help to think: ask one question at a time. OLD-RULES-17.";
const NEW = "You help to think: first write down what is known. NEW-RULES-18.";
const SECOND = 'What of REST? "quoted" ünï 🙂';
const THIRD = "And now versions.";
const FOURTH = "In the path or the header?";

/** @type {Suite} */
export default {
  title: "a session is held, stopped, found and resumed in a real client by what leftoff init installed there",
  async run() {
    const clients = present(IN_CI);
    const all = await Promise.allSettled(clients.map((one) => scene("stop", ({ folder }) => tryClient(one, folder))));
    const errors = all.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${clients.length} clients`);
    return Object.fromEntries(
      all.flatMap((one, at) => (one.status === "fulfilled" ? [[clients[at]?.client.name, one.value]] : [])),
    );
  },
};

/** @param {Present} present @param {string} folder */
async function tryClient({ client, program }, folder) {
  const at = seat(program, folder);
  const own = setUp(client, at);
  own.command("brainstorm", OLD);
  own.leftoff("init", client.agent);
  const first = await runTalk(
    client,
    at,
    own.stopped([
      {
        prompt: own.begins("brainstorm", TOPIC),
        steps: [
          {
            text: "I shall note it.",
            calls: [client.tools.write(join(at.project, CONVERSATION, "brainstorm.md"), "# API Design Discussion\n")],
          },
          { text: "What is the API for?" },
        ],
      },
      {
        prompt: SECOND,
        steps: [
          { text: "A look.", calls: [client.tools.shell("printf 'mark-%s\\n' 91")] },
          { text: "REST is simple: ünï 漢字." },
        ],
      },
    ]),
  );
  const answer = last(first.seen);
  assert.match(answer, new RegExp(`Session saved\\.\\s+Conversation "${own.title}" has been paused\\.`), client.name);
  assert.ok(answer.includes(own.resumesBy), `${client.name}: what brings it back is named`);
  const kept = await readStored(at);
  assert.equal(kept.path, join(at.project, CONVERSATION, ".session"), `${client.name}: beside the conversation`);
  const { type, lifecycle, agent, messages } = kept;
  const { hash } = own.command("brainstorm", OLD);
  assert.deepEqual(
    { type, lifecycle, command: agent.command, hash: agent.systemPromptHash },
    { type: "brainstorm", lifecycle: "paused", command: own.begins("brainstorm", "").trim(), hash },
    client.name,
  );
  assert.deepEqual(
    agent.tools?.filter((/** @type {string} */ name) => own.tools.includes(name)),
    own.tools,
    `${client.name}: its tools`,
  );
  const { whole } = await countSinceResume(client, at, first.id);
  assert.deepEqual(messages, own.untilStop(whole), `${client.name}: as many messages as its own file has`);
  own.command("brainstorm", NEW);
  const again = await runTalk(
    client,
    at,
    own.resumed("1", [{ prompt: THIRD, steps: [{ text: "Versions in the path." }] }]),
  );
  assert.ok(
    again.list.includes(`1. [brainstorm] ${own.title}`) && again.list.includes("Status: paused"),
    `${client.name}: the list`,
  );
  inOrder(
    again.told,
    [
      NEW.slice(0, 40),
      "[RESUMED CONVERSATION]",
      ...own.quoted(["What is the API for?", SECOND, "mark-91", "REST is simple: ünï 漢字."]),
    ],
    client.name,
  );
  assert.ok(!again.told.includes("OLD-RULES-17.\n\n[RESUMED"), `${client.name}: the old text is not what it is told`);
  assert.match(again.told, /prompt .*changed|changed .*since/i, `${client.name}: a warning`);
  if (!own.hasHooks) own.leftoff("import", "--all");
  const after = await readStored(at);
  assert.equal(after.path, kept.path, `${client.name}: it goes on where it was`);
  const { more } = await countSinceResume(client, at, again.id);
  assert.deepEqual(after.messages, sum(whole, more), `${client.name}: what was said since is with it`);
  own.leftoff("stop", "last", "--summary", "versions are open");
  const answered = await runTalk(
    client,
    at,
    own.answered("1", [{ prompt: FOURTH, steps: [{ text: "In the header, then." }] }]),
  );
  assert.match(
    JSON.stringify(answered.seen),
    new RegExp(`run \`[^\`]* resume --print --from ${client.agent} `),
    `${client.name}: what is to be run with the answer`,
  );
  inOrder(
    answered.told,
    [
      NEW.slice(0, 40),
      "[RESUMED CONVERSATION]",
      ...own.quoted(["What is the API for?", SECOND, "mark-91", THIRD, "Versions in the path."]),
    ],
    client.name,
  );
  if (!own.hasHooks) own.leftoff("import", "--all");
  const then = await readStored(at);
  assert.equal(then.path, kept.path, `${client.name}: what was answered with a number goes on where it was, too`);
  const { more: fourth } = await countSinceResume(client, at, answered.id);
  assert.deepEqual(then.messages, sum(sum(whole, more), fourth), `${client.name}: and the answer is no part of it`);
  return `${messages.user + messages.assistant + messages.tool} messages, then ${more.user + more.assistant + more.tool}, then ${fourth.user + fourth.assistant + fourth.tool}`;
}

/**
 * What a client's own file holds, read by another program; and how much of it comes behind a resume block.
 * @param {Present["client"]} client @param {import("./driving.mjs").Seat} at @param {string} id
 */
async function countSinceResume(client, at, id) {
  const file = await client.fileOf(at, id);
  const all = (await readTranscript(file)).slice();
  const behind = all.slice(
    all.findLastIndex((/** @type {any} */ message) => JSON.stringify(message).includes("[END RESUMED CONTEXT]")) + 1,
  );
  const more = countRoles(behind);
  const whole = count(client.agent, file);
  assert.deepEqual(countRoles(all), whole, `${client.name}: what its file holds`);
  return { whole, more };
}

/** By another program, from the client's own file. @param {string} agent @param {string} file */
function count(agent, file) {
  const done = spawnSync(process.execPath, [join(root, "tests", "agents", "count.mjs"), agent, file], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const { system, user, assistant, toolResults } = JSON.parse(done.stdout).main;
  return { system, user, assistant, tool: toolResults };
}

/** @param {RoleCounts} a @param {RoleCounts} b */
function sum(a, b) {
  return {
    system: a.system + b.system,
    user: a.user + b.user,
    assistant: a.assistant + b.assistant,
    tool: a.tool + b.tool,
  };
}
