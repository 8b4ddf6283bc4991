// @ts-check
// Makes the API reference, docs/api: JavaScript's from the declarations that ship, which goes into the package; with
// --rust also Rust's, by rustdoc without fonts and source (0.9 MB compressed), whose thousand pages do not ship. It is
// not kept in git. A program of our own: typedoc supports compilers up to 6, and the interface of the compiler used
// here is not stable. The declarations that it writes are regular enough to be parsed by their indentation.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { root, run, step } from "./run.mjs";

const api = join(root, "docs", "api");

/**
 * What each entry of the package gives beside what it exports itself, those of storages that another one exports left
 * out: what comes first, what it has of the other, and where its types are.
 */
const PAGES = {
  leftoff: {
    about: 'import { openStore } from "leftoff"',
    entry: "index",
    first: ["store/open-store", "store/store", "session/session", "session/appended", "store/outputs"],
    others: [""],
    types: [
      "types/store",
      "types/session",
      "types/context",
      "types/shapes",
      "types/agents",
      "types/outputs",
      "types/wasm",
      "types/errors",
      "storage/contract",
      "records",
    ],
  },
  compat: {
    about: 'import { SessionManager } from "leftoff/compat"',
    entry: "compat/index",
    first: ["compat/index"],
    others: ["store/open-store", "error"],
    types: ["types/compat"],
  },
  ai: {
    about: 'import { contextFor } from "leftoff/ai"',
    entry: "ai/index",
    first: ["ai/context", "ai/answer", "ai/chat"],
    others: [""],
    types: ["types/ai"],
  },
  claude: {
    about: 'import { sessionStore } from "leftoff/claude"',
    entry: "claude/index",
    first: ["claude/index"],
    others: [""],
    types: ["types/claude"],
  },
  html: {
    about: 'import { exportHtml } from "leftoff/html"',
    entry: "html/index",
    first: ["html/index"],
    others: [""],
    types: ["types/html"],
  },
  langchain: {
    about: 'import { LeftoffChatMessageHistory } from "leftoff/langchain"',
    entry: "langchain/index",
    first: ["langchain/index"],
    others: [""],
    types: ["types/langchain"],
  },
  openai: {
    about: 'import { session, contextFor } from "leftoff/openai"',
    entry: "openai/index",
    first: ["openai/index"],
    others: [""],
    types: ["types/openai"],
  },
  viewer: {
    about: 'import { openViewer } from "leftoff/viewer"',
    entry: "viewer/index",
    first: ["viewer/index"],
    others: [""],
    types: ["types/viewer"],
  },
  opencode: {
    about: 'import leftoff, { recorder } from "leftoff/opencode"',
    entry: "opencode/index",
    first: ["opencode/index"],
    others: [""],
    types: ["types/opencode"],
  },
  opfs: {
    about: 'import { OpfsStorage } from "leftoff/storage/opfs"',
    entry: "storage/opfs",
    first: [""],
    others: [""],
    types: [],
  },
};

/** The files that an entry exports from, and it. @param {string} entry */
const exportingFiles = (entry) =>
  Array.from(read(entry).matchAll(/^(?:export|import) \{[^}]*\} from "(\.[\w/.-]+)\.js"/gm), ([, file = ""]) =>
    posix.join(posix.dirname(entry), file),
  );

/** @typedef {{ name: string, kind: string, doc: string, code: string }} Declaration */

/**
 * What is declared at an indentation: its comment and its text.
 * @param {string} text
 * @param {string} indent
 * @param {RegExp} begins which line begins one; its groups are `kind` and `name`
 * @returns {Declaration[]}
 */
function declarations(text, indent, begins) {
  const lines = text.split("\n");
  /** @type {Declaration[]} */
  const all = [];
  for (let at = 0; at < lines.length; at += 1) {
    const found = begins.exec(lines[at] ?? "")?.groups;
    if (!found) continue;
    let last = at;
    // One that goes on ends where the indentation is its own again.
    while (!/[;}]\s*$/.test(lines[last] ?? "") || depth(lines.slice(at, last + 1).join("\n")) > 0) last += 1;
    const code = lines
      .slice(at, last + 1)
      .map((line) => line.replace(indent, ""))
      .join("\n");
    all.push({ name: found.name ?? "", kind: found.kind ?? "", doc: commentAbove(lines, at), code });
    at = last;
  }
  return all;
}

/** How many braces are open, those in comments left out. @param {string} code */
function depth(code) {
  const bare = code.replace(/\/\*[^]*?\*\/|"(?:[^"\\\n]|\\.)*"/g, "");
  return (bare.match(/[{(]/g) ?? []).length - (bare.match(/[})]/g) ?? []).length;
}

/** @param {string[]} lines @param {number} at */
function commentAbove(lines, at) {
  if (!lines[at - 1]?.trim().endsWith("*/")) return "";
  let first = at - 1;
  while (!lines[first]?.includes("/**")) first -= 1;
  return lines
    .slice(first, at)
    .join("\n")
    .replace(/^\s*\/\*\*|\*\/\s*$/g, "")
    .replace(/^ *\* ?/gm, "")
    .trim();
}

/**
 * A comment as Markdown: what it says, then what goes in, comes out and goes wrong, then the examples.
 * @param {string} doc
 */
