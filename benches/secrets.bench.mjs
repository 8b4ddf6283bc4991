// @ts-check
/**
 * Finding secrets: which share of others' samples, by kind, beside secretlint alone; how fast; and what a context costs
 * with it.
 */

import { join } from "node:path";
import { MemoryStorage, openStore } from "../js/index.js";
import { Redaction } from "../js/privacy/redaction.js";
import { countFound, SAMPLES } from "../tests/js/secret-kinds/draw.js";
import { KNOWN } from "../tests/js/secret-kinds/known.js";
import { NEWER } from "../tests/js/secret-kinds/newer.js";
import { CORPORA, secretlintAlone, shares, spansOf, sum } from "../tests/js/secret-samples.js";
import { corpus } from "./corpus.mjs";
import { inFolder, inTurns } from "./tools.mjs";

const ROUNDS = 3;
const MEGABYTE = 1_000_000;
/** As much as is looked at together. */
const PIECE = 1 << 18;

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: "secrets that are found: of samples by kind, leftoff's whole and secretlint's recommended rules alone",
  run: async () => [
    ...(await measureFound()),
    ...(await countKinds()),
    ...(await speeds()),
    ...(await inFolder(contexts)),
  ],
};

/** Of kinds, those of which every sample is found whole. @returns {Promise<Figure[]>} */
async function countKinds() {
  const figures = [];
  for (const [name, kinds] of /** @type {const} */ ([
    ["known", KNOWN],
    ["newer", NEWER],
  ])) {
    const counts = [...(await countFound(kinds, spansOf)).values()];
    figures.push({
      what: `of ${kinds.length} ${name} kinds, found whole in ${SAMPLES} samples each`,
      value: counts.filter((found) => found === SAMPLES).length,
      unit: "",
    });
  }
  return figures;
}

/** @returns {Promise<Figure[]>} */
async function measureFound() {
  const figures = [];
  for (const name of CORPORA) {
    const kinds = await shares(name);
    for (const [kind, { samples, leftoff, secretlint }] of kinds.set("all", sum(kinds.values()))) {
      figures.push({
        what: `${name}, ${kind}: of ${samples}, secretlint alone ${secretlint}`,
        value: leftoff,
        unit: "",
      });
    }
  }
  return figures;
}

/** @returns {Promise<Figure[]>} */
async function speeds() {
  const text = corpus()
    .map((message) => message.text)
    .join("\n");
  const pieces = Array.from({ length: Math.ceil(text.length / PIECE) }, (_, at) =>
    text.slice(at * PIECE, (at + 1) * PIECE),
  );
  const door = new Redaction("report", { storage: new MemoryStorage(), folder: "/home" });
  const all = async () => {
    const found = [];
    for (const piece of pieces) found.push(...(await door.redact(piece)).secrets);
    return found;
  };
  const alone = secretlintAlone();
  const took = await inTurns(
    { all: { times: 1, once: all }, alone: { times: 1, once: () => pieces.forEach(alone) } },
    { rounds: ROUNDS },
  );
  const megabytes = Buffer.byteLength(text) / MEGABYTE;
  const speed = (/** @type {number} */ micros = NaN) => megabytes / (micros / 1e6);
  return [
    { what: `${megabytes.toFixed(1)} MB of usual texts`, value: speed(took.all), unit: "MB/s" },
    {
      what: "what is found in them, where no secret should be",
      value: (await all()).reduce((sum, { count }) => sum + count, 0),
      unit: "",
    },
    { what: "the same, secretlint alone", value: speed(took.alone), unit: "MB/s" },
  ];
}

/** What a process pays for its first context. @param {string} folder @returns {Promise<Figure[]>} */
async function contexts(folder) {
  const home = join(folder, "home");
  const store = await openStore({ home, project: folder });
  const { id } = await fill(store);
  await store.close();
  const first = (/** @type {"off" | "replace"} */ redact) => async () => {
    const opened = await openStore({ home, project: folder, redact });
    await (await opened.session(id)).context({ window: 32_000, encoding: "estimate-1" });
    await opened.close();
  };
  const took = await inTurns(
    { off: { times: 1, once: first("off") }, replace: { times: 1, once: first("replace") } },
    { rounds: ROUNDS },
  );
  return [
    { what: "the first context of a session of all these texts", value: (took.off ?? NaN) / 1000, unit: "ms" },
    { what: "the same with replace: read whole", value: (took.replace ?? NaN) / 1000, unit: "ms" },
  ];
}

/** @param {import("../js/index.js").Store} store */
async function fill(store) {
  const session = await store.create();
  await session.append(
    corpus().map(({ text }, at) => /** @type {const} */ ({ role: at % 2 ? "assistant" : "user", content: text })),
  );
  return session;
}
