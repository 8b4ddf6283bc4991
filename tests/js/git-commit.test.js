// @ts-check
// A conversation and its session are one commit, and nothing else is in it or lost by it.
// Tries: src/operation/git/commit.rs, src/operation/store/commit.rs, js/placement/git.js
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";

import { runGit } from "../../js/placement/git.js";
import { LeftoffError } from "../../js/index.js";
import {
  PLACE,
  commit,
  filesOf,
  git,
  gitFails,
  hook,
  inFolder,
  makeConversation,
  makeRepository,
  put,
  stateOf,
} from "./git-tools.js";

const ALL = [".session/blobs/aa", ".session/messages.jsonl", ".session/session.json", "brainstorm.md"];
const place = PLACE.replaceAll("\\", "/");

/**
 * A repository with a conversation that git does not know yet.
 * @param {(folder: string, top: string) => unknown} work
 */
const inConversation = (work) =>
  inFolder((folder) => {
    const top = makeRepository(join(folder, "top"));
    return work(makeConversation(top), top);
  });

/**
 * Refused with this code and these words, and everything as it was.
 * @param {{ folder: string, top: string, code: string, words?: RegExp }} expected
 */
async function expectRefusal({ folder, top, code, words = /git init/ }) {
  const before = stateOf(top);
  await assert.rejects(commit({ folder, title: "T" }), (error) => {
    assert.ok(error instanceof LeftoffError);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  });
  assert.deepEqual(stateOf(top), before);
}

test("conversation and session are one commit; what is staged or changed elsewhere stays as it is", () =>
  inConversation(async (folder, top) => {
    put(join(top, "other.txt"), "two\n");
    put(join(top, "staged.txt"), "staged\n");
    git(top, "add", "staged.txt");
    const { commit: hash, ...rest } = await commit({ folder, title: "API Design" });
    assert.deepEqual(rest, { message: "API Design: conversation and session saved", isSessionOnly: false, files: ALL });
    assert.equal(hash, git(top, "rev-parse", "HEAD").trim());
    assert.deepEqual(
      filesOf(top),
      ALL.map((file) => `${place}/${file}`),
    );
    assert.equal(git(top, "log", "-1", "--format=%an <%ae>|%B").trim(), `Ann <ann@example.org>|${rest.message}`);
    assert.equal(git(top, "status", "--porcelain"), " M other.txt\nA  staged.txt\n");
    // Half of it staged, the rest not: it is saved as it lies there.
    put(join(folder, "brainstorm.md"), "half");
    git(top, "add", ".");
    put(join(folder, "brainstorm.md"), "whole");
    git(top, "reset", "--quiet", "other.txt");
    assert.deepEqual((await commit({ folder, title: "T" })).files, ["brainstorm.md"]);
    assert.equal(git(top, "show", `HEAD:${place}/brainstorm.md`), "whole");
    assert.equal(git(top, "status", "--porcelain"), " M other.txt\nA  staged.txt\n");
  }));

test("the session alone is a session update; nothing is no commit", () =>
  inConversation(async (folder, top) => {
    await commit({ folder, title: "T" });
    fs.appendFileSync(join(folder, ".session", "messages.jsonl"), '{"v":1}\n');
    put(join(folder, ".session", "events.jsonl"), '{"v":1}\n');
    const { commit: hash, ...rest } = await commit({ folder, title: "T" });
    assert.deepEqual(rest, {
      message: "T: session update",
      isSessionOnly: true,
      files: [".session/events.jsonl", ".session/messages.jsonl"],
    });
    assert.equal(git(top, "log", "-1", "--format=%s").trim(), rest.message);
    // Touched, and staged but taken back: as HEAD has it.
    fs.utimesSync(join(folder, "brainstorm.md"), 1, 1);
    const log = join(folder, ".session", "messages.jsonl");
    const content = fs.readFileSync(log);
    put(log, "other");
    git(top, "add", ".");
    put(log, content);
    assert.deepEqual(await commit({ folder, title: "T" }), {
      commit: null,
      message: "",
      isSessionOnly: false,
      files: [],
    });
    assert.equal(git(top, "rev-parse", "HEAD").trim(), hash);
    // As HEAD has it, but taken out of the index.
    git(top, "rm", "--quiet", "--cached", `${place}/brainstorm.md`);
    const before = stateOf(top);
    assert.equal((await commit({ folder, title: "T" })).commit, null);
    assert.deepEqual(stateOf(top), before);
  }));

