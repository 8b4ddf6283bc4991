// @ts-check
// What becomes of a session, as it is typed.
// Tries: js/cli/lifecycle.js, js/cli/settings.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { git, inFolder, put } from "./git-tools.js";
import { nodePath } from "./node-path.js";

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));

/** @typedef {(args: string[], input?: string) => { status: number | null, stdout: string, stderr: string }} Leftoff */

/** @param {string} law @param {(leftoff: Leftoff, project: string) => Promise<void> | void} body */
function check(law, body) {
  test(law, () =>
    inFolder(async (folder) => {
      const project = join(folder, "project");
      fs.mkdirSync(project);
      await body(
        (args, input = "") => spawnSync(nodePath, [entry, ...args], { cwd: project, input, encoding: "utf8" }),
        project,
      );
    }),
  );
}

/** What a command answers as JSON. @param {ReturnType<Leftoff>} ran */
function value({ status, stdout, stderr }) {
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

check(
  "a session is begun, gets messages, is stopped with words and committed with its conversation",
  (leftoff, project) => {
    git(project, "init", "--quiet");
    put(join(project, "other"), "staged");
    git(project, "add", "other");
    const { id, path } = value(
      leftoff(["new", "--type", "brainstorm", "--title", "API Design Discussion", "--here", "--json"]),
    );
    put(join(path, "..", "brainstorm.md"), "# API\n");
    const messages = '{"role":"user","content":"REST?"}\n\n{"role":"assistant","content":"REST."}\n';
    assert.equal(leftoff(["append", id], messages).stdout.split("\n").length, 3);
    const { status, stdout } = leftoff(["stop", id.slice(0, 13), "--summary", "leaning toward REST", "--commit"]);
    assert.equal(status, 0);
    for (const words of [
      'Conversation "API Design Discussion" has been paused.',
      "leftoff resume",
      "Summary: leaning toward REST",
      "session saved",
    ])
      assert.ok(stdout.includes(words), words);
    assert.match(
      git(project, "show", "--name-only", "--format=%s"),
      /conversation and session saved[\s\S]*brainstorm\.md/,
    );
    assert.equal(git(project, "diff", "--cached", "--name-only").trim(), "other");
    leftoff(["append", id], '{"role":"user","content":"more"}\n');
    assert.match(leftoff(["stop", id, "--commit"]).stdout, /session update/);
    assert.match(leftoff(["commit", id]).stdout, /nothing to commit/);
  },
);

check("each verb says what it did, and list shows it", (leftoff) => {
  const { id } = value(leftoff(["new", "--json"]));
  leftoff(["append", "last"], '{"role":"user","content":"said"}\n');
  const [message] = value(leftoff(["show", id, "--json"]));
  for (const [args, expected] of /** @type {const} */ ([
    [["rename", id, "Another"], { title: "Another" }],
    [["pin", id, message.id], { status: "active" }],
    [["unpin", id, message.id], { status: "active" }],
    [["complete", id, "--summary", "done"], { status: "completed" }],
    [["archive", id], { archivedAt: /\d{4}/ }],
    [["unarchive", id], { archivedAt: null }],
  ])) {
    const answer = value(leftoff([...args, "--json"]));
    for (const [field, wanted] of Object.entries(expected)) {
      if (wanted instanceof RegExp) assert.match(answer[field], wanted, args[0]);
      else assert.equal(answer[field], wanted, args[0]);
    }
  }
  const fork = value(leftoff(["fork", id, "--at", message.id, "--json"]));
  const listed = value(leftoff(["list", "--json"]));
  assert.deepEqual(
    listed.map((/** @type {any} */ one) => [one.id, one.title, one.status]).sort(),
    [
      [id, "Another", "completed"],
      [fork.id, "Another (fork)", "active"],
    ].sort(),
  );
  assert.deepEqual(Object.keys(listed[0]), [
    "id",
    "project",
    "type",
    "title",
    "status",
    "lastActive",
    "summary",
    "messageCount",
    "placement",
    "path",
  ]);
  assert.equal(value(leftoff(["list", "--status", "completed", "--json"])).length, 1);
  assert.ok(leftoff(["export", id, "--to", "markdown"]).stdout.startsWith("# Another\n"));
  assert.equal(value(leftoff(["export", id, "--to", "json", "--json"])).includes('"said"'), true);
});

check("what an answer names does what it says, and a refusal says what was done before it", (leftoff) => {
  const { id } = value(leftoff(["new", "--json"]));
  leftoff(["append", id], '{"role":"user","content":"said"}\n');
  const { id: other } = value(leftoff(["new", "--json"]));
  leftoff(["append", other], '{"role":"user","content":"beside"}\n');
  const [, named = ""] = /'leftoff (unarchive .*?)'/.exec(leftoff(["archive", id]).stdout) ?? [];
  assert.match(leftoff(["unarchive", other]).stdout, /was not archived/);
  assert.match(leftoff(named.split(" ")).stdout, /is no longer archived/);
  assert.deepEqual(
    value(leftoff(["list", "--json"]))
      .map((/** @type {any} */ one) => one.id)
      .sort(),
    [id, other].sort(),
  );
  const { status, stderr } = leftoff(["stop", id, "--commit"]);
  assert.deepEqual(
    [status, /is paused; it was not committed/.test(stderr), value(leftoff(["info", id, "--json"])).status],
    [1, true, "paused"],
  );
});

check("delete puts a session in the trash; for good only after a question", (leftoff) => {
  const { id, path } = value(leftoff(["new", "--json"]));
  assert.equal(leftoff(["delete"]).status, 2);
  const refused = leftoff(["delete", id, "--purge"]);
  assert.deepEqual([refused.status, fs.existsSync(path)], [2, true]);
  const { trash } = value(leftoff(["delete", id, "--json"]));
  assert.deepEqual([fs.existsSync(path), fs.existsSync(join(trash, "events.jsonl"))], [false, true]);
  const { id: other, path: its } = value(leftoff(["new", "--json"]));
  assert.equal(value(leftoff(["delete", other, "--purge", "--yes", "--json"])).trash, null);
  assert.equal(fs.existsSync(its), false);
});

check("wrong input is refused with a sentence, a code and a status", (leftoff, project) => {
  const { id } = value(leftoff(["new", "--json"]));
  put(join(project, "there"), "mine");
  for (const [args, status, code, input] of /** @type {const} */ ([
    [["rename", id], 2, "usage"],
    [["list", "--status", "dead"], 2, "usage"],
    [["pin", id, "nobody"], 1, "not_found"],
    [["fork", id], 1, "not_found"],
    [["stop", "nobody"], 1, "not_found"],
    [["commit", id], 1, "not_in_workspace"],
    [["export", id, "--to", "pdf"], 2, "usage"],
    [["export", id, "--to", "json", "--output", "there"], 1, "already_exists"],
    [["new", "--here", "--name", "../out"], 1, "invalid_id"],
    [["relocate", "nowhere", "nowhere"], 1, "not_found"],
    [["append", id], 2, "usage", "not json\n"],
    [["append", id], 1, "invalid_request", '{"content":"no role"}\n'],
  ])) {
    const ran = leftoff([...args], input);
    assert.deepEqual([ran.status, ran.stdout], [status, ""], args.join(" "));
    assert.match(ran.stderr, new RegExp(`^leftoff: [^\\n]+ \\(${code}\\)\\n$`), args.join(" "));
  }
  assert.deepEqual(fs.readFileSync(join(project, "there"), "utf8"), "mine");
});

check("nothing is recorded where nobody wants it", (leftoff) => {
  assert.deepEqual(value(leftoff(["new", "--no-record", "--json"])), { id: null, path: null });
  assert.deepEqual(value(leftoff(["list", "--all", "--json"])), []);
});

check(
  "what made a conversation possible is typed when it begins and when it stops, and a change of it is told when it goes on",
  (leftoff, project) => {
    const prompt = join(project, "review.md");
    put(prompt, "Review the change.\n");
    const { id, path } = value(
      leftoff([
        "new",
        "--command",
        "/review",
        "--prompt",
        prompt,
        "--model",
        "gpt-5",
        "--tools",
        "Read, Bash",
        "--json",
      ]),
    );
    const hash = `sha256:${createHash("sha256").update("Review the change.\n").digest("hex")}`;
    const stored = () => JSON.parse(fs.readFileSync(join(path, "metadata.json"), "utf8"));
    assert.deepEqual(stored().agent, {
      command: "/review",
      systemPromptHash: hash,
      promptFile: prompt,
      tools: ["Read", "Bash"],
    });
    assert.equal(stored().provider.model, "gpt-5");
    leftoff(["append", id], '{"role":"user","content":"Look at it."}\n');
    // What is not typed stays.
    assert.equal(leftoff(["stop", id, "--tools", "Read"]).status, 0);
    assert.deepEqual(stored().agent, {
      command: "/review",
      systemPromptHash: hash,
      promptFile: prompt,
      tools: ["Read"],
    });
    assert.equal(stored().provider.model, "gpt-5");
    const { status, stderr } = leftoff(["new", "--prompt", join(project, "nowhere.md")]);
    assert.deepEqual([status, /not_found|nowhere\.md/.test(stderr)], [1, true]);
  },
);

/** Sessions of which nothing was heard for so many days. @param {Leftoff} leftoff @param {number[]} days */
function begunAgo(leftoff, days) {
  return days.map((count) => {
    const timestamp = new Date(Date.now() - count * 86_400_000).toISOString();
    const { id } = value(leftoff(["new", "--title", `${count} days`, "--json"]));
    leftoff(["append", id], `${JSON.stringify({ role: "user", content: `${count} days ago`, timestamp })}\n`);
    leftoff(["stop", id, "--summary", "so far"]);
    return id;
  });
}

check(
  "what a file of settings says is too old or too much is archived by the next list, and told; what is taken back stays",
  (leftoff) => {
    const [old, ...young] = begunAgo(leftoff, [60, 3, 2]);
    const listed = (/** @type {string[]} */ ...args) =>
      value(leftoff(["list", "--json", ...args]))
        .map((/** @type {{ id: string }} */ { id }) => id)
        .sort();
    assert.deepEqual(listed(), [old, ...young].sort(), "no file says anything");
    leftoff(["settings", "autoPersist.autoArchiveAfterDays", "30"]);
    leftoff(["settings", "autoPersist.enabled", "false"]);
    assert.equal(listed().length, 3, "it is turned off");
    leftoff(["settings", "autoPersist.enabled", "true"]);
    const first = leftoff(["list"]);
    assert.match(
      first.stderr,
      /settings\.json: sessions of this project that are archived now, by \{"autoArchiveAfterDays":30\}: 1\n/,
    );
    assert.deepEqual([first.stdout.includes(old), leftoff(["list"]).stderr], [false, ""], "told once");
    assert.deepEqual([listed(), listed("--status", "archived")], [young.sort(), [old]]);
    leftoff(["unarchive", old]);
    assert.equal(listed().length, 3, "somebody wants to see it");
    const [late, current] = begunAgo(leftoff, [40, 1]);
    assert.deepEqual(listed(), [old, ...young, current].sort(), "one that came later on the same day");
    leftoff(["settings", "autoPersist.autoArchiveAfterDays", "2.5"]);
    assert.deepEqual(listed(), [old, young[1], current].sort(), "another number counts at once");
    assert.deepEqual(listed("--status", "archived"), [late, young[0]].sort());
    leftoff(["append", old], '{"role":"user","content":"again"}\n');
    assert.ok(listed().includes(old));
  },
);

check(
  "settings say what is in force, and their file its version; one of a newer version is read and never written",
  (leftoff) => {
    const inForce = () =>
      Object.fromEntries(
        value(leftoff(["settings", "--json"])).map((/** @type {any} */ { key, inForce }) => [
          key.split(".").at(-1),
          inForce,
        ]),
      );
    const text = () => leftoff(["settings"]).stdout;
    assert.deepEqual(
      [inForce().autoArchiveAfterDays, inForce().maxSessionsPerProject, inForce().idleMinutes],
      [false, false, true],
    );
    assert.match(text(), /autoArchiveAfterDays +30 +default \(not in force until set\)\n/);
    leftoff(["settings", "autoPersist.autoArchiveAfterDays", "30"]);
    assert.deepEqual([inForce().autoArchiveAfterDays, inForce().maxSessionsPerProject], [true, false]);
    leftoff(["settings", "autoPersist.enabled", "false"]);
    assert.match(
      text(),
      /autoArchiveAfterDays +30 +.*settings\.json \(not in force: autoPersist\.enabled is false\)\n/,
    );
    const { path } = value(leftoff(["settings", "autoPersist.enabled", "--json"]));
    assert.equal(JSON.parse(fs.readFileSync(path, "utf8")).version, 1);
    const newer = '{ "version": 2, "redact": "replace", "later": 1 }';
    fs.writeFileSync(path, newer);
    const read = leftoff(["settings", "redact", "--json"]);
    assert.equal(JSON.parse(read.stdout).value, "replace");
    assert.match(read.stderr, /is of version 2, and this leftoff knows 1/);
    const write = leftoff(["settings", "agent", "codex"]);
    assert.deepEqual([write.status, fs.readFileSync(path, "utf8")], [1, newer]);
    assert.match(write.stderr, /is of version 2/);
  },
);

check("of words and last, what resumes is one that the filters leave", (leftoff) => {
  const begun = (/** @type {string} */ type, /** @type {string} */ title) => {
    const { id } = value(leftoff(["new", "--type", type, "--title", title, "--json"]));
    value(leftoff(["append", id, "--json"], `{"role":"user","content":"What of ${title}?"}\n`));
    return id;
  };
  const [review] = [begun("review", "weather in Rome"), begun("chat", "weather in Oslo")];
  const resumed = (/** @type {string[]} */ ...args) => leftoff(["resume", ...args, "--print"]);
  for (const words of ["last", "weather", review])
    assert.match(resumed(words, "--type", "review").stdout, /What of weather in Rome/, words);
  assert.match(resumed("last").stdout, /What of weather in Oslo/);
  value(leftoff(["archive", review, "--json"]));
  for (const words of ["weather", "Rome?", review])
    assert.match(resumed(words, "--status", "archived").stdout, /What of weather in Rome/, words);
  assert.match(resumed(review, "--type", "review").stdout, /What of weather in Rome/);
  for (const [args, status, code] of /** @type {const} */ ([
    [["last", "--type", "plan"], 1, "not_found"],
    [["weather", "--type", "plan"], 1, "not_found"],
    [["weather", "--since", "soon"], 2, "usage"],
    [[review, "--type", "chat"], 2, "usage"],
    [["--list", "weather"], 2, "usage"],
  ])) {
    const { status: ended, stderr } = leftoff(["resume", ...args, "--json"]);
    assert.deepEqual([ended, JSON.parse(stderr || "{}").error?.code ?? stderr], [status, code], args.join(" "));
  }
});

check("a search by file, command or error refuses what goes with words alone", (leftoff) => {
  for (const more of [["--role", "tool"], ["--regex"]]) {
    const { status, stderr } = leftoff(["search", "--command", "ls", ...more]);
    assert.equal(status, 2, more[0]);
    assert.match(stderr, /--role and --regex go with WORDS/);
  }
});

check("a project whose folder is gone is asked for by its path", (leftoff, project) => {
  const gone = join(project, "gone");
  fs.mkdirSync(gone);
  const { id } = value(
    spawnSync(nodePath, [entry, "new", "--title", "The falcon", "--json"], { cwd: gone, encoding: "utf8" }),
  );
  value(leftoff(["append", id, "--json"], '{"role":"user","content":"The falcon."}\n'));
  const path = fs.realpathSync(gone);
  fs.rmSync(gone, { recursive: true });
  fs.symlinkSync(project, join(project, "link"));
  for (const named of [path, join("link", "gone")]) {
    const ids = value(leftoff(["list", "--project", named, "--json"])).map(
      (/** @type {{ id: string }} */ one) => one.id,
    );
    assert.deepEqual(ids, [id], named);
  }
});
