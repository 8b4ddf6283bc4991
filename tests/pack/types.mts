// What a module sees that no CommonJS does: a worker's storage.

import { openStore } from "leftoff";
import type { Store } from "leftoff";
import { OpfsStorage } from "leftoff/storage/opfs";

export const kept = (): Promise<Store> => openStore({ storage: new OpfsStorage() });
