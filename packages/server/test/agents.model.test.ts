// Two turns of an agent whose first system block changes each time: the second turn must find the first one's prompt cached.
import Anthropic from "@anthropic-ai/sdk";
import { expect, it } from "vitest";
import { modelId, realServer } from "./real-server.ts";

it("finds the previous turn's whole prompt in the cache, whatever its billing header contains", async () => {
  await using server = await realServer({ load: { contextLength: 1024, parallel: 2 } });
  const client = new Anthropic({
    baseURL: server.baseUrl.replace(/\/v1$/, ""),
    apiKey: "any",
    maxRetries: 0,
  });
  const turn = (cch: string, ...more: Anthropic.MessageParam[]) =>
    client.messages.create({
      model: modelId,
      max_tokens: 4,
      system: [
        {
          type: "text",
          text: `x-anthropic-billing-header: cc_version=2.1.0; cc_entrypoint=cli; cch=${cch};`,
        },
        {
          type: "text",
          text: "You are an agent for the command line. Be brief and say what you do. ".repeat(8),
        },
      ],
      messages: [{ role: "user", content: "List the files of this folder." }, ...more],
    });
  const { content, usage } = await turn("a1b2c");
  expect(usage.cache_read_input_tokens).toBe(0);
  const again = await turn("0f9e8");
  // The last prompt token is computed again: its output is the reply's first token.
  expect(again.usage.cache_read_input_tokens).toBeGreaterThanOrEqual(usage.input_tokens - 1);
  const next = await turn("77777", { role: "assistant", content }, { role: "user", content: "And now?" });
  expect(next.usage.cache_read_input_tokens).toBeGreaterThan(usage.input_tokens - 16);
});
