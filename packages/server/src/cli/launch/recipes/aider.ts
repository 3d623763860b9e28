// aider speaks /v1/chat/completions, and asks for edits in text instead of calling tools.
import { replyMax, type StartedProgram } from "../recipe.ts";

const file = "aider-models.json";

export const aider: StartedProgram = {
  kind: "started",
  name: "aider",
  title: "aider",
  commands: ["aider"],
  install: "python -m pip install aider-install && aider-install",
  source: "https://aider.chat/docs/llms/openai-compat.html, November 2026",
  contextMin: 8_192,
  needsTools: false,
  environment: ({ origin, apiKey }) => ({ OPENAI_API_BASE: `${origin}/v1`, OPENAI_API_KEY: apiKey }),
  files: (setup) => ({
    [file]: {
      [`openai/${setup.model}`]: {
        max_input_tokens: setup.contextLength,
        max_output_tokens: replyMax(setup),
        max_tokens: replyMax(setup),
        input_cost_per_token: 0,
        output_cost_per_token: 0,
        litellm_provider: "openai",
        mode: "chat",
      },
    },
  }),
  args: ({ model, folder }) => [
    "--model",
    `openai/${model}`,
    "--weak-model",
    `openai/${model}`,
    "--model-metadata-file",
    `${folder}/${file}`,
    "--no-show-model-warnings",
  ],
};
