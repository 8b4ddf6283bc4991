// @ts-check
// What was sent and why, and compaction, as they are typed.
// Tries: js/cli/commands.js, js/cli/in-agent.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { inStore, turnAbout } from "./long-session.js";
import { nodePath } from "./node-path.js";

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));

/** @param {string} home */
const cliIn =
  (home) =>
  (/** @type {string[]} */ ...args) => {
    const { status, stdout, stderr } = spawnSync(nodePath, [entry, ...args], {
      env: { PATH: process.env.PATH, HOME: home, LEFTOFF_HOME: home },
      encoding: "utf8",
    });
    return { status, stdout, stderr, value: args.includes("--json") && status === 0 ? JSON.parse(stdout) : undefined };
  };

test("compact says what it would do, does it, and takes it back", () =>
  inStore({ turns: 80 }, async ({ session, home }) => {
    const leftoff = cliIn(home);
    const asked = ["compact", session.id, "--window", "16000"];
    assert.match(
      leftoff(...asked).stdout,
      /^a summary would replace \d+ messages in contexts: \d+ tokens before, \d+ after, of 12000\nNo message is deleted\. --apply compacts\.\n$/,
    );
    const { value: plan } = leftoff(...asked, "--json");
    assert.deepEqual([plan.isApplied, plan.isDue], [false, true]);
    assert.match(
      leftoff(...asked, "--apply").stdout,
      /^a summary replaces \d+ messages in contexts: .*\nNo message is deleted\. --undo undoes this\.\n$/,
    );
    assert.match(
      leftoff(...asked, "--apply").stdout,
      /^nothing to do: the conversation has \d+ tokens, and 9000 are kept\n$/,
    );
    const { value: context } = leftoff("context", session.id, "--window", "16000", "--json");
    assert.deepEqual(
      [context.strategy, context.tokensUsed],
      ["full-history", leftoff(...asked, "--json").value.tokensBefore],
    );
    assert.match(leftoff(...asked, "--undo").stdout, /^contexts start at the first message again: /);
    assert.match(leftoff(...asked, "--undo").stdout, /^nothing to do: it is not compacted\n$/);
    const wrong = leftoff(...asked, "--keep", "few");
    assert.deepEqual([wrong.status, wrong.stdout], [2, ""]);
    assert.match(wrong.stderr, /--keep/);
  }));

test("resume tells which tools are gone by the definitions of those there are", () =>
  inStore({ turns: 2 }, async ({ session, home }) => {
    await session.setAgent({ tools: ["search", "fetch"] });
    await session.flush();
    const file = join(home, "tools.json");
    writeFileSync(file, JSON.stringify([{ name: "fetch", input_schema: { type: "object" } }]));
    const told = "tools that this conversation had are gone: search";
    for (const how of [["--print"], ["--with", "codex", "--print"]]) {
      const { status, stderr, stdout } = cliIn(home)("resume", session.id, "--tools", file, ...how);
      assert.equal(status, 0);
      assert.match(stderr, new RegExp(`^leftoff: ${told}$`, "m"));
      if (how.length === 1) assert.match(stdout, new RegExp(`^Warning: ${told}$`, "m"));
      assert.ok(cliIn(home)("resume", session.id, "--tools", file, ...how, "--json").value.warnings.includes(told));
    }
  }));

test("context --explain shows at a glance what was sent and why", () =>
  inStore({ turns: 80 }, async ({ session, home }) => {
    const { stdout } = cliIn(home)("context", session.id, "--window", "16000", "--explain");
    const [head = "", window = "", full = "", pruned = "", kept = "", summarized = "", summary = ""] =
      stdout.split("\n");
    assert.match(head, /^recent-plus-summary: \d+ of 12000 tokens, \d+ of 160 messages$/);
    assert.equal(window, "  window 16000 = 0 system + 0 tools + 4000 for the answer + 12000 for messages");
    assert.ok(full.startsWith("  full-history: no, ") && pruned.startsWith("  pruned-tools: no, "));
    const [, keptTokens, keptCount] = /^ {2}kept +(\d+) {2}(\d+) messages$/.exec(kept) ?? [];
    const [, summaryTokens] =
      /^ {2}summary +(\d+) {2}of the messages left out(?:, without \d+ lines? that did not fit)?$/.exec(summary) ?? [];
    assert.match(summarized, /^ {2}summarized +\d+ {2}\d+ messages$/);
    const [, used, included] = /: (\d+) of 12000 tokens, (\d+) of/.exec(head) ?? [];
    assert.deepEqual([Number(keptTokens) + Number(summaryTokens), keptCount], [Number(used), included]);
  }));

