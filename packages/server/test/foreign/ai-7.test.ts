// Our provider under version 7 of the AI SDK, whose models have the specification v4, and under version 6: what both send.
import { createIngle, type IngleProvider } from "@ingle/ai-provider";
import * as six from "ai";
import * as seven from "ai-7";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { scriptedId, scriptedServer } from "../harness/scripted-server.ts";

let scripted: Awaited<ReturnType<typeof scriptedServer>>;
let ingle: IngleProvider;
let sent: Record<string, unknown>[] = [];
beforeAll(async () => {
  scripted = await scriptedServer();
  const fetchAndNote: typeof fetch = async (url, init) => {
    if (typeof init?.body === "string") sent.push(JSON.parse(init.body));
    return await fetch(url, init);
  };
  ingle = createIngle({ baseURL: `${scripted.server.url}/v1`, fetch: fetchAndNote });
});
beforeEach(() => {
  sent = [];
});
afterAll(() => scripted[Symbol.asyncDispose]());

const prompt = "Hi";

describe("version 7 of the AI SDK", () => {
  it.each(["none", "minimal", "low", "medium", "high", "xhigh"] as const)(
    "sends reasoning %s, whole and streamed",
    async (reasoning) => {
      const request = { model: ingle(scriptedId), prompt, reasoning, maxRetries: 0 };
      const { text, warnings } = await seven.generateText(request);
      expect([text, warnings ?? []]).toEqual(["Hello, world!", []]);
      expect(await seven.streamText(request).text).toBe(text);
      expect(sent).toMatchObject([{ reasoning_effort: reasoning }, { reasoning_effort: reasoning }]);
    },
  );

  it("sends no effort by default, and the provider's own option before reasoning", async () => {
    const request = { model: ingle(scriptedId), prompt, maxRetries: 0 };
    await seven.generateText({ ...request, reasoning: "provider-default" });
    await seven.generateText({
      ...request,
      reasoning: "high",
      providerOptions: { ingle: { reasoning_effort: "low", min_p: 0.1 } },
    });
    await seven.generateText({
      ...request,
      reasoning: "high",
      topK: 3,
      providerOptions: { ingle: { min_p: 0.1 } },
    });
    expect(sent[0]).not.toHaveProperty("reasoning_effort");
    expect(sent.slice(1)).toMatchObject([
      { reasoning_effort: "low", min_p: 0.1 },
      { reasoning_effort: "high", min_p: 0.1, top_k: 3 },
    ]);
  });

  it("sends files that are texts as texts", async () => {
    const data = { type: "text" as const, text: "Grüße" };
    await seven.generateText({
      model: ingle(scriptedId),
      maxRetries: 0,
      messages: [{ role: "user", content: [{ type: "file", data, mediaType: "text/plain" }] }],
    });
    expect(JSON.stringify(sent)).toContain("Grüße");
  });

  it("embeds, ranks and completes", async () => {
    const { embedding } = await seven.embed({ model: ingle.embeddingModel(scriptedId), value: prompt });
    expect(embedding).toHaveLength(8);
    const { text } = await seven.generateText({
      model: ingle.completionModel(scriptedId),
      prompt,
      maxRetries: 0,
    });
    expect(text).toBe("Hello, world!");
  });
});

it("version 6 of the AI SDK has no such setting, and sends the provider's own option", async () => {
  const request = {
    model: ingle(scriptedId),
    prompt,
    maxRetries: 0,
    providerOptions: { ingle: { reasoning_effort: "low" } },
  };
  const { text, warnings } = await six.generateText(request);
  expect([text, warnings ?? []]).toEqual(["Hello, world!", []]);
  expect(sent).toMatchObject([{ reasoning_effort: "low" }]);
});
