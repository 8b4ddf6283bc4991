// @ts-check
// What else a project is known by, asked of git itself.
// Tries: src/operation/git/aliases.rs, src/project/remote.rs, js/placement/git.js
import assert from "node:assert/strict";
import fs from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";

import { runGit } from "../../js/placement/git.js";
import { aliasesOf, git, gitFails, hook, inFolder, makeRepository, put } from "./git-tools.js";

const SAME = "example.org/a/b";
/** @type {[url: string, remote: string | undefined][]} */
const REMOTES = [
  ["git@example.org:a/b.git", SAME],
  ["ssh://git@example.org/a/b", SAME],
  ["https://user:token@example.org/a/b.git/", SAME],
  ["https://EXAMPLE.org./a//b", SAME],
  ["https://example.org:443/a/b", SAME],
  ["https://example.org/a/b?private_token=secret#secret", SAME],
  ["https://us@er:p@ss@example.org/a/b", SAME],
  ["git://example.org:9418/a/b.git", SAME],
  ["ssh://git@example.org:2222/~/a/b.git", SAME],
  ["git+ssh://git@example.org/a/b", SAME],
  ["example.org:a/b", SAME],
  ["git@example.org:/a/b.git", SAME],
  ["user:secret@example.org:a/b.git", SAME],
  ["us/er:sec/ret@example.org:a/b.git", undefined],
  ["user:sec/ret@example.org:a/b.git", SAME],
  ["https://user:sec/ret@example.org/a/b.git", undefined],
  ["git@example.org:a/b@v2", "example.org/a/b@v2"],
  ["git@example.org:A/B.git", "example.org/A/B"],
  ["https://example.org/a%20b/%C3%BC", "example.org/a b/ü"],
  ["https://example.org/a/%zz", "example.org/a/%zz"],
  ["https://xn--bcher-kva.example/a", "xn--bcher-kva.example/a"],
  ["https://bücher.example/a", undefined],
  ["git@bücher.example:a", undefined],
  ["git@[::1]:a/b", "[::1]/a/b"],
  ["http://localhost:3000/a/b", "localhost:3000/a/b"],
  ["http://localhost:4000/a/b", "localhost:4000/a/b"],
  ["https://example.org/", undefined],
  ["/srv/git/b.git", undefined],
  ["../b", undefined],
  ["./a:b", undefined],
  ["C:/code/b", undefined],
  ["C:\\code\\b", undefined],
  ["file:///srv/git/b.git", undefined],
  ["file://example.org/srv/git/b.git", undefined],
  ["ext::ssh user:secret@example.org:a %S a/b", undefined],
  ["ext::https://user:secret@example.org/a", undefined],
];

test("a remote is host and path, whichever way leads there, and never a credential", () =>
  inFolder(async (folder) => {
    git(folder, "init", "--quiet");
    for (const [url, remote] of REMOTES) {
      git(folder, "config", "remote.origin.url", url);
      const aliases = await aliasesOf(folder);
      assert.deepEqual(aliases, remote ? { remote } : {}, url);
    }
  }));

test("the remote is origin, else the only one; short forms are read as git reads them", () =>
  inFolder(async (folder) => {
    git(folder, "init", "--quiet");
    git(folder, "remote", "add", "fork", "https://example.org/fork");
    assert.equal((await aliasesOf(folder)).remote, "example.org/fork");
    git(folder, "remote", "add", "upstream", "https://example.org/upstream");
    assert.deepEqual(await aliasesOf(folder), {});
    git(folder, "remote", "add", "origin", "ex:a/b");
    git(folder, "config", "--global", "url.https://user:secret@example.org/.insteadOf", "ex:");
    assert.deepEqual(await aliasesOf(folder), { remote: SAME });
  }));

test("worktrees and clones of a repository have its aliases, a shallow one no first commit", () =>
  inFolder(async (folder) => {
    const top = makeRepository(join(folder, "top"));
    const firstCommit = git(top, "rev-parse", "HEAD").trim();
    git(top, "commit", "--quiet", "--allow-empty", "--message=second");
    // A merge of a history that began elsewhere.
    git(top, "checkout", "--quiet", "--orphan", "elsewhere");
    git(top, "commit", "--quiet", "--message=another first");
    git(top, "checkout", "--quiet", "main");
    git(top, "merge", "--quiet", "--allow-unrelated-histories", "--no-edit", "elsewhere");
    git(top, "worktree", "add", "--quiet", "../tree");
    git(folder, "clone", "--quiet", "top", "clone");
    git(folder, "clone", "--quiet", "--depth=1", `file://${top}`, "shallow");
    for (const name of ["top", "tree", "clone"])
      assert.deepEqual(await aliasesOf(join(folder, name)), { firstCommit }, name);
    assert.deepEqual(await aliasesOf(join(folder, "shallow")), {});
    git(top, "remote", "add", "origin", "git@example.org:a/b");
    for (const name of ["top", "tree"])
      assert.deepEqual(await aliasesOf(join(folder, name)), { remote: SAME, firstCommit }, name);
    // Who replaces the first commit here has replaced it nowhere else.
    const second = git(top, "rev-parse", "HEAD~1").trim();
    git(top, "replace", "--graft", second);
    assert.equal((await aliasesOf(top)).firstCommit, firstCommit);
  }));

