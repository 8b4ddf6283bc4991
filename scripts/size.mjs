// @ts-check
// The size gate: measures what a download weighs, compressed as a web server would, for each module and for pages with
// all that they load. The core's limit rises only for rules that move in from JavaScript, which each host would have to
// write again.

import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build as esbuild } from "esbuild";
import { bind, build, whenStale } from "./build.mjs";
import { fail, root } from "./run.mjs";
import { VIEWER } from "./viewer.mjs";

/**
 * The limits in kilobytes of 1000 bytes, compressed, without the vocabulary, which is a file of its own. `plain` is the
 * core with the store's operations: it may only fall, except for rules that move in. It rose by 46 with the words of
 * recall (English stems, a logarithm, letters without accents, ranking, quoting), tool outputs, git's rules and those
 * of opening; by 0.6 with contexts of messages that no file holds, which JavaScript built of a session in memory
 * before; it fell by 6.4 without what Unicode says of capitals, and rose by 42 with the index of recall, which contexts
 * read and let grow, by 2 where that has no secrets, and is not read for common words, by 2 where words are indexed in
 * a third less of the time, and by 7 with what opens and closes sessions and knows which are open, and with what a
 * provider's whole answer tells of itself; by 2.5 with the order by vectors, with summaries that leave out what is
 * quoted, and with what lists keep of their index; by 1 with the dates that questions name, and by 3 with the names
 * that each request may have, which JavaScript alone refused before; by 0.5 with what is noted of a text that resumes a
 * session, for which a command loaded the second module, by 2 with naming what nobody may look into, and by 1.5 with
 * what no longer holds of a summary once messages were said anew; by 1 with an index that is made anew once a later
 * message tells of a secret, and by 0.6 with where a message begins that is a revision first; by
 * 10.7 with the reasoning that goes back in an open loop, the limits of providers for files, and a session as one file;
 * by 4 with frames that keep reasoning and what they recalled, with cache marks, and with what a first session waits for;
 * by 1, of which machines need up to 0.2 for the same code, with logs that a search reads in one step; by 5.2 with
 * the prices of 221 models, by which a context tells what its call costs; and by 1.1 with what one call cost, with cache
 * writes for an hour, and with sessions in HTML files.
 * `context` is the module that builds contexts without a store, with counting.
 */
const LIMITS_KIB = { plain: 636.8, counting: 700, context: 322.4 };

/** The viewer's page beside the core, in kilobytes: all its files. */
const VIEWER_LIMIT = 150;

const SAMPLE_LINE = JSON.stringify({
  type: "user",
  uuid: "u1",
  sessionId: "s1",
  message: { role: "user", content: "Hello" },
});
const SAMPLE_PROGRAM = `import { readTranscript } from "leftoff"; const transcript = await readTranscript(new Blob([${JSON.stringify(SAMPLE_LINE)}]));`;

/**
 * Three things that pages do, with the limit of what each may load: its own script with leftoff's in it, and modules.
 * The vocabulary for exact counts is in none. The last rose by 2 with what a client's commands are, in the second
 * module's binding, which each store has, by 0.9 with the core, by 1.5 with both and the calls that plugins make;
 * and the last two by 1.6 with sums of calls and their cost. The last rose by 2.7 with what loads secretlint's rules, and
 * with what a browser refuses for want of room. The first two rose by 35.6 with VS Code's chats, which pages
 * read too, and the last by 0.3 with the list of what an import would take in.
 */
const PAGES = {
  "reads a transcript": {
    limit: 382,
    script: `${SAMPLE_PROGRAM} if (transcript.length !== 1) throw new Error("expected a message");`,
  },
  "builds a context of a transcript": {
    limit: 698.2,
    script: `${SAMPLE_PROGRAM} await transcript.context({ window: 8_000, encoding: "estimate-1" });`,
  },
  "keeps a session and builds contexts of it": {
    limit: 701.1,
    script: `import { openStore } from "leftoff"; const store = await openStore(); const session = await store.create(); await session.append({ role: "user", content: "Hello" }); await session.context({ window: 8_000, encoding: "estimate-1" }); await store.close();`,
  },
};

/** Prints the sizes of the modules and of what pages load; ends the process where one is over its limit. */
export async function size() {
  await build();
  const plain = join(root, "target", "size");
  await whenStale("size", plain, () => bind("core", plain));
  gate("The core without counting", weightOf(plain, "leftoff"), LIMITS_KIB.plain);
  gate("The core with counting", weightOf(join(root, "pkg"), "leftoff"), LIMITS_KIB.counting);
  gate("What builds contexts without a store", weightOf(join(root, "pkg"), "context"), LIMITS_KIB.context);
  const page = readdirSync(join(root, VIEWER)).map((name) => gzipSize(readFileSync(join(root, VIEWER, name))));
  gate(
    "The viewer's page beside the core",
    page.reduce((sum, one) => sum + one),
    VIEWER_LIMIT,
  );
  for (const [what, { script, limit }] of Object.entries(PAGES))
    gate(`A page that ${what}`, await loadedBy(script), limit);
}

/** The size of bytes once compressed. @param {Uint8Array} bytes */
export function gzipSize(bytes) {
  return gzipSync(bytes, { level: 9 }).length;
}

/** The weight of a module with its binding. @param {string} folder @param {string} name */
function weightOf(folder, name) {
  return [`${name}.wasm`, `${name}.js`].reduce((sum, file) => sum + gzipSize(readFileSync(join(folder, file))), 0);
}

/**
 * Measures what a page loads until its script has ended: bundles it into files that note that they were loaded, and
 * runs it.
 * @param {string} script
 */
export async function loadedBy(script) {
  const outdir = mkdtempSync(join(tmpdir(), "leftoff-page-"));
  try {
    const { outputFiles } = await esbuild({
      stdin: { contents: script, resolveDir: root, sourcefile: "page.js" },
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "browser",
      outdir,
      write: false,
      logLevel: "error",
      alias: { leftoff: join(root, "pkg", "web", "index.js") },
    });
    const weights = new Map(outputFiles.map(({ path, contents }) => [basename(path), gzipSize(contents)]));
    /** @type {string[]} */
    const loaded = [];
    Object.assign(globalThis, { loadedByPage: loaded });
    for (const { path, text } of outputFiles)
      writeFileSync(path, `globalThis.loadedByPage.push(${JSON.stringify(basename(path))});\n${text}`);
    writeFileSync(join(outdir, "package.json"), '{ "type": "module" }');
    await import(pathToFileURL(join(outdir, "stdin.js")).href);
    return loaded.reduce((sum, name) => sum + (weights.get(name) ?? 0), 0);
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** @param {string} what @param {number} bytes @param {number} limit */
function gate(what, bytes, limit) {
  const kilobytes = bytes / 1000;
  const room = limit - kilobytes;
  const sentence = `${what} weighs ${kilobytes.toFixed(1)} KB compressed`;
  if (room < 0) fail(`${sentence}; that is ${(-room).toFixed(1)} KB over the limit of ${limit} KB`);
  console.log(`  ${sentence}; ${room.toFixed(1)} KB are left to the limit of ${limit} KB.`);
}
