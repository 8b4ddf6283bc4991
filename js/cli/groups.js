// @ts-check

/** The groups that help lists commands in; commands without a group come last. */
export const GROUPS = {
  "Import and find": ["import", "list", "search", "recall", "show", "view", "info", "usage"],
  Continue: ["resume", "ask", "context", "compact"],
  Record: ["new", "append", "stop", "complete", "commit"],
  Organize: [
    "rename",
    "pin",
    "unpin",
    "fork",
    "archive",
    "unarchive",
    "delete",
    "trash",
    "relocate",
    "export",
    "doctor",
  ],
  "leftoff itself": ["init", "mcp", "settings", "completions"],
  "Run by agents": ["hook", "typed"],
};
