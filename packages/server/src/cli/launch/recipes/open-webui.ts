// Open WebUI speaks /v1/chat/completions. It keeps connections in its database, and ignores its environment after the first start
// unless that is switched off.
import type { StartedProgram } from "../recipe.ts";

export const openWebui: StartedProgram = {
  kind: "started",
  name: "open-webui",
  title: "Open WebUI",
  commands: ["open-webui"],
  install: "python -m pip install open-webui",
  source: "https://docs.openwebui.com/getting-started/env-configuration, November 2026",
  contextMin: 2_048,
  needsTools: false,
  environment: ({ origin, apiKey }) => ({
    OPENAI_API_BASE_URL: `${origin}/v1`,
    OPENAI_API_KEY: apiKey,
    ENABLE_OLLAMA_API: "False",
    ENABLE_PERSISTENT_CONFIG: "False",
  }),
  unset: ["OPENAI_API_BASE_URLS", "OPENAI_API_KEYS"],
  argsDefault: ["serve", "--port", "3000"],
};