test("a project below the top of a repository is another one; what is not in HEAD is none", () =>
  inFolder(async (folder) => {
    const top = makeRepository(join(folder, "top"));
    const firstCommit = git(top, "rev-parse", "HEAD").trim();
    put(join(top, "sub", "a folder\nü", "file"), "1");
    put(join(top, "sub", "beside", "file"), "1");
    assert.deepEqual(await aliasesOf(join(top, "sub", "beside")), {});
    git(top, "add", "sub");
    assert.deepEqual(await aliasesOf(join(top, "sub", "beside")), {});
    git(top, "commit", "--quiet", "--message=sub");
    assert.deepEqual(await aliasesOf(join(top, "sub", "beside")), { firstCommit, folder: "sub/beside" });
    assert.deepEqual(await aliasesOf(join(top, "sub", "a folder\nü")), { firstCommit, folder: "sub/a folder\nü" });
    fs.symlinkSync(join(top, "sub"), join(folder, "link"));
    assert.deepEqual(await aliasesOf(join(folder, "link")), { firstCommit, folder: "sub" });
  }));

test("without a repository, its work tree, a commit, a folder or git there are none", () =>
  inFolder(async (folder) => {
    const top = makeRepository(join(folder, "top"));
    put(join(folder, "file"), "");
    git(folder, "init", "--quiet", "empty");
    git(folder, "init", "--quiet", "--bare", "bare");
    put(join(folder, "broken", ".git", "config"), "[core");
    put(join(folder, "lost", ".git"), "gitdir: /nowhere\n");
    for (const name of ["", "file", "missing", "empty", "bare", "top/.git", "broken", "lost"])
      assert.deepEqual(await aliasesOf(join(folder, name)), {}, name);
    assert.ok((await aliasesOf(top)).firstCommit);
    process.env.PATH = folder;
    assert.deepEqual(await aliasesOf(top), {});
    process.env.PATH = "";
    assert.deepEqual(await aliasesOf(top), {});
  }));

test("the folder that was asked for counts, not a repository that the environment names", () =>
  inFolder(async (folder) => {
    const [one, two] = [makeRepository(join(folder, "one")), makeRepository(join(folder, "two"))];
    git(one, "remote", "add", "origin", "git@example.org:a/one");
    git(two, "remote", "add", "origin", "git@example.org:a/two");
    Object.assign(process.env, { GIT_DIR: join(one, ".git"), GIT_WORK_TREE: one, GIT_GLOB_PATHSPECS: "1" });
    assert.equal((await aliasesOf(two)).remote, "example.org/a/two");
  }));

test("reading runs nothing that a repository chooses, and fetches nothing", () =>
  inFolder(async (folder) => {
    const top = makeRepository(join(folder, "top"));
    put(join(top, "sub", "file"), "1");
    git(top, "add", "sub");
    git(top, "commit", "--quiet", "--message=sub");
    const tree = git(top, "rev-parse", "HEAD^{tree}").trim();
    const mark = join(folder, "ran");
    const script = join(folder, "script");
    put(script, `#!/bin/sh\ntouch "${mark}"\nexit 1\n`, 0o755);
    for (const name of ["post-checkout", "post-index-change", "reference-transaction", "pre-commit"])
      hook(top, name, script);
    git(top, "remote", "add", "origin", "ssh://example.org/a/b");
    const settings = {
      "core.fsmonitor": script,
      "core.pager": script,
      "pager.remote": script,
      "core.sshCommand": script,
      "alias.remote": `!${script}`,
      "credential.helper": script,
      "core.repositoryFormatVersion": "1",
      "extensions.partialClone": "origin",
      "remote.origin.promisor": "true",
    };
    for (const [key, value] of Object.entries(settings)) git(top, "config", key, value);
    // A partial clone without its tree: git fetches what it lacks.
    fs.rmSync(join(top, ".git", "objects", tree.slice(0, 2), tree.slice(2)));
    gitFails(join(top, "sub"), "rev-parse", "--verify", "HEAD:./");
    assert.ok(fs.existsSync(mark), "the trap is one");
    fs.rmSync(mark);
    gitFails(top, "status");
    assert.ok(fs.existsSync(mark), "the other trap is one");
    fs.rmSync(mark);
    const before = fs.readFileSync(join(top, ".git", "index"));
    assert.equal((await aliasesOf(top)).remote, SAME);
    assert.deepEqual(await aliasesOf(join(top, "sub")), {});
    assert.equal(fs.existsSync(mark), false);
    assert.deepEqual(fs.readFileSync(join(top, ".git", "index")), before);
  }));

test("git is never taken from the folder itself", () =>
  inFolder(async (folder) => {
    const top = makeRepository(join(folder, "top"));
    put(join(top, "git"), `#!/bin/sh\ntouch "${folder}/ran"\n`, 0o755);
    process.env.PATH = ["", ".", process.env.PATH].join(delimiter);
    const before = process.cwd();
    try {
      process.chdir(top);
      assert.ok((await aliasesOf(top)).firstCommit);
    } finally {
      process.chdir(before);
    }
    assert.equal(fs.existsSync(join(folder, "ran")), false);
  }));

test("a git that hangs is given up", () =>
  inFolder(async (folder) => {
    put(join(folder, "bin", "git"), "#!/bin/sh\ntrap '' TERM\necho true\nsleep 30\n", 0o755);
    process.env.PATH = [join(folder, "bin"), process.env.PATH].join(delimiter);
    const start = performance.now();
    const asked = { folder, arguments: ["remote"], variables: [], without: [], limitMs: 100 };
    assert.deepEqual(await runGit(/** @type {any} */ (asked), new Uint8Array()), {
      status: null,
      out: Buffer.from("true\n"),
      words: "",
      isLate: true,
    });
    assert.ok(performance.now() - start < 10_000);
  }));
