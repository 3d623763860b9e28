// goose speaks /v1/chat/completions, and takes everything from its environment.
import type { StartedProgram } from "../recipe.ts";

export const goose: StartedProgram = {
  kind: "started",
  name: "goose",
  title: "goose",
  commands: ["goose"],
  install: "https://block.github.io/goose/docs/getting-started/installation",
  source: "its guide to environment variables, https://github.com/block/goose, November 2026",
  contextMin: 16_384,
  needsTools: true,
  environment: ({ origin, apiKey, model, contextLength }) => ({
    GOOSE_PROVIDER: "openai",
    GOOSE_MODEL: model,
    GOOSE_CONTEXT_LIMIT: `${contextLength}`,
    OPENAI_HOST: origin,
    OPENAI_BASE_PATH: "v1/chat/completions",
    OPENAI_API_KEY: apiKey,
  }),
  unset: [
    "OPENAI_BASE_URL",
    "OPENAI_ORGANIZATION",
    "OPENAI_PROJECT",
    "OPENAI_CUSTOM_HEADERS",
    "GOOSE_LEAD_MODEL",
    "GOOSE_PLANNER_PROVIDER",
    "GOOSE_PLANNER_MODEL",
  ],
  argsDefault: ["session"],
};
