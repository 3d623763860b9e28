// GitHub Copilot's command line speaks /v1/chat/completions to a provider of the user's own, without a login.
import { replyMax, type StartedProgram } from "../recipe.ts";

export const copilot: StartedProgram = {
  kind: "started",
  name: "copilot",
  title: "GitHub Copilot CLI",
  commands: ["copilot"],
  install: "npm install -g @github/copilot",
  source: "1.0.102: copilot help providers",
  // Its instructions and tools take 11,000 tokens.
  contextMin: 32_768,
  needsTools: true,
  environment: (setup) => ({
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_WIRE_API: "completions",
    COPILOT_PROVIDER_BASE_URL: `${setup.origin}/v1`,
    COPILOT_PROVIDER_API_KEY: setup.apiKey,
    COPILOT_MODEL: setup.model,
    COPILOT_PROVIDER_MAX_PROMPT_TOKENS: `${setup.contextLength - replyMax(setup)}`,
    COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: `${replyMax(setup)}`,
  }),
  unset: [
    "COPILOT_PROVIDER_API_KEY_COMMAND",
    "COPILOT_PROVIDER_BEARER_TOKEN",
    "COPILOT_PROVIDER_MODEL_ID",
    "COPILOT_PROVIDER_WIRE_MODEL",
    "COPILOT_PROVIDER_TRANSPORT",
    "COPILOT_PROVIDER_HEADERS",
  ],
};
