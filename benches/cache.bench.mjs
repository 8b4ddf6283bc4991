// @ts-check
/**
 * Contexts that stay cached: how much of each model call's context a provider has from the call before, and what the
 * calls cost, in frames, beside a plain cut that moves in steps, and beside others' rules; over a made conversation
 * and over recorded ones. And what frames lose of the facts that contexts have without them: of planted ones, of the
 * coding questions, and of LoCoMo's conversations, where `LEFTOFF_LOCOMO` says where its file lies, as in
 * `recall.bench.mjs`. `LEFTOFF_SCALE=5` makes five times as many calls, plants facts in five times as many sessions,
 * and replays every format in every window.
 */

import { join } from "node:path";
import { root } from "../scripts/run.mjs";
import { conversation } from "./conversation.mjs";
import { measureCost, measurePeers } from "./cost.mjs";
import { measurePlanted, measureQuestions } from "./evidence.mjs";
import { samplesOf } from "./questions.mjs";
import { recordedConversation } from "./recorded.mjs";

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */
/** @typedef {NonNullable<import("./replay.mjs").Format>} Format */

const SCALE = Number(process.env["LEFTOFF_SCALE"] ?? 1);
const CALLS = 200 * SCALE;
const RECORDED_CALLS = 300 * SCALE;
const PLANTED = { calls: 300, sessions: 2 * SCALE };
const PEERS = { window: 128_000, calls: 300 * SCALE };
/** Every so many of the questions of talk is asked. */
const QUESTION_STEP = 8;

const WINDOWS = [16_384, 32_768, 128_000, 200_000];
const FORMATS = /** @type {Format[]} */ ([
  "anthropic",
  "leftoff",
  "openai-chat",
  "openai-responses",
  "gemini",
  "ai-sdk",
  "ai-sdk-ui",
]);
const FORMAT = /** @type {Format} */ ("anthropic");
const ALL_REQUESTS = FORMATS.flatMap((format) => WINDOWS.map((window) => ({ window, format })));
/** The windows of which contexts without frames are measured, too. */
const UNFRAMED_WINDOWS = [32_768, 128_000];
const MADE_REQUESTS = WINDOWS.map((window) => ({
  window,
  format: FORMAT,
  unframed: UNFRAMED_WINDOWS.includes(window),
}));
const RECORDED_REQUESTS = [
  ...[16_384, 128_000].map((window) => ({ window, format: FORMAT })),
  ...FORMATS.map((format) => ({ window: 32_768, format })),
];

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `contexts of ${CALLS} model calls and more, each beside the one before, and what frames lose`,
  run: async () => [
    ...(await measureCost("made", conversation(), SCALE > 1 ? ALL_REQUESTS : MADE_REQUESTS, { calls: CALLS })),
    ...(await measureCost("recorded", await recordedConversation(), SCALE > 1 ? ALL_REQUESTS : RECORDED_REQUESTS, {
      calls: RECORDED_CALLS,
    })),
    ...(await measurePeers(PEERS.window, PEERS.calls)),
    ...(await measurePlanted(PLANTED.calls, PLANTED.sessions)),
    ...(await ofQuestions(process.env["LEFTOFF_LOCOMO"])),
  ],
};

/** @param {string} [talk] @returns {Promise<Figure[]>} */
async function ofQuestions(talk) {
  const code = join(root, "tests", "fixtures", "coding-questions", "questions.json");
  return [
    ...(await measureQuestions("coding", samplesOf(code), 1, { evidence: false })),
    ...(talk ? await measureQuestions("talk", samplesOf(talk), QUESTION_STEP, { evidence: true }) : []),
  ];
}