test("context --compare says what differs from the last one", () =>
  inStore({ turns: 80 }, async ({ session, home }) => {
    const leftoff = cliIn(home);
    const none = leftoff("context", session.id, "--window", "16000", "--compare");
    assert.deepEqual([none.status, none.stdout], [1, ""]);
    assert.match(none.stderr, /\(not_found\)/);
    await session.context({ window: 16_000 });
    await session.append(turnAbout("one more"));
    await session.flush();
    const { stdout } = leftoff("context", session.id, "--window", "16000", "--compare");
    assert.match(
      stdout,
      /^before, .+: recent-plus-summary: .*\nnow: recent-plus-summary: .*\n(.*\n)* {2}unread {5}-> kept {8}/,
    );
    assert.match(leftoff("context", session.id, "--window", "16000", "--compare").stdout, /\n {2}the same messages\n$/);
  }));

test("context --last --full shows the messages that were sent, whatever came since, and where it cannot why", () =>
  inStore({ turns: 80 }, async ({ session, home }) => {
    const leftoff = cliIn(home);
    const { messages } = await session.context({ window: 16_000 });
    await session.append(turnAbout("one more"));
    await session.flush();
    const { stdout } = leftoff("context", session.id, "--last", "--full");
    assert.match(
      stdout,
      /^built .+\nrecent-plus-summary: \d+ of 12000 tokens, \d+ of 160 messages\nverified: these are the messages that were sent\n\n--- user\n/,
    );
    for (const { content } of messages) assert.ok(stdout.includes(content), content);
    assert.ok(!stdout.includes("one more"));
    const { value } = leftoff("context", session.id, "--last", "--full", "--json");
    assert.deepEqual([value.isVerified, value.differences, value.messages], [true, [], messages]);
    await session.context({ window: 16_000, encoding: "mine", count: (texts) => texts.map(({ length }) => length) });
    await session.flush();
    assert.match(
      leftoff("context", session.id, "--last", "--full").stdout,
      /\nnot verified, these are not the messages that were sent\nexpected .* \(own_counter\)\n\n--- /,
    );
    for (const args of [["--full"], ["--full", "--last", "--compare"]])
      assert.equal(leftoff("context", session.id, "--window", "16000", ...args).status, 2);
  }));

test("what is typed in a client's session lists, shows, exports, archives and compacts it, and says what was sent last", () =>
  inStore({ turns: 80 }, async ({ session, home }) => {
    const leftoff = cliIn(home);
    // In the project itself, as a client runs it.
    const inClient = (/** @type {string[]} */ ...words) =>
      leftoff("typed", ...words, "--workspace", join(home, "..", "project"));
    await session.setAgent({ model: "qwen3", contextWindow: 16_000 });
    await session.context();
    await session.flush();
    const said = (/** @type {string[]} */ ...words) => {
      const { status, stdout, stderr } = inClient(...words);
      assert.equal(status, 0, stderr);
      return stdout;
    };
    for (const words of [["sessions"], ["sessions", "all"]])
      assert.ok(said(...words).includes(session.id), words.join(" "));
    for (const words of [["session"], ["session", "info"]])
      assert.match(said(...words), new RegExp(`${session.id}[^]*messages +160`), words.join(" "));
    assert.match(said("session", "export"), /^# [^]*\n## user/);
    const file = join(home, "exported.md");
    said("session", "export", file);
    assert.equal(readFileSync(file, "utf8"), said("session", "export"));
    assert.match(said("debug", "context"), /recent-plus-summary: \d+ of 12000 tokens/);
    for (const words of [["full"], ["context", "full"]])
      assert.match(
        said("debug", ...words),
        /recent-plus-summary: .*\nverified: these are the messages that were sent\n\n--- user\n\[EARLIER/,
      );
    assert.equal(inClient("debug", "all").status, 2);
    assert.match(said("compact"), /--apply compacts/);
    assert.match(said("compact", "--apply"), /--undo undoes this/);
    said("session", "archive");
    assert.ok(!said("sessions").includes(session.id));
    assert.equal(inClient("session", "burn").status, 2);
  }));
