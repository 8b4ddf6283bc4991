// @ts-check
// Tests the packed tarball: installs it in an empty project and loads it as its users do.

import assert from "node:assert/strict";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { filesOf, notLoaded } from "./complete.mjs";
import { forJsr } from "./jsr.mjs";
import { ask, fail, root, run, step, watch } from "./run.mjs";
import { BUNDLERS } from "../tests/pack/bundlers.mjs";
import { talkTwice } from "../tests/pack/chat.mjs";
import { talkedTo } from "../tests/pack/server.mjs";
import { bun, fileOf, install, tool } from "../tests/pack/tools.mjs";

const { bin, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const project = mkdtempSync(join(tmpdir(), "leftoff-pack-"));
process.on("exit", () => rmSync(project, { recursive: true, force: true }));
/** The package's exports that are no program text. */
const BINARY_EXPORTS = Object.keys(exports).filter((name) => /\.(?:wasm|planes|json|css)$/.test(name));
/** The files for a user's compiler. */
const TYPES = ["types.ts", "types.mts", "types.cts"];
/** Exports that only a browser's worker can use: no CommonJS. */
const WORKERS = ["./storage/opfs"];
/** Exports for what itself is a module: no CommonJS. */
const MODULES = ["./ai", "./claude", "./html", "./langchain", "./openai", "./opencode", "./server", "./viewer"];
let passed = 0;
let tarball = "";
/** Deno's permissions for the tests, and no more. */
const DENO = ["--allow-read", "--allow-write", "--no-prompt", "--cached-only", "--node-modules-dir=manual"];
const denoEnv = { DENO_DIR: join(project, "deno"), DENO_NO_UPDATE_CHECK: "1" };

/** @param {string} name @param {() => void | Promise<void>} work */
async function check(name, work) {
  await step(name, work);
  passed += 1;
}

/**
 * The tarball's ceilings: they may only fall, but for what is new. Every module is in it twice, as a file and as text
 * for bundlers. It rose by 0.25 MB with the server for MCP clients, whose SDK is bundled, and with OpenCode's plugin;
 * by 25 files and 0.1 MB with the adapters for the agent SDKs, the AI SDK and LangChain, their types, pages and
 * examples, and with what `doctor` tells of agents; by 2 files with the examples of a plugin for OpenCode and of a host
 * of the Model Context Protocol; by 6 files with the page of the viewer and what else was new; by 7 and 0.05 MB
 * with the viewer for other pages: its script, what that shares with the page, two files of types, its reference, and an
 * example's two; by 6 and 0.21 MB with HTML files of sessions: what each has in it, which is a page with all that it
 * loads in one script, the module and the command that write it, two files of types, and its reference; by 1 with the
 * worker of the viewer's page, which alone may write to the files that a browser keeps; by 12 and 0.09 MB with
 * what pages and workers load where secrets are looked for, or zstd files are read; by 0.16 MB with the reader
 * of VS Code's chats; and by 0.035 MB with the list of what an import would take in.
 */
const MAX_FILES = 312;
const MAX_PACKAGE_BYTES = 12_745_000;

/**
 * Checks that no file is missing: npm silently leaves out what an ignore file names, and what is not there.
 * @param {string} list npm's own, as JSON
 */
function nothingIsMissing(list) {
  /** @type {{ filename: string, size: number, files: { path: string }[] }[]} */
  const [tarball] = Object.values(JSON.parse(list));
  if (!tarball) fail(`expected npm to say what it packed, but found ${list} instead`);
  // Made when it is packed, and in no folder of git's.
  const made = [
    "pkg/LICENSES.txt",
    "pkg/sbom.cdx.json",
    "docs/api/leftoff.md",
    "docs/api/ai.md",
    "docs/api/claude.md",
    "docs/api/compat.md",
    "docs/api/html.md",
    "docs/api/langchain.md",
    "docs/api/openai.md",
    "docs/api/opencode.md",
    "docs/api/opfs.md",
    "docs/api/viewer.md",
  ];
  for (const file of [...filesOf({ bin, exports }), ...made]) {
    if (!tarball.files.some(({ path }) => path === file)) fail(`expected ${file} in the tarball, but found none`);
  }
  const inside = tarball.files.find(({ path }) => /^(?:js|src|scripts|tests)\//.test(path));
  if (inside) fail(`expected nothing in the tarball that no program can load, but found ${inside.path}`);
  const bulky = tarball.files.find(({ path }) => /\.map$|^docs\/.*\.html$/.test(path));
  if (bulky) fail(`expected no source map and no page of rustdoc in the tarball, but found ${bulky.path}`);
  if (tarball.files.length > MAX_FILES)
    fail(`expected at most ${MAX_FILES} files in the tarball, but found ${tarball.files.length}`);
  if (tarball.size > MAX_PACKAGE_BYTES)
    fail(`expected a tarball of at most ${MAX_PACKAGE_BYTES} bytes, but found ${tarball.size}`);
  console.log(`  ${tarball.files.length} files, ${(tarball.size / 1e6).toFixed(1)} MB packed`);
  return tarball.filename;
}

/** @param {string} name @param {string} loading how the package is loaded, into `leftoff` */
function write(name, loading) {
  const home = JSON.stringify(join(project, `home-${name}`));
  const call = `smoke(leftoff, { project: ${JSON.stringify(project)}, home: ${home} });`;
  writeFileSync(join(project, name), `${loading}\n${call}\n`);
  return name;
}

/**
 * Tools that make one file, or several, that need no package beside them; and what starts the result.
 * @type {[string, () => unknown, string[]][]}
 */
const CARRIED_FILES = [
  [
    "a CommonJS bundle of esbuild",
    () =>
      run(
        "esbuild",
        [
          "bundle.mjs",
          "--bundle",
          "--platform=node",
          "--format=cjs",
          "--outfile=bundled/index.cjs",
          "--log-level=error",
        ],
        { cwd: project },
      ),
    ["node", "index.cjs"],
  ],
  [
    "a program compiled by Bun",
    () =>
      run(bun(), ["build", "--compile", "bundle.mjs", "--outfile", "bundled/program"], { cwd: project, quiet: true }),
    ["./program"],
  ],
  ...Object.entries(BUNDLERS).map(
    ([name, make]) =>
      /** @type {[string, () => unknown, string[]]} */ ([
        `a bundle of ${name}`,
        () => make({ folder: project, entry: "./bundle.mjs", out: join(project, "bundled"), forNode: true }),
        ["node", "index.mjs"],
      ]),
  ),
];

writeFileSync(join(project, "package.json"), '{ "name": "user", "private": true }');
copyFileSync(join(root, "tests", "pack", "smoke.mjs"), join(project, "smoke.mjs"));
const imported = 'import * as leftoff from "leftoff";\nimport { smoke } from "./smoke.mjs";';

await step("what it is tried with", install);
console.log("packed");
await check("npm pack and install", () => {
  tarball = nothingIsMissing(run("npm", ["pack", "--json", "--pack-destination", project], { quiet: true }));
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${tarball}`], { cwd: project, quiet: true });
});
await check("import in Node", () => void run("node", [write("import.mjs", imported)], { cwd: project }));
await check("require in Node", () => {
  const loading =
    'const leftoff = require("leftoff");\nconst smoke = (...args) => import("./smoke.mjs").then((found) => found.smoke(...args));';
  run("node", [write("require.cjs", loading)], { cwd: project });
});
await check("leftoff/compat, imported and required, with the classes of the main entry", () => {
  const used =
    "if (typeof compat.SessionManager !== 'function' || compat.LeftoffError !== leftoff.LeftoffError) throw new Error('expected the classes of leftoff/compat');\nnew compat.AutoPersist({ flush: async () => {}, close: async () => {} });";
  writeFileSync(
    join(project, "compat.mjs"),
    `import * as compat from "leftoff/compat";\nimport * as leftoff from "leftoff";\n${used}\n`,
  );
  writeFileSync(
    join(project, "compat.cjs"),
    `const compat = require("leftoff/compat");\nconst leftoff = require("leftoff");\n${used}\n`,
  );
  for (const name of ["compat.mjs", "compat.cjs"]) run("node", [name], { cwd: project });
});
await check("import and require in one bundle: one LeftoffError", () => {
  writeFileSync(join(project, "other.cjs"), 'module.exports = require("leftoff");\n');
  writeFileSync(
    join(project, "mixed.mjs"),
    'import { LeftoffError } from "leftoff";\nimport other from "./other.cjs";\nif (other.LeftoffError !== LeftoffError) throw new Error("expected one LeftoffError, but found two");\n',
  );
  for (const [format, file] of [
    ["cjs", "mixed-bundle.cjs"],
    ["esm", "mixed-bundle.mjs"],
  ]) {
    run(
      "esbuild",
      ["mixed.mjs", "--bundle", "--platform=node", `--format=${format}`, `--outfile=${file}`, "--log-level=error"],
      { cwd: project },
    );
    run("node", [String(file)], { cwd: project });
  }
});
await check("a package that lacks what it loads is not packed", async () => {
  const copy = join(project, "lacking");
  cpSync(join(project, "node_modules", "leftoff", "pkg"), join(copy, "pkg"), { recursive: true });
  const loads = ["pkg/index.mjs", "pkg/web/index.js"];
  assert.deepEqual(await notLoaded(copy, loads), []);
  rmSync(join(copy, "pkg", "inline", "agents.js"));
  assert.deepEqual(await notLoaded(copy, loads), [
    'Could not resolve "./inline/agents.js"',
    'Could not resolve "../inline/agents.js"',
  ]);
  rmSync(copy, { recursive: true });
});
await check("the component", () => {
  writeFileSync(
    join(project, "component.mjs"),
    `import { readFileSync } from "node:fs";\nprocess.stdout.write(readFileSync(new URL(import.meta.resolve("leftoff/leftoff.component.wasm"))).subarray(0, 8).toString("hex"));\n`,
  );
  const found = run("node", ["component.mjs"], { cwd: project, quiet: true });
  if (found !== "0061736d0d000100") throw new Error(`expected the first bytes of a component, but found ${found}`);
});
for (const [what, options] of Object.entries({
  "with the DOM library and nothing of Node's": { lib: ["es2022", "dom"], types: [] },
  "with nothing of a host's": { lib: ["es2022"], types: [] },
  "without the DOM library": { lib: ["es2022"], types: ["node"], typeRoots: [join(root, "node_modules", "@types")] },
})) {
  await check(`its types, imported and required, ${what}`, () => {
    for (const name of TYPES) copyFileSync(join(root, "tests", "pack", name), join(project, name));
    // Bundlers have no CommonJS of their own.
    for (const [how, files] of /** @type {[object, string[]][]} */ ([
      [{ module: "nodenext" }, TYPES],
      [{ module: "node16" }, TYPES],
      [{ module: "esnext", moduleResolution: "bundler" }, ["types.ts", "types.mts"]],
    ])) {
      const compilerOptions = { strict: true, noEmit: true, skipLibCheck: false, target: "es2022", ...how, ...options };
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
      run("tsc", ["--project", project], { quiet: true });
    }
  });
}
await check("import and require in one process: one core, one LeftoffError", () => {
  const one = `import * as leftoff from "leftoff";\nimport { createRequire } from "node:module";\nconst required = createRequire(import.meta.url)("leftoff");\nfor (const name of Object.keys(leftoff)) if (leftoff[name] !== required[name]) throw new Error(\`expected one \${name}, but found two\`);\n`;
  writeFileSync(join(project, "one.mjs"), one);
  run("node", ["one.mjs"], { cwd: project });
});
await check("a program on the command line, by import and by require", () => {
  for (const loading of ['import("leftoff")', 'Promise.resolve(require("leftoff"))']) {
    const found = run(
      "node",
      ["-e", `${loading}.then(({ countTokens }) => countTokens("hello world")).then(console.log)`],
      { cwd: project, quiet: true },
    );
    if (found !== "2\n") throw new Error(`expected 2, but found ${found}`);
  }
});
await check("import in Deno, which may read and write and no more", () => {
  run("deno", ["run", ...DENO, write("deno.mjs", imported)], { cwd: project, env: denoEnv });
});
await check(
  "a store of the user's own in Deno, which may look for him and start nothing; and none in whatever folder it is in",
  () => {
    const folder = join(project, "deno-alone");
    const home = join(folder, "home");
    mkdirSync(home, { recursive: true });
    const code =
      'import { openStore } from "leftoff";\nconst home = await openStore().then(async (store) => (await store.close(), store.home), ({ code }) => code);\nconsole.log(home);\n';
    writeFileSync(join(folder, "home.mjs"), code);
    const found = [[], ["--allow-env=LEFTOFF_HOME,HOME"], ["--allow-env", "--allow-sys"]].map((more) =>
      run("deno", ["run", ...DENO, ...more, "home.mjs"], {
        cwd: folder,
        env: { ...denoEnv, HOME: home, LEFTOFF_HOME: "" },
        quiet: true,
      }).trim(),
    );
    assert.deepEqual(
      [found, existsSync(join(folder, ".leftoff"))],
      [["not_found", join(home, ".leftoff"), join(home, ".leftoff")], false],
    );
  },
);
await check("import in Bun", () => void run(bun(), ["run", write("bun.mjs", imported)], { cwd: project }));
for (const [what, make, start] of CARRIED_FILES) {
  await check(`${what}, carried elsewhere, its sources gone`, async () => {
    write("bundle.mjs", imported);
    await make();
    const elsewhere = mkdtempSync(join(tmpdir(), "leftoff-bundle-"));
    process.on("exit", () => rmSync(elsewhere, { recursive: true, force: true }));
    renameSync(join(project, "bundled"), join(elsewhere, "bundled"));
    renameSync(join(project, "node_modules"), join(project, "away"));
    try {
      rmSync(join(project, "home-bundle.mjs"), { recursive: true, force: true });
      run(start[0] ?? "", start.slice(1), { cwd: join(elsewhere, "bundled") });
    } finally {
      renameSync(join(project, "away"), join(project, "node_modules"));
    }
  });
}
for (const version of ["22", "24"]) {
  const node = fileOf(`node${version}`, "bin", "node");
  if (!node) console.log(`  skipped: npm has no Node ${version} for this machine.`);
  else
    await check(`import and require in Node ${version}`, () => {
      for (const name of ["import.mjs", "require.cjs"]) {
        rmSync(join(project, `home-${name}`), { recursive: true, force: true });
        run(node, [name], { cwd: project });
      }
    });
}
await check("examples/import.mjs, in Deno", () => {
  copyFileSync(join(root, "examples", "import.mjs"), join(project, "import-example.mjs"));
  copyFileSync(
    join(root, "tests", "fixtures", "claude-code", "agent-sessions", "small.jsonl"),
    join(project, "transcript.jsonl"),
  );
  const said = run("deno", ["run", ...DENO, "import-example.mjs", "transcript.jsonl", "imported"], {
    cwd: project,
    env: denoEnv,
    quiet: true,
  });
  if (!/^(?:claude-code: [1-9]\d* messages in [1-9]\d* tokens\n)+$/.test(said))
    throw new Error(`expected a context of the transcript, but found ${said}`);
});
for (const name of ["server.mjs", "express.mjs"]) {
  await check(`examples/${name}`, async () => {
    copyFileSync(join(root, "examples", name), join(project, name));
    const express = join(project, "node_modules", "express");
    if (!existsSync(express)) symlinkSync(fileOf("express") ?? fail("expected Express, but found none"), express);
    await talkedTo(project, name);
  });
}
await check("examples/openai-agents.mjs, which goes on with what it was told", () => {
  const name = "openai-agents.mjs";
  copyFileSync(join(root, "examples", name), join(project, name));
  mkdirSync(join(project, "node_modules", "@openai"), { recursive: true });
  const scope = join("node_modules", "@openai");
  symlinkSync(join(root, scope, "agents-core"), join(project, scope, "agents"));
  const say = (/** @type {string} */ text) =>
    run("node", [name, "openai-store", text], { cwd: project, env: { OPENAI_API_KEY: "" }, quiet: true }).trim();
  const said = [say("Hello"), say("Again")];
  if (said.join("\n") !== "You said: Hello\nYou said: Hello, Again")
    throw new Error(`expected what was said before to be there, but found ${said.join(", then ")}`);
});
await check("examples/ai-sdk.mjs", () => {
  copyFileSync(join(root, "examples", "ai-sdk.mjs"), join(project, "ai-sdk.mjs"));
  symlinkSync(join(root, "node_modules", "ai-current"), join(project, "node_modules", "ai"));
  talkTwice(project);
});
await check("examples/extension.mjs, as one file in an editor", () => {
  copyFileSync(join(root, "examples", "extension.mjs"), join(project, "extension.mjs"));
  for (const name of ["editor.cjs", "said.mjs"]) copyFileSync(join(root, "tests", "pack", name), join(project, name));
  run(
    "esbuild",
    [
      "extension.mjs",
      "--bundle",
      "--platform=node",
      "--format=cjs",
      "--external:vscode",
      "--outfile=extension/extension.cjs",
      "--log-level=error",
    ],
    { cwd: project },
  );
  const storage = join(project, "editor-storage");
  run("node", ["said.mjs", storage, project], { cwd: project });
  const found = run("node", ["editor.cjs", storage, project], { cwd: project, quiet: true });
  if (!found.includes("Where were we?")) throw new Error(`expected the conversation, but found ${found}`);
});
for (const [name, program] of [
  ["Node", "node"],
  ["Bun", bun()],
])
  await check(`the plugin for OpenCode, in ${name}`, () => {
    copyFileSync(join(root, "tests", "pack", "plugin.mjs"), join(project, "plugin.mjs"));
    run(program, ["plugin.mjs", join(project, `home-plugin-${name}`), project], { cwd: project });
  });
for (const [name, program] of [
  ["Node", "node"],
  ["Bun", bun()],
])
  await check(`examples/opencode-plugin.mjs, in ${name}, with what stands in for OpenCode`, () => {
    copyFileSync(join(root, "examples", "opencode-plugin.mjs"), join(project, "opencode-plugin.mjs"));
    copyFileSync(join(root, "tests", "pack", "own-plugin.mjs"), join(project, "own-plugin.mjs"));
    const env = { LEFTOFF_HOME: join(project, `home-own-plugin-${name}`) };
    run(program, ["own-plugin.mjs", join(project, "opencode-plugin.mjs"), project], { cwd: project, env });
  });
await check("examples/mcp-host.mjs, with the protocol's own client", () => {
  copyFileSync(join(root, "examples", "mcp-host.mjs"), join(project, "mcp-host.mjs"));
  const name = join("node_modules", "@modelcontextprotocol");
  symlinkSync(join(root, name), join(project, name));
  const home = join(project, "home-mcp");
  const env = { LEFTOFF_HOME: home, npm_config_offline: "true" };
  run("node", ["said.mjs", home, project], { cwd: project });
  const shown = run("node", ["mcp-host.mjs", "Why do we pin croniter?"], { cwd: project, env, quiet: true });
  assert.match(shown, /^recall: Quotes [^]*drops Python 3\.8[^]*\[RECALLED\][^]*drops Python 3\.8/m);
});
await check("examples/claude-agent.mjs, with what stands in for the SDK", () => {
  const sdk = join(project, "node_modules", "@anthropic-ai", "claude-agent-sdk");
  mkdirSync(sdk, { recursive: true });
  writeFileSync(join(sdk, "package.json"), '{ "type": "module", "exports": "./claude-sdk.mjs" }');
  copyFileSync(join(root, "tests", "pack", "claude-sdk.mjs"), join(sdk, "claude-sdk.mjs"));
  copyFileSync(join(root, "examples", "claude-agent.mjs"), join(project, "claude-agent.mjs"));
  const env = { LEFTOFF_HOME: join(project, "home-claude") };
  const ask = (/** @type {string[]} */ ...args) => run("node", args, { cwd: project, env, quiet: true });
  const [, id = ""] = /^After 0 prompts: done\.\n\nsession (\S+)\n$/.exec(ask("claude-agent.mjs", "Rename it.")) ?? [];
  assert.match(ask("claude-agent.mjs", "And its tests?", id), /^After 1 prompts: done\./);
  const shown = ask(join("node_modules", "leftoff", bin.leftoff), "search", "tests");
  assert.match(shown, /And its tests\?/);
});
await check("what publint says of it", async () => {
  const { publint } = await tool("publint");
  const { formatMessage } = await tool("publint/utils");
  const { messages, pkg } = await publint({
    pkgDir: join(project, "node_modules", "leftoff"),
    strict: true,
    pack: false,
  });
  const said = messages.map((/** @type {unknown} */ one) => formatMessage(one, pkg, { color: false }));
  if (said.length > 0) throw new Error(said.join("\n"));
});
await check("what Are the types wrong? says of it", () => {
  // Of node10, which has no exports, and where the others are files of bytes.
  run(
    "node",
    [
      fileOf("@arethetypeswrong", "cli", "dist", "index.js") ?? "",
      join(project, tarball),
      "--profile",
      "node16",
      "--no-color",
      "--format",
      "ascii",
      "--exclude-entrypoints",
      ...BINARY_EXPORTS,
      ...WORKERS,
      ...MODULES,
    ],
    { cwd: project, quiet: true },
  );
});
await check("published from a repository, it says from which", () => {
  const [, step = ""] =
    readFileSync(join(root, ".github", "workflows", "release.yml"), "utf8").match(
      /says where it is from\n +run: \|\n((?: {10}.*\n)+)/,
    ) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "leftoff-published-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  copyFileSync(join(root, "package.json"), join(folder, "package.json"));
  run("sh", ["-euc", step], {
    cwd: folder,
    env: { GITHUB_SERVER_URL: "https://git.test", GITHUB_REPOSITORY: "some/one" },
    quiet: true,
  });
  const { repository, homepage, bugs } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  assert.deepEqual(
    { repository, homepage, bugs },
    {
      repository: { type: "git", url: "git+https://git.test/some/one.git" },
      homepage: "https://git.test/some/one#readme",
      bugs: { url: "https://git.test/some/one/issues" },
    },
  );
});
await check("what JSR says of it, types and all", () => {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-jsr-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  forJsr(folder, "Leftoff");
  run("deno", ["publish", "--dry-run", "--allow-dirty"], { cwd: folder, env: denoEnv, quiet: true });
});
await check("what cargo says of the crate, which builds from what is packed of it", async () => {
  // Cargo refuses uncommitted files; a trial before committing packs what is there.
  const changed = ask("git", ["status", "--porcelain"]) ? ["--allow-dirty"] : [];
  const packed = (/** @type {string[]} */ how) =>
    watch("cargo", [...how, "--locked", "--package", "leftoff", "--all-features", "--color", "never", ...changed], {
      quiet: true,
    });
  let said = await packed(["publish", "--dry-run"]);
  // Where a mirror stands for crates.io, nothing is published; packing and building is all of it but for the address.
  if (/^error: crates-io is replaced with/m.test(said.output)) said = await packed(["package"]);
  // Cargo has no option to refuse warnings of its own; that a trial uploads nothing is one.
  const warnings = said.output
    .split("\n")
    .filter((line) => /^warning\b/.test(line) && line !== "warning: aborting upload due to dry run");
  if (!said.ok || warnings.length > 0)
    throw new Error(`expected a crate that is packed without a warning, but found ${said.output}`);
});
await check("each link in its documents leads to a file of it", () => {
  const at = join(project, "node_modules", "leftoff");
  const documents = [
    "README.md",
    "CHANGELOG.md",
    "llms.txt",
    ...readdirSync(join(at, "docs"))
      .filter((name) => name.endsWith(".md"))
      .map((name) => join("docs", name)),
  ];
  const dead = documents.flatMap((name) => {
    const links = Array.from(
      readFileSync(join(at, name), "utf8").matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g),
      ([, link = ""]) => link,
    );
    return links.filter((link) => !existsSync(join(at, dirname(name), link))).map((link) => `${link} in ${name}`);
  });
  if (dead.length > 0) throw new Error(`expected files of the package, but found none for ${dead.join(", ")}`);
});
await check("README's ten lines and its command, in an empty home", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const block = (/** @type {string} */ language, /** @type {number} */ place) =>
    [...readme.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))][place]?.[1] ??
    fail(`expected a block of ${language} in README.md, but found none`);
  const home = join(project, "stranger");
  const env = { HOME: home, LEFTOFF_HOME: join(home, ".leftoff"), NO_COLOR: "1" };
  writeFileSync(join(project, "ten.mjs"), block("js", 0));
  const [, command = ""] = block("sh", 1).match(/^npx (.*)\n$/) ?? [];
  const printed = [
    run("node", ["ten.mjs"], { cwd: project, env, quiet: true }),
    run("npx", ["--offline", ...command.split(" ")], { cwd: project, env, quiet: true }),
  ];
  for (const [place, found] of printed.entries())
    if (found !== block("text", place)) throw new Error(`expected ${block("text", place)}, but found ${found}`);
});
await check("the command line", () => {
  const out = run(
    join(project, "node_modules", ".bin", "leftoff"),
    ["list", "--json", "--home", join(project, "home-import.mjs"), "--workspace", project],
    { cwd: project, quiet: true },
  );
  if (JSON.parse(out).length !== 1) throw new Error(`expected one session, but found ${out}`);
});
console.log(`${passed} passed, 0 failed`);
