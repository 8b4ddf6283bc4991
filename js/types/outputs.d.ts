/** The types for large tool outputs, which are kept for the time of a run. */

/** An output to save, as `store.outputs.save` takes it. */
export interface ToolOutput {
  /** The output's session: its id, or the caller's own name for it. */
  sessionId: string;
  /** The tool's name. */
  toolName: string;
  /** The tool's arguments. */
  args?: Record<string, unknown>;
  /** The tool's result: anything that JSON can hold. */
  result: unknown;
  /** The caller's task. */
  taskId?: string;
  /** The id of the query, as `ContextManager.hashQuery` makes it. */
  queryId?: string;
}

/** A pointer to a saved output. */
export interface ToolOutputPointer {
  /** The path that `load` takes. A file is there unless the output is small. */
  path: string;
  sessionId: string;
  toolName: string;
  /** When it was saved, RFC 3339. */
  timestamp: string;
  /** How many bytes the result has, as JSON. */
  sizeBytes: number;
  taskId?: string;
  queryId?: string;
  /** A description on one line: `Found 150 matches for "TODO"`. */
  about: string;
}

/** A menu for a model to pick from. */
export interface OutputMenu {
  /** A numbered list, a line for each output. */
  text: string;
  /** The listed outputs, in order. */
  outputs: ToolOutputPointer[];
}

/** The request of `store.outputs.prompt`. */
export interface OutputPromptRequest {
  question: string;
  /** The paths of the outputs, in their order. */
  outputs: string[];
  /** How many tokens the prompt may have. */
  maxTokens: number;
  /** The instructions at the beginning; one sentence on what follows unless given. */
  instructions?: string;
  /** The encoding that counts: `o200k_base` unless given, `cl100k_base` or `estimate-1`. */
  encoding?: string;
  /** The model, whose encoding counts. */
  model?: string;
}

/** A prompt made from outputs. */
export interface OutputPrompt {
  text: string;
  /** How many tokens that has. */
  tokens: number;
  encoding: string;
  /** For each output whether a part of it was left out. */
  outputs: { path: string; isCut: boolean }[];
}
