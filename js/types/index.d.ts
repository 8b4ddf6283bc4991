/// <reference lib="esnext.disposable" />
/** Every type that callers of leftoff name. */

export type * from "./agents.js";
export type * from "./context.js";
export type * from "./errors.js";
export type * from "./outputs.js";
export type * from "./session.js";
export type * from "./shapes.js";
export type * from "./store.js";
export type * from "./wasm.js";
export type { Appended } from "../session/appended.js";
export type * from "../records.js";
export type { Capabilities, Entry as StorageEntry, Stat, Storage } from "../storage/contract.js";
