/** Of large tool outputs, which are kept for the time of a run. */

/** What `store.outputs.save` takes. */
export interface ToolOutput {
  /** The session that it is of: its id, or whatever the caller calls it. */
  sessionId: string;
  /** The tool's name. */
  toolName: string;
  /** What the tool was given. */
  args?: Record<string, unknown>;
  /** What the tool gave: anything that JSON holds. */
  result: unknown;
  /** What the caller was at. */
  taskId?: string;
  /** What was asked, as `ContextManager.hashQuery` names it. */
  queryId?: string;
}

/** What is known of an output while it is there. */
export interface ToolOutputPointer {
  /** What `load` takes. There is a file where the output is not small. */
  path: string;
  sessionId: string;
  toolName: string;
  /** When it was saved, RFC 3339. */
  timestamp: string;
  /** How many bytes the result has, as JSON. */
  sizeBytes: number;
  taskId?: string;
  queryId?: string;
  /** What it is, on one line: `Found 150 matches for "TODO"`. */
  about: string;
}

/** What a model picks from. */
export interface OutputMenu {
  /** A numbered list, a line for each output. */
  text: string;
  /** Those of the list, in its order. */
  outputs: ToolOutputPointer[];
}

/** What `store.outputs.prompt` takes. */
export interface OutputPromptRequest {
  question: string;
  /** The paths of the outputs, in their order. */
  outputs: string[];
  /** How many tokens the prompt may have. */
  maxTokens: number;
  /** What the model is told first; one sentence on what follows unless given. */
  instructions?: string;
  /** By what tokens are counted: `o200k_base` unless given, `cl100k_base` or `estimate-1`. */
  encoding?: string;
  /** The encoding is its. */
  model?: string;
}

/** What a model is told. */
export interface OutputPrompt {
  text: string;
  /** How many tokens that has. */
  tokens: number;
  encoding: string;
  /** Of each output whether some of it was left out. */
  outputs: { path: string; isCut: boolean }[];
}
