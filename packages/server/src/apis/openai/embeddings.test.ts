import { Embeddings, wireErrors } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import {
  scriptedApp,
  scriptedId,
  scriptedServer,
  type ScriptedApp,
} from "../../../test/harness/scripted-server.ts";

async function post({ app }: ScriptedApp, body: object) {
  return app.inject({ method: "POST", url: "/v1/embeddings", payload: { model: scriptedId, ...body } });
}

describe("POST /v1/embeddings", () => {
  it("returns the published format, with vectors of length 1 in the order of the texts", async () => {
    await using scripted = await scriptedApp({ script: { info: { embeddingSize: 2 } } });
    const response = await post(scripted, { input: [[0, 0, 0], [1], [0, 0, 0, 1, 1, 1, 1]] });
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(Embeddings.parse(response.json())).toEqual({
      object: "list",
      data: [
        { object: "embedding", index: 0, embedding: [1, 0] },
        { object: "embedding", index: 1, embedding: [0, 1] },
        { object: "embedding", index: 2, embedding: [Math.fround(0.6), Math.fround(0.8)] },
      ],
      model: scriptedId,
      usage: { prompt_tokens: 11, total_tokens: 11 },
    });
  });

  it.each([
    ["a text", "ab", [[97, 98]]],
    ["several texts", ["a", "b"], [[97], [98]]],
    ["token ids", [5, 6], [[5, 6]]],
    ["several texts as token ids", [[5], [6]], [[5], [6]]],
  ])("accepts %s", async (_, input, expected) => {
    await using scripted = await scriptedApp();
    const response = await post(scripted, { input });
    expect(response.statusCode).toBe(200);
    expect(scripted.log.embedded.map((texts) => texts.map((text) => [...text]))).toEqual([expected]);
    expect(response.json().data).toHaveLength(expected.length);
  });

  it("returns the same numbers as base64", async () => {
    await using scripted = await scriptedApp();
    const input = ["one text", "and another"];
    const numbers = (await post(scripted, { input, encoding_format: "float" })).json();
    const encoded = (await post(scripted, { input, encoding_format: "base64" })).json();
    for (const [index, { embedding }] of encoded.data.entries()) {
      const bytes = Buffer.from(embedding, "base64");
      const floats = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at));
      expect(floats).toEqual(numbers.data[index].embedding);
    }
  });

  it("truncates vectors to `dimensions` and normalizes them", async () => {
    await using scripted = await scriptedApp({ script: { info: { embeddingSize: 3 } } });
    const response = await post(scripted, { input: [[0, 0, 0, 1, 1, 1, 1, 2]], dimensions: 2 });
    expect(response.json().data[0].embedding).toEqual([Math.fround(0.6), Math.fround(0.8)]);
    const refused = await post(scripted, { input: "a", dimensions: 4 });
    expect(refused.statusCode).toBe(400);
    expect(refused.json().error).toMatchObject({ code: "invalid_request", param: "dimensions" });
  });

  it.each([
    ["no input", {}, "input"],
    ["an empty text", { input: "" }, "input"],
    ["an empty list", { input: [] }, "input"],
    ["an unknown format", { input: "a", encoding_format: "int8" }, "encoding_format"],
    ["zero dimensions", { input: "a", dimensions: 0 }, "dimensions"],
  ])("refuses %s, with the field", async (_, body, param) => {
    await using scripted = await scriptedApp();
    const response = await post(scripted, body);
    expect(response.statusCode).toBe(400);
    expect(response.json().error).toMatchObject({ code: "invalid_request", param });
  });

  it.each(["overloaded", "embeddings_not_supported", "context_length_exceeded"] as const)(
    "returns the engine's %s with its status",
    async (code) => {
      const refusal = { code, message: "no", details: { promptTokens: 9, contextLength: 8 } };
      await using scripted = await scriptedApp({ script: { refusal } });
      const response = await post(scripted, { input: "a" });
      expect(response.statusCode).toBe(wireErrors[code].status);
      expect(response.json().error).toMatchObject({ code, n_prompt_tokens: 9, n_ctx: 8 });
    },
  );

  it("returns 500 for an engine failure, and the next request succeeds", async () => {
    const failure = { code: "engine_failed", message: "broken" } as const;
    await using scripted = await scriptedApp({ script: { failure } });
    expect((await post(scripted, { input: "a" })).statusCode).toBe(500);
    expect(scripted.log.running.size).toBe(0);
  });

  it("cancels the work when the client disconnects", async () => {
    await using scripted = await scriptedServer({ script: { delayMs: 5000 } });
    const controller = new AbortController();
    const pending = fetch(`${scripted.server.url}/v1/embeddings`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: scriptedId, input: "a" }),
      signal: controller.signal,
    });
    await expect.poll(() => scripted.log.running.size).toBe(1);
    controller.abort();
    await expect(pending).rejects.toThrow();
    await expect.poll(() => scripted.log.cancelled).toEqual([1]);
  });

  it("records model and tokens for the log line", async () => {
    const lines: Record<string, unknown>[] = [];
    const logger = {
      level: "info" as const,
      stream: { write: (line: string) => void lines.push(JSON.parse(line)) },
    };
    await using scripted = await scriptedApp({ logger });
    await post(scripted, { input: ["abc", "de"] });
    expect(lines.at(-1)).toMatchObject({
      route: "/v1/embeddings",
      status: 200,
      model: scriptedId,
      promptTokens: 5,
    });
  });
});
