// The same, required.

import leftoff = require("leftoff");
import compat = require("leftoff/compat");

export async function used(): Promise<leftoff.Listed[]> {
  const store: leftoff.Store = await leftoff.openStore();
  const manager: compat.SessionManager = new compat.SessionManager();
  await manager.close();
  // @ts-expect-error an inside
  store.redaction;
  return store.list();
}
