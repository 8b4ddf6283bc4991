// The same, required.

import leftoff = require("leftoff");
import compat = require("leftoff/compat");
import slim = require("leftoff/slim");
import memory = require("leftoff/storage/memory");
import node = require("leftoff/storage/node");

export async function used(): Promise<leftoff.Listed[]> {
  const store: leftoff.Store = await leftoff.openStore();
  const manager: compat.SessionManager = new compat.SessionManager();
  await manager.close();
  await slim.loadWasm();
  const storages: leftoff.Storage[] = [new memory.MemoryStorage(), new node.NodeStorage()];
  for (const storage of storages) await storage.close();
  // @ts-expect-error an inside
  store.redaction;
  return store.list();
}
