// @huggingface/inference with a real server as a custom endpoint: chat, whole and streamed, tools, and a schema.
import { InferenceClient } from "@huggingface/inference";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, type RealServer } from "../real-server.ts";
import { cities, foreignServer, question, weatherParameters } from "./desk.ts";

let server: RealServer;
let client: InferenceClient;
beforeAll(async () => {
  server = await foreignServer();
  client = new InferenceClient("anything", {
    endpointUrl: server.baseUrl.replace(/\/v1$/, ""),
    retry_on_error: false,
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const request = {
  model: modelId,
  messages: [{ role: "user", content: question }],
  temperature: 0.5,
  seed: 1,
};

describe("@huggingface/inference", () => {
  it("completes a chat", async () => {
    const response = await client.chatCompletion({ ...request, max_tokens: 12 });
    expect(response.choices[0]?.message.content).not.toBe("");
    expect(response.usage.completion_tokens).toBe(12);
  });

  it("streams the same text", async () => {
    const whole = await client.chatCompletion({ ...request, max_tokens: 12 });
    let text = "";
    for await (const chunk of client.chatCompletionStream({ ...request, max_tokens: 12 })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(text).toBe(whole.choices[0]?.message.content);
  });

  it("calls tools", async () => {
    const response = await client.chatCompletion({
      ...request,
      max_tokens: 200,
      tools: [{ type: "function", function: { name: "get_weather", parameters: weatherParameters } }],
      tool_choice: "required",
    });
    const [call] = response.choices[0]?.message.tool_calls ?? [];
    expect(call?.function.name).toBe("get_weather");
    expect(cities).toContain(JSON.parse(String(call?.function.arguments)).city);
  });

  it("follows a schema", async () => {
    const response = await client.chatCompletion({
      ...request,
      max_tokens: 200,
      response_format: {
        type: "json_schema",
        json_schema: { name: "weather", schema: weatherParameters, strict: true },
      },
    });
    expect(cities).toContain(JSON.parse(response.choices[0]?.message.content ?? "").city);
  });

  it("reports errors with their status", async () => {
    await expect(client.chatCompletion({ ...request, temperature: -1 })).rejects.toMatchObject({
      httpResponse: { status: 400 },
    });
  });
});
