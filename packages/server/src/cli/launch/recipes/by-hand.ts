// Programs with a window whose settings cannot be given for one run: the steps to take in them.
import { replyMax, type ByHandProgram } from "../recipe.ts";

export const zed: ByHandProgram = {
  kind: "by-hand",
  name: "zed",
  title: "Zed",
  commands: ["zed", "zeditor"],
  source: "https://zed.dev/docs/ai/llm-providers, November 2026",
  steps: ({ origin, apiKey, model, contextLength }) => [
    `Open the settings with the command "zed: open settings file", and add:\n${JSON.stringify(
      {
        language_models: {
          openai_compatible: {
            Ingle: {
              api_url: `${origin}/v1`,
              available_models: [{ name: model, max_tokens: contextLength, capabilities: { tools: true } }],
            },
          },
        },
      },
      undefined,
      2,
    )}`,
    `Run the command "agent: open settings", choose Ingle, and enter the API key: ${apiKey}`,
    `Choose ${model} in the model selector of the agent panel.`,
  ],
};

export const vscode: ByHandProgram = {
  kind: "by-hand",
  name: "vscode",
  title: "Visual Studio Code",
  commands: ["code"],
  source: "https://code.visualstudio.com/docs/copilot/customization/language-models, October 2026",
  steps: (setup) => [
    'Run the command "Chat: Manage Language Models", and choose Add Models, then Custom Endpoint.',
    `Enter the name Ingle, the API key ${setup.apiKey} and the API type Chat Completions.`,
    `In the file that opens, chatLanguageModels.json, complete the entry's models:\n${JSON.stringify(
      [
        {
          id: setup.model,
          name: setup.model,
          url: `${setup.origin}/v1/chat/completions`,
          toolCalling: true,
          vision: false,
          maxInputTokens: setup.contextLength - replyMax(setup),
          maxOutputTokens: replyMax(setup),
        },
      ],
      undefined,
      2,
    )}`,
    `Choose ${setup.model} in the model picker of the chat.`,
  ],
};

export const n8n: ByHandProgram = {
  kind: "by-hand",
  name: "n8n",
  title: "n8n",
  commands: ["n8n"],
  source: "https://docs.n8n.io/integrations/builtin/credentials/openai, November 2026",
  steps: ({ origin, apiKey, model }) => [
    "Create a credential of the type OpenAI.",
    `Set its Base URL to ${origin}/v1 and its API key to ${apiKey}. In a container, the address of this machine differs.`,
    `In the node OpenAI Chat Model, choose this credential and enter the model ${model}.`,
  ],
};
