// OpenCode speaks /v1/chat/completions. A variable with JSON outranks its files, and is merged with them.
import { replyMax, userPath, type JsonObject, type Setup, type StartedProgram } from "../recipe.ts";

export const opencode: StartedProgram = {
  kind: "started",
  name: "opencode",
  title: "OpenCode",
  commands: ["opencode"],
  install: "npm install -g opencode-ai",
  source: "1.18.33, and https://opencode.ai/docs/config",
  // Its instructions and tools take 7,000 tokens.
  contextMin: 24_576,
  needsTools: true,
  environment: (setup) => ({ OPENCODE_CONFIG_CONTENT: JSON.stringify(config(setup)) }),
  saved: {
    file: (places) => `${userPath(places, "XDG_CONFIG_HOME", ".config")}/opencode/opencode.json`,
    content: config,
  },
};

function config(setup: Omit<Setup, "folder">): JsonObject {
  const { origin, apiKey, model, contextLength } = setup;
  const named = `ingle/${model}`;
  return {
    model: named,
    small_model: named,
    provider: {
      ingle: {
        npm: "@ai-sdk/openai-compatible",
        name: "Ingle",
        options: { baseURL: `${origin}/v1`, apiKey },
        models: { [model]: { name: model, limit: { context: contextLength, output: replyMax(setup) } } },
      },
    },
  };
}
