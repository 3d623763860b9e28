// Continue's command line speaks /v1/chat/completions. Its configuration is YAML, which includes JSON.
import { replyMax, type StartedProgram } from "../recipe.ts";

const file = "continue.yaml";

export const continueCli: StartedProgram = {
  kind: "started",
  name: "continue",
  title: "Continue",
  commands: ["cn"],
  install: "npm install -g @continuedev/cli",
  source: "1.5.47: cn --help, and https://docs.continue.dev/reference",
  // Its instructions and tools take 1,500 tokens.
  contextMin: 8_192,
  needsTools: true,
  files: (setup) => ({
    [file]: {
      name: "Ingle",
      version: "0.0.1",
      schema: "v1",
      models: [
        {
          name: setup.model,
          provider: "openai",
          model: setup.model,
          apiBase: `${setup.origin}/v1`,
          apiKey: setup.apiKey,
          roles: ["chat", "edit", "apply"],
          capabilities: ["tool_use"],
          defaultCompletionOptions: { contextLength: setup.contextLength, maxTokens: replyMax(setup) },
        },
      ],
    },
  }),
  args: ({ folder }) => ["--config", `${folder}/${file}`],
};
