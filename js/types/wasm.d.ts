/** What is of the host: its own objects, and where the files of leftoff's own package are. */

// Programs without the types of a page or of Node have none of these.
type HostType<Name extends string> = typeof globalThis extends { [name in Name]: { prototype: infer T } } ? T : never;
type CompiledModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer T } } } ? T : never;

/** The host's `AbortSignal`. */
export type Signal = HostType<"AbortSignal">;

/** The host's `Blob`, as a page has of a file that somebody chose. */
export type FileBlob = HostType<"Blob">;

/**
 * A URL, or the bytes. In Node, Deno and Bun the URL is one of a file: there, nothing of leftoff opens a connection.
 */
export type FileSource = string | HostType<"URL"> | ArrayBuffer | Uint8Array;

/** What `loadWasm` loads, and from where. */
export interface WasmSources {
  /** `leftoff/leftoff.wasm`: stores, sessions, contexts, counting. */
  leftoff?: FileSource | CompiledModule;
  /** `leftoff/agents.wasm`: other agents' files, finding and searching, lists and histories as text. */
  agents?: FileSource | CompiledModule;
  /**
   * `leftoff/context.wasm`: for pages, where the two above are not loaded, a part of them: contexts of transcripts,
   * models, counting.
   */
  context?: FileSource | CompiledModule;
  /** `leftoff/reader.wasm`: for pages, the same: transcripts, lists and histories as text. */
  reader?: FileSource | CompiledModule;
  /** `leftoff/o200k_base.planes`: what counts exactly, unless another encoding is asked for. */
  o200k_base?: FileSource;
  /** `leftoff/cl100k_base.planes`. */
  cl100k_base?: FileSource;
}