function renderComment(doc) {
  const [text = "", ...tags] = doc.split(/(?:^|\s)@(?=(?:param|returns|throws|example|template|private|type)\b)/);
  const of = (/** @type {string} */ name) =>
    tags.filter((tag) => tag.startsWith(name)).map((tag) => tag.slice(name.length).trim());
  const rows = [
    ...of("param")
      .map(parseTag)
      .flatMap(({ name, text }) => (text ? `- \`${name}\`: ${text}` : [])),
    ...of("returns")
      .map(parseTag)
      .flatMap(({ name, text }) => (text ? `- gives ${`${name} ${text}`.trim()}` : [])),
    ...of("throws")
      .map(parseTag)
      .map(({ name, text }) => `- throws ${`${name} ${text}`.trim()}`),
  ];
  const examples = of("example").map((code) => `\`\`\`js\n${code}\n\`\`\``);
  return [text.trim(), rows.join("\n"), ...examples].filter(Boolean).join("\n\n");
}

/** A tag behind its name: `{type} name text`; the type stands in the signature. @param {string} tag */
function parseTag(tag) {
  let end = 0;
  if (tag.startsWith("{"))
    do end += 1;
    while (depth(tag.slice(0, end)) > 0 && end < tag.length);
  const [name = "", ...words] = tag.slice(end).trim().split(/\s+/);
  return { name: name.replace(/^\[|\]$/g, ""), text: words.join(" ") };
}

const code = (/** @type {string} */ text) => `\`\`\`ts\n${text}\n\`\`\``;
const read = (/** @type {string} */ file) => readFileSync(join(root, "types", `${file}.d.ts`), "utf8");
const EXPORT_PATTERN = /^export (?:declare )?(?<kind>function|class|interface|type|const) (?<name>\w+)/;
const MEMBER_PATTERN = /^ {4}(?:static |get |readonly )*(?<name>\w+|\[Symbol\.\w+\])[(<:?]/;

/** @param {Declaration} declared */
function chapter({ name, kind, doc, code: text }) {
  if (kind !== "class")
    return `### ${name}\n\n${renderComment(doc)}\n\n${code(text.replace(/^export (declare )?/, ""))}\n`;
  const members = declarations(text, "    ", MEMBER_PATTERN).filter((one) => one.name !== "private");
  const each = members.map((one) => `#### ${name}.${one.name}\n\n${code(one.code)}\n\n${renderComment(one.doc)}\n`);
  return `### ${name}\n\n${renderComment(doc)}\n\n${each.join("\n")}`;
}

/** The pages of the reference, each of an entry of the package. */
export const NAMES = /** @type {(keyof typeof PAGES)[]} */ (Object.keys(PAGES));

/** A page of the reference. @param {keyof typeof PAGES} name */
export function page(name) {
  const { about, entry, first, others, types } = PAGES[name];
  const front = [...new Set([...first, ...exportingFiles(entry), entry])].filter((file) => !others.includes(file));
  const calls = front
    .flatMap((file) => declarations(read(file), "", EXPORT_PATTERN))
    .filter(({ kind }) => kind === "function" || kind === "class" || kind === "const");
  const named = types
    .flatMap((file) => declarations(read(file), "", EXPORT_PATTERN))
    .filter(({ kind }) => kind === "interface" || kind === "type");
  const list = (/** @type {Declaration[]} */ some) =>
    some.map((one) => `[${one.name}](#${one.name.toLowerCase()})`).join(", ");
  const parts = Object.entries({ "Functions and classes": calls, Types: named }).filter(([, some]) => some.length > 0);
  const contents = parts.map(([title, some]) => `${title}: ${list(some)}.`).join("\n\n");
  const chapters = parts.map(([title, some]) => `## ${title}\n\n${some.map(chapter).join("\n")}`).join("\n");
  return `# ${name}\n\n\`${about}\`. Made from the types by \`npm run docs\`.\n\n${contents}\n\n${chapters}`;
}

/** The pages of the crate; a link that leads nowhere fails. Answers the folder that they are in. */
export function rustdoc() {
  const target = join(root, "target", "rustdoc");
  // Without the source, which is elsewhere. The compiler is a stable one.
  const env = {
    CARGO_TARGET_DIR: target,
    RUSTDOCFLAGS: "-D warnings -Zunstable-options --html-no-source",
    RUSTC_BOOTSTRAP: "1",
  };
  run("cargo", ["doc", "--no-deps", "--lib", "--package", "leftoff", "--features", "fs", "--quiet"], { env });
  return join(target, "doc");
}

/** Writes docs/api. @param {{ withRust: boolean }} options */
export async function docs({ withRust }) {
  rmSync(api, { recursive: true, force: true });
  mkdirSync(api, { recursive: true });
  await step("docs/api, JavaScript", () => {
    for (const name of NAMES) writeFileSync(join(api, `${name}.md`), page(name));
  });
  // Without fonts, which are most of what is left.
  if (withRust)
    await step("docs/api, Rust", () =>
      cpSync(rustdoc(), join(api, "rust"), { recursive: true, filter: (path) => !path.endsWith(".woff2") }),
    );
}

if (import.meta.main ?? process.argv[1] === import.meta.filename)
  await docs({ withRust: process.argv.includes("--rust") });