test("what was deleted from the folder, or moved in it, is part of the commit", () =>
  inConversation(async (folder, top) => {
    await commit({ folder, title: "T" });
    fs.rmSync(join(folder, ".session", "blobs"), { recursive: true });
    fs.renameSync(join(folder, "brainstorm.md"), join(folder, "notes.md"));
    fs.rmSync(join(top, "other.txt"));
    const { files, isSessionOnly } = await commit({ folder, title: "T" });
    assert.deepEqual([files, isSessionOnly], [[".session/blobs/aa", "brainstorm.md", "notes.md"], false]);
    assert.deepEqual(
      filesOf(top),
      files.map((file) => `${place}/${file}`),
    );
    assert.equal(git(top, "status", "--porcelain"), " D other.txt\n");
  }));

test(
  "names and titles are taken as they stand",
  { skip: process.platform === "win32" && "Windows has no such names" },
  () =>
    inFolder(async (home) => {
      const top = makeRepository(join(home, "-t [o]p"));
      put(
        join(home, "home", ".gitconfig"),
        "[user]\n\tname = Ann\n\temail = a@example.org\n[commit]\n\tcleanup = strip\n[i18n]\n\tcommitEncoding = ISO-8859-1\n[diff]\n\trelative = false\n\texternal = false\n",
      );
      for (const name of [
        "-dash",
        ":(top)",
        ":!x",
        "[ab]*",
        "?",
        "a b",
        "ünï-\u{1f600}",
        "tab\tand\nline",
        '"quoted"',
        "back\\slash",
      ]) {
        const folder = makeConversation(top, join("all", name));
        for (const file of ["*.md", "-x", ":!x", "ü"]) put(join(folder, file), name);
        // What a pattern would find.
        for (const other of ["a", "b", "x", "abc"]) put(join(top, "all", other, "foreign"), name);
        const { files } = await commit({ folder, title: name });
        assert.deepEqual(files.sort(), [...ALL, "*.md", "-x", ":!x", "ü"].sort(), name);
        assert.deepEqual(
          filesOf(top).sort(),
          files.map((file) => `all/${name}/${file}`),
          name,
        );
      }
      /** @type {[title: string, line: string][]} */
      const titles = [
        ["-m x", "-m x"],
        ["--amend", "--amend"],
        ["# heading", "# heading"],
        ["a\n\nb\r\0\u2028c\x1b[31m", "a b c [31m"],
        ["\u202etitle\ud800", "title\ufffd"],
        ["👩‍👩‍👧 ü", "👩‍👩‍👧 ü"],
        ["  \n", "Conversation"],
        ["x".repeat(300), `${"x".repeat(200)}…`],
      ];
      const folder = join(top, "all", "-dash");
      for (const [title, line] of titles) {
        fs.appendFileSync(join(folder, "brainstorm.md"), "more\n");
        const { message } = await commit({ folder, title });
        assert.equal(message, `${line}: conversation and session saved`);
        assert.equal(git(top, "log", "-1", "--format=%B", "--encoding=UTF-8").trim(), message);
      }
    }),
);

