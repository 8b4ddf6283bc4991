// @ts-check
// `leftoff view` serves the page, and a store to it: all that the store can read, nothing else, and to that page alone.
// Tries: js/cli/view/server.js, js/viewer/remote-storage.js, js/cli/view.js

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { once } from "node:events";
import { text } from "node:stream/consumers";

import { openStore } from "../../js/index.js";
import { HOME, ViewServer } from "../../js/cli/view/server.js";
import { RemoteStorage } from "../../js/viewer/remote-storage.js";

/** @import { Session } from "../../js/index.js" */
/** @import { Store } from "../../js/store/store.js" */

/**
 * Serves a session of two messages.
 * @param {(served: { store: Store, session: Session, address: URL, home: string }) => Promise<void>} work
 */
async function serving(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-view-"));
  const store = await openStore({ home, project: home });
  const session = await store.create({ title: "Look here" });
  await session.append([
    { role: "user", content: "What is in this picture?" },
    { role: "assistant", content: "A bird." },
  ]);
  const server = new ViewServer({ home, session: session.id });
  try {
    await work({ store, session, home, address: await server.start() });
  } finally {
    await server.close();
    await store.close();
    rmSync(home, { recursive: true });
  }
}

/** @param {URL} address of the page */
const openRemote = (address) =>
  openStore({
    storage: new RemoteStorage(new URL("../storage", address)),
    home: HOME,
    project: HOME,
    readOnly: true,
  });

/** @template T @param {AsyncIterable<T>} items */
async function gather(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}

/**
 * What a raw request is answered with: `fetch` would mend the path, and set the host itself.
 * @param {URL} address @param {string} path @param {{ method?: string, headers?: Record<string, string> }} [options]
 */
async function ask({ hostname, port }, path, options = {}) {
  const asked = request({ hostname, port, path, ...options });
  asked.end();
  const [response] = await once(asked, "response");
  return { status: response.statusCode, headers: response.headers, said: await text(response) };
}

test("what the page reads is what the store has, and what is appended meanwhile", async () => {
  await serving(async ({ session, address }) => {
    const remote = await openRemote(address);
    const { session: id } = await (await fetch(new URL("../opened.json", address))).json();
    const shown = await remote.session(id);
    const followed = shown.follow();
    const next = followed.next();
    assert.deepEqual(await gather(shown.messages()), await gather(session.messages()));
    assert.equal(shown.metadata.display.title, "Look here");
    await session.append({ role: "user", content: "And now?" });
    assert.equal((await next).value?.content, "And now?");
    await followed.return?.(undefined);
    assert.deepEqual(
      (await remote.list({ all: true })).map(({ title }) => title),
      ["Look here"],
    );
    await remote.close();
  });
});

test("a session in a workspace is read there, and nothing else of the folder", async () => {
  const [home, project] = ["home", "project"].map((name) => mkdtempSync(join(tmpdir(), `leftoff-view-${name}-`)));
  const store = await openStore({ home, project });
  const session = await store.create({ placement: "workspace", name: "shared" });
  await session.append({ role: "user", content: "Said in the workspace" });
  writeFileSync(join(project, "secret.txt"), "not to be read");
  const server = new ViewServer({ home, workspaces: [project], session: session.id });
  const address = await server.start();
  const remote = await openRemote(address);
  const shown = await remote.session(session.id);
  assert.deepEqual(
    (await gather(shown.messages())).map(({ content }) => content),
    ["Said in the workspace"],
  );
  const asked = new URLSearchParams({ verb: "read", path: join(project, "secret.txt") });
  const { status, said } = await ask(address, `/${address.pathname.split("/")[1]}/storage?${asked}`);
  assert.deepEqual([status, JSON.parse(said).code], [422, "outside_store"]);
  await remote.close();
  await server.close();
  await store.close();
  for (const folder of [home, project]) rmSync(folder, { recursive: true });
});

