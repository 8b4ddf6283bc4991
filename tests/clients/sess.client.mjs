// @ts-check
// The scenarios of the requirements SESS-001 to SESS-006, each as a person meets it: in each client that leftoff sets
// up, and on the command line. Nothing else is used; what is checked is what is on the disk, what is printed, and what
// the model was told.
// Tries: js/init/, js/cli/

import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "./history.mjs";
import { scene } from "../faults/tools.mjs";
import { IN_CI, present } from "./clients.mjs";
import { resumeSession, seat } from "./holding.mjs";
import { inOrder, last, runTalk } from "./saying.mjs";
import { setUp } from "./set-up.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Present } from "./clients.mjs" */
/** @import { ScriptedPrompt } from "./set-up.mjs" */

const OLD = "You help to think: ask one question at a time. OLD-RULES-23.";
const NEW = "You help to think: first write down what is known. NEW-RULES-24.";
const NAMES = ["001-brainstorm-rate-limits", "002-brainstorm-token-expiry"];

/** @type {Suite} */
export default {
  title: "the scenarios of SESS-001 to SESS-006, by real clients and the command line alone",
  async run() {
    const clients = present(IN_CI);
    const all = await Promise.allSettled(clients.map((one) => scene("sess", ({ folder }) => scenarios(one, folder))));
    const errors = all.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${clients.length} clients`);
    return { clients: clients.length, scenarios: Object.keys(SCENARIOS).length };
  },
};

/** @param {Present} present @param {string} folder */
async function scenarios(present, folder) {
  const person = new Person(present, folder);
  for (const [title, scenario] of Object.entries(SCENARIOS)) {
    try {
      await scenario(person);
    } catch (error) {
      throw new Error(`${person.client.name}, ${title}`, { cause: error });
    }
  }
}

/** Somebody in a client. */
class Person {
  /** @param {Present} present @param {string} folder */
  constructor({ client, program }, folder) {
    this.client = client;
    this.at = seat(program, folder);
    this.own = setUp(client, this.at);
    this.hash = this.own.command("brainstorm", OLD).hash;
    this.own.leftoff("init", client.agent);
  }

  /** @param {ScriptedPrompt[]} talk */
  says(talk) {
    return runTalk(this.client, this.at, talk);
  }

  /** A conversation is begun by a command, and stopped. @param {string} topic @param {string} answer */
  async holds(topic, answer) {
    const { seen } = await this.says(
      this.own.stopped([
        { prompt: this.own.begins("brainstorm", topic), steps: [{ text: `What of ${topic}?` }] },
        {
          prompt: `About ${topic}: keep it simple.`,
          steps: [{ calls: [this.client.tools.shell("printf 'mark-%s\\n' 92")] }, { text: answer }],
        },
      ]),
    );
    this.told = last(seen);
  }

  /** Where conversations lie, by their names. */
  folders() {
    const [day = ""] = readdirSync(join(this.at.project, "conversations"));
    return readdirSync(join(this.at.project, "conversations", day))
      .sort()
      .map((name) => join(this.at.project, "conversations", day, name));
  }

  /** What is kept of one. @param {number} [number] */
  readSessionFiles(number = 0) {
    const session = join(this.folders()[number] ?? "", ".session");
    const lines = readFileSync(join(session, "messages.jsonl"), "utf8").trim().split("\n");
    return { session, json: JSON.parse(readFileSync(join(session, "session.json"), "utf8")), lines };
  }
}

/** @type {Record<string, (person: Person) => Promise<void> | void>} */
const SCENARIOS = {
  async "SESS-003: No resumable conversations"(person) {
    const { list } = await person.says(person.own.answered("", []).slice(0, 1));
    assert.match(list, /no sessions here; '[^']*new' starts one/);
  },

  async "SESS-001: Session state saved when conversation ends"(person) {
    await person.holds("rate limits", "A token bucket, then.");
    assert.deepEqual(
      person.folders().map((path) => path.split("/").at(-1)),
      NAMES.slice(0, 1),
    );
    const { json, lines } = person.readSessionFiles();
    assert.deepEqual([json.conversation_id, json.conversation_type, json.status], [NAMES[0], "brainstorm", "paused"]);
    // What its user has to say "stop", and the answer, may come behind.
    const answered = lines.findIndex((line) => line.includes("A token bucket, then."));
    assert.ok(
      json.message_count > answered && json.message_count <= lines.length,
      `${json.message_count} of ${lines.length}`,
    );
    for (const time of [json.created_at, json.last_active])
      assert.ok(Math.abs(Date.now() - Date.parse(time)) < 600_000, time);
  },

  "SESS-001: Session includes agent configuration"(person) {
    const { own, hash } = person;
    const { command, system_prompt_hash: kept, model, tools } = person.readSessionFiles().json.agent_config;
    assert.deepEqual([command, kept], [own.begins("brainstorm", "").trim(), hash]);
    assert.ok(model, "the model's name");
    for (const tool of own.tools) assert.ok(tools.includes(tool), `${tool} in ${tools}`);
  },

  "SESS-001: Message history format"(person) {
    const all = person.readSessionFiles().lines.map((line) => JSON.parse(line));
    for (const { role, content, timestamp } of all)
      assert.ok(
        ["system", "user", "assistant", "tool"].includes(role) &&
          typeof content === "string" &&
          !Number.isNaN(Date.parse(timestamp)),
        `${role}: ${content}`,
      );
    const times = all.map(({ timestamp }) => Date.parse(timestamp));
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
      "in the order of time",
    );
  },

  "SESS-002: Explicit stop command"(person) {
    assert.ok(person.told?.includes(person.own.resumesBy), "it is said how to go on");
    assert.equal(person.readSessionFiles().json.status, "paused");
  },

  "SESS-002: Stop command feedback"(person) {
    assert.match(
      person.told ?? "",
      /Session saved\.\s+Conversation ".+" has been paused\.\s+You can continue later with .*\s+Summary: .+/,
    );
  },

  async "SESS-003: List resumable conversations"(person) {
    await person.holds("token expiry", "Refresh them earlier.");
    const { list } = await person.says(person.own.answered("", []).slice(0, 1));
    const line = (/** @type {string} */ name) => `Status: paused \\| Name: ${name} \\| ID: \\S+\\s+Summary: .+`;
    assert.match(
      list,
      new RegExp(
        `1\\. \\[brainstorm\\] .+\\s+Last active: .+ \\| ${line(NAMES[1] ?? "")}\\s+2\\. \\[brainstorm\\] .+\\s+Last active: .+ \\| ${line(NAMES[0] ?? "")}`,
      ),
    );
  },

  async "SESS-003: Command prompt changes since original conversation"(person) {
    person.own.command("brainstorm", NEW);
    const answered = await person.says(
      person.own.answered("2", [{ prompt: "Where were we?", steps: [{ text: "At the bucket." }] }]),
    );
    person.told = answered.told;
    assert.ok(answered.told.includes(NEW), "the current version is used");
    assert.match(answered.told, /instructions of the command .* changed since it was saved/);
    // Who resumed it goes on in it, and in no other.
    if (!person.own.hasHooks) person.own.leftoff("import", "--all");
    assert.deepEqual(
      [0, 1].map((number) => person.readSessionFiles(number).lines.some((text) => text.includes("At the bucket."))),
      [true, false],
    );
  },

  "SESS-003: Resume by selection"(person) {
    assert.match(person.told ?? "", /\nConversation: brainstorm \/ .+\n(?:.+\n)*Summary: .+\n/);
  },

  "SESS-003: Command loading on resume"(person) {
    const told = person.told ?? "";
    assert.ok(told.indexOf(NEW) < told.indexOf("[RESUMED CONVERSATION]"), "its text comes first");
  },

  "SESS-003: Context injection on resume"(person) {
    inOrder(
      person.told ?? "",
      [
        "[RESUMED CONVERSATION]",
        "Last active: ",
        "Messages: ",
        "Previous context is loaded.",
        "[END RESUMED CONTEXT]",
        "What of rate limits?",
        "About rate limits: keep it simple.",
        "mark-92",
      ],
      "the block, and all that was said",
    );
  },

  async "SESS-004: Resume by conversation ID"(person) {
    const { client, at, own } = person;
    const { id, path, command, agent, copy } = JSON.parse(
      own.leftoff("resume", NAMES[1] ?? "", "--with", client.agent, "--json"),
    );
    assert.ok(agent === client.agent && command.includes(id), `its client is started with it: ${command.join(" ")}`);
    if (copy !== "none") await client.take?.(at, path);
    const turns = await resumeSession(client, at, { id, prompt: "And now?" });
    inOrder(
      JSON.stringify(turns),
      ["What of token expiry?", "About token expiry: keep it simple.", "Refresh them earlier."],
      "it is loaded",
    );
  },

  "SESS-004: Resume by search"(person) {
    const { own, client } = person;
    const found = (/** @type {string} */ words) =>
      JSON.parse(own.leftoff("resume", words, "--with", client.agent, "--json"));
    // OpenCode gives a title of its own.
    const words = client.agent === "opencode" ? "earlier" : "expiry";
    assert.ok(found(words).messageCount > 0, "by a word of its title, or of its summary");
    const ids = [0, 1].map((number) => person.readSessionFiles(number).json.id);
    assert.throws(
      () => found("brainstorm"),
      ({ message }) => message.includes("matches 2 sessions:") && ids.every((id) => message.includes(id)),
      "of several one is asked to choose",
    );
  },

  "SESS-004: List resumable conversations"({ own }) {
    const list = own.leftoff("resume", "--list");
    for (const name of NAMES)
      assert.match(
        list,
        new RegExp(`\\[brainstorm\\] .+\\n {3}Last active: .+ \\| Status: \\w+ \\| Name: ${name} \\| ID: \\S+\\n`),
      );
  },

  "SESS-005: Status transitions"(person) {
    const [name = ""] = NAMES;
    const status = () => person.readSessionFiles().json.status;
    person.own.leftoff("stop", name, "--summary", "a token bucket");
    assert.equal(status(), "paused");
    person.own.leftoff("complete", name);
    assert.equal(status(), "completed");
    assert.throws(() => person.own.leftoff("stop", name), /completed/, "from there it is not paused");
  },

  "SESS-005: Auto-pause on inactivity"(person) {
    person.own.leftoff("new", "--title", "left alone");
    assert.match(person.own.leftoff("list"), /\tactive\tleft alone\t/);
    assert.match(person.own.leftoff("tomorrow", "list"), /\tpaused\tleft alone\t/);
  },

  async "SESS-005: Completed conversations"(person) {
    const { told, again } = await person.says(person.own.insisted(NAMES[0] ?? "", []));
    assert.match(told, /this conversation was marked complete/);
    assert.doesNotMatch(again, /this conversation was marked complete/);
    const events = readFileSync(join(person.readSessionFiles().session, "events.jsonl"), "utf8");
    assert.match(events.slice(events.indexOf('"status":"completed"')), /"status":"active"/);
  },

  "SESS-006: Session committed with conversation"(person) {
    const { at, own } = person;
    git(at.project, ["config", "user.name", "Ann"]);
    git(at.project, ["config", "user.email", "ann@example.org"]);
    writeFileSync(join(person.folders()[0] ?? "", "brainstorm.md"), "# Rate limits\n");
    own.leftoff("stop", NAMES[0] ?? "", "--commit");
    const shown = git(at.project, ["show", "--name-only", "--format=%s"]).toString();
    assert.match(shown, /session saved/);
    for (const file of ["brainstorm.md", ".session/session.json", ".session/messages.jsonl"])
      assert.ok(shown.includes(`${NAMES[0]}/${file}`), shown);
  },

  "SESS-006: Session-only updates"({ own, at }) {
    own.leftoff("resume", NAMES[0] ?? "", "--print", "--from", "claude-code");
    own.leftoff("stop", NAMES[0] ?? "", "--commit");
    assert.match(git(at.project, ["log", "-1", "--format=%s"]).toString(), /session update/);
  },
};
