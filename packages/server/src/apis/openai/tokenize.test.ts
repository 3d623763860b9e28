import { Detokenization, ErrorBody, Tokenization } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { scriptedApp, scriptedId, type ScriptedOptions } from "../../../test/harness/scripted-server.ts";

const messages = [{ role: "user", content: "Hi" }];

async function post(path: string, payload: object, options: ScriptedOptions = {}) {
  await using scripted = await scriptedApp(options);
  const response = await scripted.app.inject({ method: "POST", url: `/v1/${path}`, payload });
  return {
    status: response.statusCode,
    json: response.json<unknown>(),
    requests: scripted.log.requests.length,
  };
}

async function tokenize(payload: object): Promise<Tokenization> {
  return Tokenization.parse((await post("tokenize", payload)).json);
}

describe("tokenizing", () => {
  it.each<[object]>([
    [{ content: "Hi!" }],
    [{ prompt: "Hi!" }],
    [{ model: scriptedId, prompt: "Hi!", content: null }],
  ])("returns ids, their number and the context length for %j", async (body) => {
    expect(await tokenize(body)).toEqual({ tokens: [72, 105, 33], count: 3, max_model_len: 2048 });
  });

  it("accepts an empty text", async () => {
    expect(await tokenize({ content: "" })).toMatchObject({ tokens: [], count: 0 });
  });

  it("applies the chat template to a conversation, and computes nothing", async () => {
    const { json, requests } = await post("tokenize", { messages });
    expect(Tokenization.parse(json)).toMatchObject({ count: "user: Hi".length });
    expect(requests).toBe(0);
  });

  it("returns each token's text with with_pieces, and the bytes of partial characters", async () => {
    const { tokens } = await tokenize({ content: "Hé", with_pieces: true });
    expect(tokens).toEqual([
      { id: 72, piece: "H" },
      { id: 233, piece: [233] },
    ]);
  });

  it("refuses with_pieces for too many tokens", async () => {
    const content = "a".repeat(65_537);
    const { status, json } = await post("tokenize", { content, with_pieces: true });
    expect([status, ErrorBody.parse(json).error.param]).toEqual([400, "with_pieces"]);
    expect((await tokenize({ content })).count).toBe(65_537);
  });
});

describe("detokenizing", () => {
  it("returns the text under both names", async () => {
    const { json } = await post("detokenize", { tokens: [72, 105] });
    expect(Detokenization.parse(json)).toEqual({ content: "Hi", prompt: "Hi" });
    expect((await post("detokenize", { tokens: [] })).json).toEqual({ content: "", prompt: "" });
  });

  it.each([256, 2 ** 31 - 1])("refuses %i, which is not in the vocabulary", async (token) => {
    const { status, json } = await post("detokenize", { tokens: [1, token] });
    expect([status, ErrorBody.parse(json).error]).toMatchObject([
      400,
      { code: "invalid_request", param: "tokens" },
    ]);
  });
});

describe("the model", () => {
  it.each(["tokenize", "detokenize"])(
    "may be omitted from %s in every variant, but must not be unknown",
    async (path) => {
      const body = { content: "a", tokens: [1] };
      for (const variant of ["desktop", "developer", "command-line", "serverless"] as const) {
        const options: ScriptedOptions = { flags: { variant, noAuth: true } };
        expect((await post(path, body, options)).status).toBe(200);
        const wrong = await post(path, { ...body, model: "another" }, options);
        expect(wrong.status).toBe(variant === "developer" ? 200 : 404);
      }
    },
  );

  it("is released, so that the next request is admitted", async () => {
    await using scripted = await scriptedApp({ script: { parallel: 1 }, flags: { waitingMax: 0 } });
    for (let round = 0; round < 3; round += 1) {
      const payload = { content: "a" };
      const response = await scripted.app.inject({ method: "POST", url: "/v1/tokenize", payload });
      expect(response.statusCode).toBe(200);
    }
  });
});