test("the page can write nothing", async () => {
  await serving(async ({ session, address }) => {
    const remote = await openRemote(address);
    const shown = await remote.session(session.id);
    for (const write of [
      () => shown.append({ role: "user", content: "Mine." }),
      () => shown.rename("Mine"),
      () => remote.create(),
    ])
      await assert.rejects(write, { code: "read_only" });
    await remote.close();
    const { pathname } = new URL("../storage", address);
    const target = encodeURIComponent(`${HOME}/settings.json`);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"])
      assert.equal((await ask(address, `${pathname}?verb=replace&path=${target}`, { method })).status, 405, method);
    for (const verb of ["append", "replace", "remove", "move", "constructor", ""])
      assert.equal((await ask(address, `${pathname}?verb=${verb}&path=${target}`)).status, 404, verb);
    assert.equal((await gather(session.messages())).length, 2);
  });
});

test("nobody gets anything without the word, under another name, or from another page", async () => {
  await serving(async ({ address }) => {
    const { pathname, host, port } = address;
    assert.equal((await ask(address, new URL("../opened.json", address).pathname)).status, 200);
    const word = pathname.split("/")[1] ?? "";
    assert.ok(word.length >= 32);
    for (const path of ["/", "/opened.json", "//opened.json", `/${word.slice(1)}/opened.json`, `/${word}x/opened.json`])
      assert.equal((await ask(address, path)).status, 403, path);
    for (const name of [`localhost:${port}`, "evil.example", `${host}.evil.example`, `evil.example:${port}`])
      assert.equal((await ask(address, pathname, { headers: { host: name } })).status, 403, name);
    for (const site of ["cross-site", "same-site"]) {
      const headers = { "sec-fetch-site": site };
      assert.equal((await ask(address, `/${word}/opened.json`, { headers })).status, 403, site);
    }
  });
});

test("no address leads out of the store, or out of what the page is made of", async () => {
  await serving(async ({ address, home, session }) => {
    writeFileSync(join(home, "..", `${session.id}.txt`), "outside");
    symlinkSync(join(home, "..", `${session.id}.txt`), join(home, "link.txt"));
    const word = address.pathname.split("/")[1];
    const paths = [
      `../${session.id}.txt`,
      `${HOME}/../${session.id}.txt`,
      `${HOME}/link.txt`,
      `${HOME}x/a`,
      "/etc/passwd",
      "",
      join(home, "settings.json"),
    ];
    for (const path of paths)
      for (const verb of ["read", "readRange", "list", "stat"]) {
        const asked = new URLSearchParams({ verb, path, start: "0", end: "1" });
        const { status, said } = await ask(address, `/${word}/storage?${asked}`);
        assert.equal(status, 422, `${verb} ${path}`);
        assert.equal(JSON.parse(said).code, "outside_store", `${verb} ${path}`);
      }
    for (const path of [
      "../package.json",
      "viewer/../../package.json",
      "%2e%2e/package.json",
      "cli.js",
      "viewer/",
      "all.cjs",
    ])
      assert.notEqual((await ask(address, `/${word}/${path}`)).status, 200, path);
    rmSync(join(home, "..", `${session.id}.txt`));
  });
});

test("a request that is none is refused, and the next one is answered", async () => {
  await serving(async ({ address }) => {
    const word = address.pathname.split("/")[1];
    for (const path of ["http://[", "*", `/${word}/storage?verb=list&path=${HOME}&files={`])
      assert.ok([400, 403].includes(Number((await ask(address, path)).status)), path);
    assert.equal((await ask(address, `/${word}/opened.json`)).status, 200);
  });
});

test("whatever is answered may load nothing from elsewhere and be framed by nobody", async () => {
  await serving(async ({ address }) => {
    const word = address.pathname.split("/")[1];
    for (const path of [`/${word}/opened.json`, `/${word}/nothing`, "/", `/${word}/leftoff.wasm`]) {
      const { headers } = await ask(address, path);
      const policy = String(headers["content-security-policy"]);
      assert.match(policy, /^default-src 'none'; /);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.ok(!/unsafe-(inline|eval)(?<!wasm-unsafe-eval)|https?:|\*/.test(policy), policy);
      assert.equal(headers["referrer-policy"], "no-referrer");
      assert.equal(headers["access-control-allow-origin"], undefined);
    }
  });
});
