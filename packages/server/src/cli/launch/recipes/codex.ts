// Codex speaks /v1/responses. Its settings are TOML, and `-c` overrides them for one run.
import { keyVariable, type StartedProgram } from "../recipe.ts";

export const codex: StartedProgram = {
  kind: "started",
  name: "codex",
  title: "Codex",
  commands: ["codex"],
  install: "npm install -g @openai/codex",
  source: "0.171.0: codex --help, and https://developers.openai.com/codex/config-reference",
  // Its instructions and tools take 9,000 tokens.
  contextMin: 24_576,
  needsTools: true,
  environment: ({ apiKey }) => ({ [keyVariable]: apiKey }),
  args: ({ origin, model, contextLength }) => [
    ...override("model_provider", "ingle"),
    ...override("model", model),
    ...override("model_context_window", contextLength),
    ...override("model_providers.ingle.name", "Ingle"),
    ...override("model_providers.ingle.base_url", `${origin}/v1`),
    ...override("model_providers.ingle.wire_api", "responses"),
    ...override("model_providers.ingle.env_key", keyVariable),
  ],
};

/** A string of JSON is also one of TOML. */
function override(key: string, value: string | number): [flag: string, assignment: string] {
  return ["-c", `${key}=${JSON.stringify(value)}`];
}