test("it works in a worktree, a submodule, a repository without a commit, and at its top", () =>
  inFolder(async (home) => {
    const top = makeRepository(join(home, "top"));
    git(top, "worktree", "add", "--quiet", "../tree");
    git(top, "submodule", "--quiet", "add", "--", makeRepository(join(home, "inner")), "module");
    git(home, "init", "--quiet", "unborn");
    git(home, "init", "--quiet", "--object-format=sha256", "unborn256");
    put(join(home, "unborn", "staged"), "1");
    git(join(home, "unborn"), "add", "staged");
    for (const name of ["tree", "top/module", "unborn", "unborn256"]) {
      const at = join(home, name);
      const { files } = await commit({ folder: makeConversation(at), title: "T" });
      assert.deepEqual(files, ALL, name);
      assert.deepEqual(
        filesOf(at),
        ALL.map((file) => `${place}/${file}`),
        name,
      );
    }
    assert.equal(git(join(home, "unborn"), "status", "--porcelain"), "A  staged\n");
    assert.equal(git(top, "log", "--format=%s").trim(), "first");
    const own = join(home, "own");
    git(home, "init", "--quiet", "own");
    assert.deepEqual((await commit({ folder: makeConversation(own, "."), title: "T" })).files, ALL);
    assert.deepEqual((await commit({ folder: own, title: "T" })).commit, null);
  }));

test("a repository inside the folder is left to itself", () =>
  inConversation(async (folder, top) => {
    makeRepository(join(folder, "cloned"));
    assert.deepEqual((await commit({ folder, title: "T" })).files, ALL);
    assert.equal(git(top, "status", "--porcelain"), `?? ${place}/cloned/\n`);
    git(folder, "submodule", "--quiet", "add", "--", join(top, "..", "top"), "module");
    git(top, "commit", "--quiet", "--message=module");
    put(join(folder, "module", "other.txt"), "changed");
    assert.equal((await commit({ folder, title: "T" })).commit, null);
  }));

