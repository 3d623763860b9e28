import { RenderedPrompt, RenderedPrompts, Tokenization } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { scriptedApp, scriptedId } from "../../../test/harness/scripted-server.ts";

const messages = [{ role: "user", content: "Hi" }];

async function posts(asked: readonly (readonly [path: string, payload: object])[]) {
  await using scripted = await scriptedApp();
  const responses: { status: number; json: unknown; ignored: unknown }[] = [];
  for (const [path, payload] of asked) {
    const response = await scripted.app.inject({ method: "POST", url: `/v1/${path}`, payload });
    const { "x-ingle-ignored": ignored } = response.headers;
    responses.push({ status: response.statusCode, json: response.json<unknown>(), ignored });
  }
  return { responses, requests: scripted.log.requests };
}

describe("rendering", () => {
  it("returns the tokens of a chat's prompt, and computes nothing", async () => {
    const { responses, requests } = await posts([
      ["chat/completions/render", { model: scriptedId, messages, temperature: 0.3, stream: true }],
      ["tokenize", { messages }],
      ["chat/completions", { model: scriptedId, messages }],
    ]);
    const rendered = RenderedPrompt.parse(responses[0]?.json);
    expect(rendered).toMatchObject({ model: scriptedId, request_id: expect.stringMatching(/^chatcmpl-/) });
    expect(rendered.token_ids).toEqual(Tokenization.parse(responses[1]?.json).tokens);
    // What is really computed, by the one request that was sent.
    expect(requests.map(({ tokens }) => [...tokens])).toEqual([rendered.token_ids]);
  });

  it("returns the tokens of each prompt of a completion, given as text or tokens", async () => {
    const { responses, requests } = await posts([
      ["completions/render", { model: scriptedId, prompt: ["Hi", "Hello"] }],
      ["completions/render", { model: scriptedId, prompt: [72, 105] }],
      ["completions/render", { model: scriptedId, prompt: "" }],
    ]);
    const [texts = [], tokens = [], empty = []] = responses.map(({ json }) => RenderedPrompts.parse(json));
    expect(texts.map(({ token_ids }) => String.fromCodePoint(...token_ids))).toEqual(["Hi", "Hello"]);
    expect(new Set(texts.map(({ request_id }) => request_id)).size).toBe(1);
    expect(tokens.map(({ token_ids }) => token_ids)).toEqual([[72, 105]]);
    expect(empty).toHaveLength(1);
    expect(requests).toEqual([]);
  });

  it.each([
    ["chat/completions/render", { model: scriptedId }, 400],
    ["chat/completions/render", { model: scriptedId, messages, temperature: -1 }, 400],
    ["chat/completions/render", { model: "nobody", messages }, 404],
    ["completions/render", { model: scriptedId, prompt: [-1] }, 400],
    ["completions/render", { model: "nobody", prompt: "Hi" }, 404],
  ])("refuses at /v1/%s what the completion would refuse: %j", async (path, body, status) => {
    const { responses } = await posts([
      [path, body],
      [path.replace("/render", ""), body],
    ]);
    expect(responses.map((response) => response.status)).toEqual([status, status]);
  });
});

it("counting returns the number of a chat's prompt tokens, and computes nothing", async () => {
  const { responses, requests } = await posts([
    ["chat/completions/input_tokens", { model: scriptedId, messages, max_tokens: 5, service_tier: "flex" }],
    ["tokenize", { messages }],
  ]);
  const { count } = Tokenization.parse(responses[1]?.json);
  const json = { object: "response.input_tokens", input_tokens: count };
  expect(responses[0]).toEqual({ status: 200, json, ignored: "service_tier" });
  expect(requests).toEqual([]);
});
