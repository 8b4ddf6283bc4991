// @ts-check
// Long sessions that a real Claude Code holds over the project's own history, imported and made into contexts.
// Tries: src/interop/claude_code/, src/context/

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { root } from "../../scripts/run.mjs";
import { scene } from "../faults/tools.mjs";
import { countTokens, openStore } from "../../js/index.js";
import { agree, ofState } from "./agree.mjs";
import { claudeCode } from "./claude-code.mjs";
import { commits, git } from "./history.mjs";
import { lookPinned, pinnedVersion } from "./install.mjs";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";
import { missing } from "./facts-in-context.mjs";
import { readClaude } from "./raw.mjs";
import { FEWEST_COMMITS, PLANS, session } from "./sessions.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Plan } from "./sessions.mjs" */
/** @import { Truth, Turn } from "./work.mjs" */

const WINDOWS = [8_000, 32_000, 128_000];

/** @type {Suite} */
export default {
  title: "contexts of long sessions name the task, each file, each command that failed, each open task",
  /** @returns {Promise<import("../../scripts/suites.mjs").Outcome>} */
  async run({ scaled, seed }) {
    const program = claudeCode.program(lookPinned);
    if (program === null) return { skipped: `no Claude Code for ${process.platform} ${process.arch}` };
    const history = commits(root).length;
    if (history < FEWEST_COMMITS)
      return { skipped: `expected a history of ${FEWEST_COMMITS} commits, but found ${history}` };
    const sum = {
      sessions: 0,
      turns: 0,
      steps: 0,
      tokens: 0,
      files: 0,
      "failed commands": 0,
      "open tasks": 0,
      contexts: 0,
    };
    for (let number = 0; number < scaled(PLANS.length); number += 1) {
      const one = await scene("clients", ({ folder }) => hold({ folder, program, number, seed }));
      for (const [what, count] of Object.entries(one)) sum[/** @type {keyof typeof sum} */ (what)] += count;
    }
    return { "Claude Code": pinnedVersion(claudeCode.package), ...sum };
  },
};

/**
 * Holds one session, and looks at it.
 * @param {{ folder: string, program: string, number: number, seed: number }} options
 */
async function hold({ folder, program, number, seed }) {
  const start = performance.now();
  const [home, project, store] = ["home", "project", "store"].map((name) => join(folder, name));
  mkdirSync(/** @type {string} */ (home));
  git(folder, ["clone", "--quiet", root, "project"]);
  const made = session({ repository: root, project: /** @type {string} */ (project), number, seed });
  const file = await holdTalk(
    { program, home: /** @type {string} */ (home), project: /** @type {string} */ (project) },
    made,
  );
  const seen = await checkImport({
    file,
    project: /** @type {string} */ (project),
    store: /** @type {string} */ (store),
    ...made,
  });
  console.log(
    `  session ${number}: ${made.turns.length} turns, ${seen.steps} steps, ${seen.tokens.toLocaleString("en")} tokens, ${seen.files} files, ${seen["failed commands"]} failed commands, ${seen["open tasks"]} open tasks; ${seen.strategies.join(", ")} (${((performance.now() - start) / 1000).toFixed(1)} s)`,
  );
  const { strategies: _, ...counted } = seen;
  return { sessions: 1, turns: made.turns.length, ...counted };
}

/**
 * @param {{ program: string, home: string, project: string }} place
 * @param {{ plan: Plan, turns: Turn[] }} made
 * @returns {Promise<string>} the client's own file
 */
async function holdTalk(place, { plan, turns }) {
  const script = new Script(turns.flatMap(({ steps }) => steps));
  const server = await serve(script);
  const id = randomUUID();
  let due = 0;
  try {
    for (const [turn, { prompt, steps }] of turns.entries()) {
      await claudeCode.ask(
        { ...place, url: server.url, hasTodoWrite: plan.hasTodoWrite },
        { prompt, id, resumes: turn > 0 },
      );
      due += steps.length;
      assert.equal(script.takenCount, due, "each step is taken, in its turn");
    }
  } finally {
    await server.close();
  }
  assert.deepEqual(server.unknown, []);
  return claudeCode.fileOf(place, id);
}

/** @param {{ file: string, project: string, store: string, plan: Plan, turns: Turn[], truth: Truth }} held */
async function checkImport({ file, project, store: home, turns, truth }) {
  const raw = readClaude(readFileSync(file, "utf8"));
  const known = {
    ...truth,
    files: new Map([...truth.files].map(([path, kind]) => [join(project, path), kind])),
    failed: new Map(
      [...truth.failed].map(([command, ended]) => [command.split(/\s+/).filter(Boolean).join(" "), ended]),
    ),
  };
  agree(raw, known, { what: "the client's file against the script", project });
  const store = await openStore({ home, project });
  const { imported } = await store.import(file);
  assert.equal(imported.length, 1);
  const one = await store.session(/** @type {any} */ (imported[0]).id);
  const state = await one.state();
  agree(ofState(state), known, { what: "leftoff's state against the script", project });
  await onDisk(project, known);
  const counts = await countMessages(one);
  assert.deepEqual(counts.byRole, byHand(file), "messages, calls and results");
  const strategies = [];
  for (const window of WINDOWS) {
    const { messages, strategy, tokensUsed, tokenBudget } = await one.context({ window });
    assert.ok(tokensUsed <= tokenBudget);
    assert.deepEqual(missing(messages, known, project), [], `at ${window}, by ${strategy}`);
    strategies.push(strategy);
  }
  await store.close();
  assert.ok(counts.tokens >= 50_000 && counts.tokens <= 500_000, `${counts.tokens} tokens`);
  return {
    steps: turns.reduce((sum, { steps }) => sum + steps.length, 0),
    tokens: counts.tokens,
    files: known.files.size,
    "failed commands": known.failed.size,
    "open tasks": known.open.length,
    contexts: WINDOWS.length,
    strategies,
  };
}

/** What git says of the tree that the client left. @param {string} project @param {import("./raw.mjs").Raw} known */
async function onDisk(project, known) {
  const kinds = new Map([
    ["?", "created"],
    ["A", "created"],
    ["M", "modified"],
    ["D", "deleted"],
  ]);
  const changed = git(project, ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"])
    .toString()
    .split("\0")
    .filter(Boolean);
  for (const line of changed) {
    const path = join(project, line.slice(3));
    assert.equal(
      known.files.get(path),
      kinds.get(line.slice(0, 2).trim().slice(-1)),
      `${line}: what git sees is known`,
    );
  }
}

/** @param {any} session */
async function countMessages(session) {
  const byRole = { system: 0, user: 0, assistant: 0, toolCalls: 0, toolResults: 0 };
  /** @type {string[]} */
  const texts = [];
  for await (const { role, content, assistant } of session.messages()) {
    byRole[/** @type {"user"} */ (role === "tool" ? "toolResults" : role)] += 1;
    byRole.toolCalls += assistant?.toolCalls?.length ?? 0;
    texts.push(String(content), ...(assistant?.toolCalls ?? []).map((/** @type {any} */ call) => call.arguments));
  }
  const counts = /** @type {number[]} */ (await countTokens(texts));
  return { byRole, tokens: counts.reduce((sum, count) => sum + count, 0) };
}

/** @param {string} file */
function byHand(file) {
  const done = spawnSync(process.execPath, [join(root, "tests", "agents", "count.mjs"), "claude-code", file], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return JSON.parse(done.stdout).main;
}
