// @ts-check
// What model calls took, beside what ccusage finds over the same files of Claude Code and Codex: the same tokens for
// each day and model, and the same cost where ccusage knows the model's price. Where they differ is named here.
// Tries: src/session/usage/, src/interop/claude_code/content.rs, src/interop/codex/event.rs

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { root } from "../../scripts/run.mjs";
import { openStore } from "../../js/index.js";
import { commandIn, installOther } from "./install.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */

/** The newest whose program for this system is there. */
const CCUSAGE = "20.0.24";
/** ccusage takes calls of a session that names no model for this one's; here they have none. */
const ASSUMED_MODEL = "gpt-5";
/** Files that hold no session, or one without a message: ccusage counts them all the same. */
const NOT_SESSIONS = /history\.jsonl|codex_05[0-9]/;
const OWN = { "claude-code": /real|projects|small/, codex: /real|agent-sessions|opensession/ };
const PLACES = { "claude-code": ".claude/projects/-project", codex: ".codex/sessions/2026/11/20" };

/** @type {Suite} */
export default {
  title: "sums of model calls are ccusage's",
  async run() {
    const look = await installOther("ccusage", CCUSAGE);
    const ccusage = commandIn(look, "ccusage", "ccusage") ?? assert.fail("expected a command in ccusage");
    const home = mkdtempSync(join(tmpdir(), "leftoff-usage-"));
    try {
      const files = copyTranscripts(home);
      const theirs = sumsOfCcusage(ccusage, home);
      const ours = await ownSums(home, files);
      let priced = 0;
      for (const [key, { cost, ...tokens }] of theirs) {
        const found = ours.get(key) ?? assert.fail(`expected ${key}, but found no such sum`);
        assert.deepEqual({ ...found, cost: undefined }, { ...tokens, cost: undefined }, key);
        if (!cost || found.cost === null) continue;
        assert.ok(
          Math.abs((found.cost ?? 0) - cost) < 2e-6,
          `${key}: expected ${cost}, but found ${found.cost} instead`,
        );
        priced += 1;
      }
      assert.deepEqual([...ours.keys()].sort(), [...theirs.keys()].sort());
      return { files: files.length, sums: theirs.size, priced };
    } finally {
      rmSync(home, { recursive: true });
    }
  },
};

/** @param {string} home */
function copyTranscripts(home) {
  return Object.entries(OWN).flatMap(([agent, own]) => {
    const from = join(root, "tests", "fixtures", agent);
    const to = join(home, PLACES[/** @type {keyof typeof PLACES} */ (agent)]);
    mkdirSync(to, { recursive: true });
    return readdirSync(from, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".jsonl") && own.test(file) && !NOT_SESSIONS.test(file))
      .map((file) => {
        const copy = join(to, `rollout-${basename(dirname(file))}-${basename(file)}`);
        const lines = readFileSync(join(from, file), "utf8").split("\n");
        writeFileSync(copy, lines.map(asWritten).join("\n"));
        return copy;
      });
  });
}

/**
 * A record as ccusage reads it: without blanks, and with the id that a provider gives each request, without which it
 * counts an answer once for each of its blocks.
 * @param {string} line
 */
function asWritten(line) {
  try {
    const record = JSON.parse(line);
    if (record.message?.id && record.message.usage) record.requestId ??= record.message.id;
    return JSON.stringify(record);
  } catch {
    return line;
  }
}

/** @param {string} command @param {string} home */
function sumsOfCcusage(command, home) {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TZ: "UTC",
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    CODEX_HOME: join(home, ".codex"),
  };
  const printed = execFileSync(process.execPath, [command, "daily", "--json", "--offline"], { env, encoding: "utf8" });
  const { daily } = JSON.parse(printed);
  /** @type {Map<string, Record<string, number | undefined>>} */
  const sums = new Map();
  for (const { period, modelBreakdowns } of daily)
    for (const { modelName, inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens, cost } of modelBreakdowns)
      sums.set(`${period} ${modelName}`, {
        input: inputTokens,
        output: outputTokens,
        cacheWrite: cacheCreationTokens,
        cacheRead: cacheReadTokens,
        cost,
      });
  return sums;
}

/** @param {string} home @param {string[]} files */
async function ownSums(home, files) {
  const store = await openStore({ home: join(home, "store"), project: home });
  for (const file of files) await store.import(file);
  const { rows } = await store.usage({ by: ["day", "model"], all: true });
  await store.close();
  return new Map(
    rows.map(({ day, model, usage: { input, output, cacheWrite, cacheRead }, cost }) => [
      `${day} ${model || ASSUMED_MODEL}`,
      { input, output, cacheWrite, cacheRead, cost: model ? cost : null },
    ]),
  );
}
