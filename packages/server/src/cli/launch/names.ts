// The programs that `ingle launch` knows, by name. A module of its own, so that help and completion load no recipe.

export const launchNames = [
  "claude",
  "codex",
  "opencode",
  "qwen",
  "cline",
  "continue",
  "crush",
  "copilot",
  "droid",
  "goose",
  "pi",
  "aider",
  "open-webui",
  "zed",
  "vscode",
  "n8n",
] as const;
export type LaunchName = (typeof launchNames)[number];
