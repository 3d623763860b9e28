// Claude Code speaks /v1/messages, and takes everything from its environment.
import { userPath, type Setup, type StartedProgram } from "../recipe.ts";

export const claude: StartedProgram = {
  kind: "started",
  name: "claude",
  title: "Claude Code",
  commands: ["claude"],
  install: "npm install -g @anthropic-ai/claude-code",
  source: "2.1.332, and https://code.claude.com/docs/en/llm-gateway",
  // Its instructions and tools take 12,000 tokens.
  contextMin: 32_768,
  needsTools: true,
  environment,
  // A key or a login of Anthropic's would be sent to the server, and other clouds have their own addresses.
  unset: [
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
  ],
  saved: {
    file: (places) => `${userPath(places, "CLAUDE_CONFIG_DIR", ".claude")}/settings.json`,
    content: (setup) => ({ env: environment(setup) }),
  },
};

/** Besides the main model, it asks smaller and larger ones for titles, summaries and subagents: all are the same here. */
function environment({
  origin,
  apiKey,
  model,
  contextLength,
}: Omit<Setup, "folder">): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_AUTH_TOKEN: apiKey,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    CLAUDE_CODE_SUBAGENT_MODEL: model,
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: `${contextLength}`,
  };
}
