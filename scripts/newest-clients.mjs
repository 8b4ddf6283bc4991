// @ts-check
// `npm run test:newest-clients`: drives the newest version of each client on npm as the pinned one is driven: holds and
// resumes a session in it, and runs the ring of all. Reports what its files have that the pinned version's have not.
// Other versions are tried with `-- --version codex=0.160.0`, as often as wanted; then only these are.

import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LeftoffError, MemoryStorage, openStore } from "../js/index.js";
import { present, selectClients } from "../tests/clients/clients.mjs";
import { hasFailed, isEnough, rowsOf, table } from "../tests/clients/candidates.mjs";
import { hold } from "../tests/clients/hold.client.mjs";
import { install, installOther, pinnedVersion } from "../tests/clients/install.mjs";
import { describeTry, ring } from "../tests/clients/ring.client.mjs";
import { compareShapes, shapeOf } from "../tests/clients/shape.mjs";
import { ask, fail, root, seconds, step } from "./run.mjs";

/** @import { Client } from "../tests/clients/driving.mjs" */
/** @import { Present } from "../tests/clients/clients.mjs" */
/** @import { Candidate, Loss } from "../tests/clients/candidates.mjs" */

const OUTPUT_FOLDER = join(root, "target", "newest-clients");
const clients = selectClients({ all: true });

/** The versions that the command line asks for, by agent. */
function parseVersions() {
  const { values } = parseArgs({ options: { version: { type: "string", multiple: true, default: [] } } });
  return new Map(
    values.version.map((one) => {
      const [agent = "", version = ""] = one.split("=", 2);
      if (!/^\d[\w.+-]*$/.test(version) || clients.every((client) => client.agent !== agent))
        fail(`expected --version ${clients.map((client) => client.agent).join("|")}=1.2.3, but found ${one} instead`);
      return [agent, version];
    }),
  );
}

/** @param {Client} client */
function newestVersion({ package: name }) {
  const version = ask("npm", ["view", name, "version"]);
  return version || fail(`expected npm to know a version of ${name}, but found none`);
}

/**
 * Installs a client; throws if it cannot be driven.
 * @param {Client} client
 * @param {string} version
 * @returns {Promise<Present>}
 */
async function installClient(client, version) {
  const look = await installOther(client.package, version);
  const program = client.program(look);
  if (program === null)
    throw new Error(`no program where the pinned version has one, or none for ${process.platform} ${process.arch}`);
  const wants = JSON.parse(readFileSync(/** @type {string} */ (look(client.package, "package.json")), "utf8")).engines
    ?.node;
  const has = client.node && ask(client.node(), ["--version"]);
  if (has && wants && !isEnough(wants, has)) throw new Error(`it wants Node ${wants}, and there is ${has}`);
  return { client, program, version };
}

/** Holds a session and keeps its file. @param {Present} one @param {string} folder @returns {Promise<boolean>} */
async function tryHolding(one, folder) {
  try {
    await hold(one, folder);
    return true;
  } catch (error) {
    console.log(`FAILED ${one.client.name} ${one.version}:`, error);
    return false;
  }
}

/**
 * Reads what a client wrote, and what leftoff loses of it; `null` where it wrote nothing.
 * @param {Client} client
 * @param {string} folder
 */
async function readWritten({ name }, folder) {
  const [file] = existsSync(join(folder, name))
    ? readdirSync(join(folder, name)).filter((one) => one !== "where.txt")
    : [];
  if (!file) return null;
  const bytes = readFileSync(join(folder, name, file));
  const storage = new MemoryStorage();
  await storage.append(`/${file}`, bytes);
  const store = await openStore({ home: "/home", project: "/", storage });
  // A file that no reader knows is lost as a whole; the ring has reported that.
  /** @type {{ imported: { losses: Loss[] }[] }} */
  const { imported } = await store.import(`/${file}`).catch((error) => {
    if (!(error instanceof LeftoffError)) throw error;
    return { imported: [{ losses: [{ field: file, count: 1, why: error.message }] }] };
  });
  return { shape: shapeOf(bytes.toString()), losses: imported.flatMap((one) => one.losses) };
}

/** @param {Candidate[]} candidates those that can be driven */
async function tryCandidates(candidates) {
  const others = candidates.flatMap(({ other }) => other ?? []);
  const own = present(clients);
  rmSync(OUTPUT_FOLDER, { recursive: true, force: true });
  await step(
    "sessions held in the pinned versions",
    async () =>
      void (await Promise.all(
        own
          .filter(({ client }) => others.some((one) => one.client === client))
          .map((one) => tryHolding(one, join(OUTPUT_FOLDER, "pinned"))),
      )),
  );
  await step(
    "sessions held in the others",
    async () =>
      void (await Promise.all(
        candidates.map(async (candidate) => {
          if (candidate.other) candidate.hold = await tryHolding(candidate.other, join(OUTPUT_FOLDER, "other"));
        }),
      )),
  );
  await step("the ring", async () => {
    const tries = await ring(
      clients.flatMap((client) => [...others, ...own].find((one) => one.client === client) ?? []),
      (one) => others.includes(one),
    );
    for (const one of tries) if (one.error !== undefined) console.log(`FAILED ${describeTry(one)}:`, one.error);
    for (const candidate of candidates)
      candidate.ring = tries
        .filter(({ from, to }) => from === candidate.other || to === candidate.other)
        .map((one) => ({ pair: describeTry(one), ok: one.error === undefined }));
  });
  for (const candidate of candidates) {
    const [before, after] = await Promise.all(
      ["pinned", "other"].map((folder) => readWritten(candidate.client, join(OUTPUT_FOLDER, folder))),
    );
    if (before && after)
      candidate.changes = {
        ...compareShapes(before.shape, after.shape),
        losses: after.losses,
        lost: after.losses.filter(({ field }) => before.losses.every((one) => one.field !== field)),
      };
  }
}

const start = performance.now();
const versions = parseVersions();
await step("the pinned clients", () => install({ all: true }));
/** @type {Candidate[]} */
const candidates = clients
  .filter(({ agent }) => versions.size === 0 || versions.has(agent))
  .map((client) => ({
    client,
    pinned: pinnedVersion(client.package),
    version: versions.get(client.agent) ?? newestVersion(client),
  }));
const others = candidates.filter(({ pinned, version }) => pinned !== version);
for (const candidate of others) {
  await step(`${candidate.client.name} ${candidate.version}`, async () => {
    try {
      candidate.other = await installClient(candidate.client, candidate.version);
    } catch (error) {
      candidate.why = /** @type {Error} */ (error).message;
    }
  });
}
const driven = others.filter(({ other }) => other);
if (driven.length > 0) await tryCandidates(driven);
const { summary, details } = rowsOf(candidates);
console.log(
  `\n${table(["client", "pinned", versions.size > 0 ? "tried" : "newest", "hold", "ring", "what it writes"], summary)}`,
);
if (details.length > 0) console.log(`\n${table(["client", "", "what", "leftoff"], details)}`);
if (driven.length > 0) console.log(`\nThe files: ${OUTPUT_FOLDER} (${seconds(start)})`);
process.exitCode = candidates.some(hasFailed) ? 1 : 0;