test("the folder decides, not a repository or an index that the environment names", () =>
  inConversation(async (folder, top) => {
    const other = makeRepository(join(top, "..", "other"));
    Object.assign(process.env, {
      GIT_DIR: join(other, ".git"),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(other, ".git", "index"),
      GIT_ICASE_PATHSPECS: "1",
    });
    await commit({ folder, title: "T" });
    for (const name of ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_ICASE_PATHSPECS"]) delete process.env[name];
    assert.deepEqual(
      filesOf(top),
      ALL.map((file) => `${place}/${file}`),
    );
    assert.equal(git(other, "log", "--format=%s").trim(), "first");
  }));

test("hooks run as they are used to, and may refuse in their own words", () =>
  inConversation(async (folder, top) => {
    put(join(top, "staged.txt"), "staged\n");
    git(top, "add", "staged.txt");
    const seen = join(top, "..", "seen");
    hook(
      top,
      "pre-commit",
      `git diff --cached --name-only -- '*.jsonl' > "${seen}"; echo 'no secrets, please' >&2; exit 1`,
    );
    await expectRefusal({ folder, top, code: "git_failed", words: /no secrets, please/ });
    assert.equal(fs.readFileSync(seen, "utf8"), `${place}/.session/messages.jsonl\n`);
    hook(top, "pre-commit", "exit 0");
    hook(top, "commit-msg", 'grep -q JIRA "$1" || { echo "expected a ticket"; exit 1; }');
    await expectRefusal({ folder, top, code: "git_failed", words: /expected a ticket/ });
    assert.match((await commit({ folder, title: "JIRA-1" })).message, /^JIRA-1/);
    // Known files, changed and deleted, and new ones.
    put(join(folder, "brainstorm.md"), "changed");
    fs.rmSync(join(folder, ".session", "blobs", "aa"));
    put(join(folder, "new.md"), "new");
    await expectRefusal({ folder, top, code: "git_failed", words: /expected a ticket/ });
  }));

test("what a hook leaves running is not waited for; a hook that hangs is given up, without a lock", () =>
  inConversation(async (folder, top) => {
    const started = performance.now();
    hook(top, "pre-commit", "exec sleep 30");
    const committing = ["commit", "--quiet", "--allow-empty", "--message=T"];
    const { isLate } =
      (await runGit({ folder, arguments: committing, variables: [], without: [], limitMs: 500 }, new Uint8Array())) ??
      {};
    assert.equal(isLate, true);
    assert.equal(fs.existsSync(join(top, ".git", "index.lock")), false);
    hook(top, "pre-commit", "sleep 30 & exit 0");
    await commit({ folder, title: "T" });
    assert.ok(performance.now() - started < 15_000);
  }));

test("an unknown author is git's to refuse", () =>
  inConversation(async (folder, top) => {
    git(top, "config", "--global", "--unset", "user.email");
    git(top, "config", "--global", "user.useConfigOnly", "true");
    await expectRefusal({ folder, top, code: "git_failed", words: /user\.email|email/ });
  }));

for (const format of ["files", "reftable"]) {
  test(
    `while a merge, cherry-pick, rebase or bisection waits, nothing is touched; refs as ${format}`,
    { skip: !knows(format) && `this git has no ${format}` },
    () => whileWaiting(format),
  );
}

/** @param {string} format */
function knows(format) {
  return format === "files" || /ref-format/.test(spawnSync("git", ["init", "-h"], { encoding: "utf8" }).stdout);
}

/** @param {string} format */
function whileWaiting(format) {
  if (format !== "files") process.env.GIT_DEFAULT_REF_FORMAT = format;
  return inConversation(async (folder, top) => {
    git(top, "checkout", "--quiet", "-b", "side");
    put(join(top, "other.txt"), "side\n");
    git(top, "commit", "--quiet", "--all", "--message=side");
    git(top, "checkout", "--quiet", "main");
    put(join(top, "other.txt"), "main\n");
    git(top, "commit", "--quiet", "--all", "--message=main");
    for (const [command, words] of /** @type {[string, RegExp][]} */ ([
      ["merge", /merge/],
      ["cherry-pick", /cherry-pick/],
      ["rebase", /rebase/],
    ])) {
      gitFails(top, command, "side");
      await expectRefusal({ folder, top, code: "git_busy", words });
      git(top, command, "--abort");
    }
    // The rebase stops between two commits, without a conflict.
    process.env.GIT_SEQUENCE_EDITOR = "sed -i.bak 's/^pick/edit/'";
    git(top, "rebase", "--quiet", "--interactive", "--root");
    delete process.env.GIT_SEQUENCE_EDITOR;
    await expectRefusal({ folder, top, code: "git_busy", words: /rebase/ });
    git(top, "rebase", "--abort");
    git(top, "bisect", "start");
    await expectRefusal({ folder, top, code: "git_busy", words: /bisection/ });
    git(top, "bisect", "reset");
    assert.ok((await commit({ folder, title: "T" })).commit);
  }).finally(() => delete process.env.GIT_DEFAULT_REF_FORMAT);
}

test("a conflict in the folder is not taken for its solution; one elsewhere does not matter", () =>
  inConversation(async (folder, top) => {
    const file = join(folder, "brainstorm.md");
    await commit({ folder, title: "T" });
    for (const [path, isOurs] of /** @type {[string, boolean][]} */ ([
      [join(top, "other.txt"), false],
      [file, true],
    ])) {
      put(path, "stashed");
      git(top, "stash", "--quiet");
      put(path, "committed");
      git(top, "commit", "--quiet", "--all", "--message=other");
      gitFails(top, "stash", "pop");
      fs.appendFileSync(join(folder, ".session", "messages.jsonl"), "{}\n");
      if (isOurs) await expectRefusal({ folder, top, code: "git_busy", words: /brainstorm\.md/ });
      else assert.equal((await commit({ folder, title: "T" })).isSessionOnly, true);
      git(top, "checkout", "--quiet", "HEAD", ".");
    }
  }));

test("a locked index is waited for, then refused", () =>
  inConversation(async (folder, top) => {
    const lock = join(top, ".git", "index.lock");
    put(lock, "");
    await expectRefusal({ folder, top, code: "git_busy", words: /index\.lock/ });
    // No new files: then the commit is the first to want it.
    const committing = commit({ folder, title: "T" });
    setTimeout(() => fs.rmSync(lock), 100);
    assert.ok((await committing).commit);
    fs.appendFileSync(join(folder, "brainstorm.md"), "more");
    put(lock, "");
    await expectRefusal({ folder, top, code: "git_busy", words: /index\.lock/ });
    fs.rmSync(lock);
    put(join(top, ".git", "refs", "heads", "main.lock"), "");
    await expectRefusal({ folder, top, code: "git_busy", words: /main\.lock/ });
  }));

test("a session that is ignored is refused with the rule", () =>
  inConversation(async (folder, top) => {
    /** @type {[place: string, rule: string, words: RegExp][]} */
    const rules = [
      [".gitignore", "# private\n.session/", /".session\/" in ".gitignore", line 2/],
      [".gitignore", "conversations", /"conversations" in ".gitignore", line 1/],
      [`${PLACE}/.session/.gitignore`, "*", /"\*" in ".*\.session\/\.gitignore", line 1/],
      [".git/info/exclude", "*.jsonl", /messages\.jsonl" by the rule "\*\.jsonl" in "\.git\/info\/exclude", line 1/],
      [".gitignore", "blobs/", /blobs\/aa" by the rule "blobs\/"/],
    ];
    for (const [file, rule, words] of rules) {
      put(join(top, file), `${rule}\n`);
      await expectRefusal({ folder, top, code: "session_ignored", words });
      put(join(top, file), "");
      if (file !== ".git/info/exclude") fs.rmSync(join(top, file));
    }
    // What others leave beside the session, and what git knows already, may be ignored.
    put(join(folder, ".session", ".DS_Store"), "");
    put(join(top, ".git", "info", "exclude"), ".DS_Store\n");
    await commit({ folder, title: "T" });
    put(join(top, ".git", "info", "exclude"), ".session/\n");
    fs.appendFileSync(join(folder, ".session", "messages.jsonl"), "{}\n");
    assert.deepEqual((await commit({ folder, title: "T" })).files, [".session/messages.jsonl"]);
  }));

test("no git, no repository, no work tree, no session: each has its code", () =>
  inConversation(async (folder, top) => {
    const outside = makeConversation(join(top, ".."), "outside");
    await expectRefusal({ folder: outside, top, code: "not_a_repository", words: /git init/ });
    await expectRefusal({ folder: makeConversation(join(top, ".git"), "inside"), top, code: "not_a_repository" });
    await expectRefusal({ folder: top, top, code: "not_found", words: /session/ });
    const linked = join(top, "linked");
    put(join(linked, "brainstorm.md"), "");
    fs.symlinkSync(join(outside, ".session"), join(linked, ".session"));
    await expectRefusal({ folder: linked, top, code: "not_found", words: /session/ });
    put(join(makeRepository(join(top, "..", "broken")), ".git", "config"), "[core\n");
    await assert.rejects(commit({ folder: makeConversation(join(top, "..", "broken")), title: "T" }), {
      code: "git_failed",
      message: /config/,
    });
    const { PATH } = process.env;
    process.env.PATH = [".", top].join(delimiter);
    await assert.rejects(commit({ folder, title: "T" }), { code: "git_missing" });
    process.env.PATH = PATH;
    assert.ok((await commit({ folder, title: "T" })).commit);
  }));

const canSign = spawnSync("ssh-keygen", ["-?"]).error ? "ssh-keygen is missing" : false;
test("commits are signed as the user configured it", { skip: canSign }, () =>
  inConversation(async (folder, top) => {
    const key = join(top, "..", "key");
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "ann", "-f", key]);
    const settings = { "gpg.format": "ssh", "user.signingKey": `${key}.missing`, "commit.gpgSign": "true" };
    for (const [name, value] of Object.entries(settings)) git(top, "config", "--global", name, value);
    await expectRefusal({ folder, top, code: "git_failed", words: /key\.missing/ });
    git(top, "config", "--global", "user.signingKey", key);
    put(join(top, "..", "signers"), `ann@example.org ${fs.readFileSync(`${key}.pub`, "utf8")}`);
    git(top, "config", "--global", "gpg.ssh.allowedSignersFile", join(top, "..", "signers"));
    const { commit: hash } = await commit({ folder, title: "T" });
    assert.equal(git(top, "log", "-1", "--format=%H %G? %GS").trim(), `${hash} G ann@example.org`);
  }),
);
