// POST /api/v1/chat of LM Studio's API with a real server over a real socket: chats that go on, events, images, loads, errors.
import { drawImage, encodePng, tinyModel } from "@ingle/fixtures";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { testWorld } from "../cli-context.ts";
import { expectDocumented } from "../documented.ts";
import { chatTemplate, modelId, realServer, type RealServer } from "../real-server.ts";
import { foreignServer, question } from "./desk.ts";

const flags = { lmStudioApi: true };
const greedy = { temperature: 0, max_output_tokens: 12 };
const operation = "POST /api/v1/chat";

const toAddress = ({ baseUrl }: RealServer): string => baseUrl.replace(/\/v1$/, "");

/** The response, which the API's document describes. */
async function send(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${url}/api/v1/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  await expectDocumented(url, operation, response.clone());
  return response;
}

async function chat(url: string, body: object) {
  return await (await send(url, { model: modelId, ...greedy, ...body })).json();
}

/** The events of a stream; each has the name that its data has as its type. */
async function parseEvents(response: Response) {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("event: "))
    .map((event) => {
      const [, name, json = ""] = /^event: (\S+)\ndata: (.*)$/.exec(event) ?? [];
      const data = JSON.parse(json);
      expect(data.type).toBe(name);
      return data;
    });
}

const listTypes = (events: { type: string }[]): string[] =>
  events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);

describe("a chat", () => {
  let server: RealServer;
  let url: string;
  beforeAll(async () => {
    server = await foreignServer(undefined, { flags });
    url = toAddress(server);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** What /v1 says to a whole conversation. */
  const usual = async (...texts: string[]): Promise<string> => {
    const messages = texts.map((content, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content,
    }));
    return (await (await server.post({ messages, temperature: 0, max_tokens: 12 })).json()).choices[0].message
      .content;
  };

  it("is replied to as /v1 replies, with statistics", async () => {
    const reply = await chat(url, { input: question });
    expect(reply).toMatchObject({
      model_instance_id: modelId,
      output: [{ type: "message", content: await usual(question) }],
      stats: { total_output_tokens: 12, reasoning_output_tokens: 0 },
      response_id: expect.stringMatching(/^resp_\w{20,}$/),
    });
    expect(reply.stats.input_tokens).toBeGreaterThan(3);
    expect(reply.stats.time_to_first_token_seconds).toBeGreaterThan(0);
    expect(reply.stats).not.toHaveProperty("model_load_time_seconds");
  });

  it("goes on from any of its responses", async () => {
    const first = await chat(url, { input: question });
    const said = first.output[0].content;
    const next = async (input: string, previous_response_id: string) =>
      await chat(url, { input, previous_response_id });
    const second = await next("And in Oslo?", first.response_id);
    expect(second.output[0].content).toBe(await usual(question, said, "And in Oslo?"));
    const branch = await next("Why?", first.response_id);
    expect(branch.output[0].content).toBe(await usual(question, said, "Why?"));
    const third = await next("Sure?", second.response_id);
    const all = [question, said, "And in Oslo?", second.output[0].content, "Sure?"];
    expect(third.output[0].content).toBe(await usual(...all));
  });

  it("is not kept without store", async () => {
    const reply = await chat(url, { input: question, store: false });
    expect(reply).not.toHaveProperty("response_id");
    const lost = await send(url, { model: modelId, input: "More", previous_response_id: "resp_unknown" });
    expect(lost.status).toBe(400);
    expect((await lost.json()).error).toMatchObject({
      type: "invalid_request",
      param: "previous_response_id",
      message: expect.stringContaining("resp_unknown"),
    });
  });

  it("has the system prompt of its first request until another replaces it", async () => {
    const countInputTokens = async (body: object): Promise<number> =>
      (await chat(url, body)).stats.input_tokens;
    const first = await chat(url, { input: question, system_prompt: "Be very short in what you say." });
    const plain = await chat(url, { input: question });
    const more = first.stats.input_tokens - plain.stats.input_tokens;
    expect(more).toBeGreaterThan(5);
    const kept = await countInputTokens({ input: "More", previous_response_id: first.response_id });
    const none = { input: "More", previous_response_id: first.response_id, system_prompt: "" };
    expect(kept - (await countInputTokens(none))).toBe(more);
  });

  it("streams the same in named events, and goes on from there", async () => {
    const whole = await chat(url, { input: question });
    const stream = await send(url, { model: modelId, ...greedy, input: question, stream: true });
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const events = await parseEvents(stream);
    expect(listTypes(events)).toEqual([
      "chat.start",
      "prompt_processing.start",
      "prompt_processing.end",
      "message.start",
      "message.delta",
      "message.end",
      "chat.end",
    ]);
    expect(events[0].model_instance_id).toBe(modelId);
    const { result } = events.at(-1);
    expect(result.output).toEqual(whole.output);
    const deltas = events.filter(({ type }) => type === "message.delta");
    expect(deltas.map(({ content }) => content).join("")).toBe(whole.output[0].content);
    const more = await chat(url, { input: "Why?", previous_response_id: result.response_id });
    expect(more.output[0].content).toBe(await usual(question, whole.output[0].content, "Why?"));
  });

  it("takes several texts as one message", async () => {
    const items = [
      { type: "text", content: "What is the weather" },
      { type: "message", content: "in Rome?" },
    ];
    const reply = await chat(url, { input: items });
    expect(reply.output[0].content).toBe(await usual("What is the weather\nin Rome?"));
  });

  it.each([
    [{ input: undefined }, "input"],
    [{ input: [] }, "input"],
    [{ input: [{ type: "file" }] }, "input[0].type"],
    [{ integrations: ["mcp/playwright"] }, "integrations"],
    [{ reasoning: "much" }, "reasoning"],
    [{ max_output_tokens: 0 }, "max_output_tokens"],
  ])("refuses %j by name", async (body, param) => {
    const refused = await send(url, { model: modelId, input: question, ...body });
    expect(refused.status).toBe(400);
    const { error } = await refused.json();
    expect(error.type).toBe("invalid_request");
    expect(error.param).toBe(param);
  });

  it("takes an empty list of integrations, and the context that the model has", async () => {
    const reply = await send(url, {
      model: modelId,
      ...greedy,
      input: question,
      integrations: [],
      context_length: 2048,
    });
    expect([reply.status, reply.headers.get("x-ingle-ignored")]).toEqual([200, null]);
  });

  it("that is too long for the context ends with an error and chat.end", async () => {
    const stream = await send(url, { model: modelId, input: "harbour ".repeat(4_000), stream: true });
    const events = await parseEvents(stream);
    expect(listTypes(events).slice(-3)).toEqual(["error", "prompt_processing.end", "chat.end"]);
    const { error } = events.find(({ type }) => type === "error");
    expect(error).toMatchObject({ type: "invalid_request", code: "context_length_exceeded" });
    expect(events.at(-1).result).toMatchObject({ output: [] });
    expect(events.at(-1).result).not.toHaveProperty("response_id");
  });

  it("for an unknown model is a 404", async () => {
    const refused = await send(url, { model: "absent", input: question, stream: true });
    expect(refused.status).toBe(404);
    expect((await refused.json()).error.type).toBe("model_not_found");
  });
});

it("a chat that needs a longer context than the loaded one is refused", async () => {
  const load = { contextLength: 512 };
  await using server = await realServer({ fixture: { vocabulary: "qwen2" }, load, flags });
  const body = { model: modelId, input: question, context_length: 1024 };
  const refused = await send(toAddress(server), body);
  expect([refused.status, (await refused.json()).error.param]).toEqual([400, "context_length"]);
});

it("a chat sees its images, also in the messages before", async () => {
  await using server = await realServer({ vision: "lfm2", load: { contextLength: 2048 }, flags });
  const url = toAddress(server);
  const seeing = async (shape: "disc" | "checks") => {
    const base64 = Buffer.from(await encodePng(drawImage(shape, 96, 64))).toString("base64");
    const image = { type: "image", data_url: `data:image/png;base64,${base64}` };
    return await chat(url, { input: [{ type: "text", content: "What is this?" }, image] });
  };
  const disc = await seeing("disc");
  const checks = await seeing("checks");
  expect(disc.output[0].content).not.toBe(checks.output[0].content);
  const next = async (previous_response_id: string) =>
    await chat(url, { input: "Why?", previous_response_id });
  const more = await next(disc.response_id);
  expect(more.stats.input_tokens).toBeGreaterThan(disc.stats.input_tokens + 12);
  expect((await next(checks.response_id)).output).not.toEqual(more.output);
});

it("access: an inference key chats, and no key is refused", async () => {
  const keys = { apiKey: ["inference-key"], adminKey: ["admin-key"] };
  await using server = await foreignServer(undefined, { flags: { ...flags, ...keys } });
  const url = toAddress(server);
  const body = { model: modelId, ...greedy, input: question };
  expect((await send(url, body, { authorization: "Bearer inference-key" })).status).toBe(200);
  expect((await send(url, body)).status).toBe(401);
});

describe("a chat with `ingle serve`", () => {
  let home = "";
  beforeAll(async () => {
    home = await mkdtemp(path.join(tmpdir(), "ingle-lm-chat-"));
  });
  afterAll(() => rm(home, { recursive: true }));

  async function served(model: string) {
    const world = testWorld({ env: { HOME: home, INGLE_HOME: await mkdtemp(path.join(home, "home-")) } });
    const args = [
      "--variant",
      "developer",
      "--port",
      "0",
      "--threads",
      "1",
      "--ctx",
      "512",
      "--model",
      model,
    ];
    const exit = main("ingle", ["serve", ...args], world.context);
    await world.outHas("Ctrl-C");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(world.out())?.[0] ?? "";
    const [{ key }] = (await (await fetch(`${url}/api/v1/models`)).json()).models;
    return {
      url,
      key,
      unload: async () =>
        await fetch(`${url}/api/v1/models/unload`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ instance_id: key }),
        }),
      [Symbol.asyncDispose]: async () => {
        world.signals.emit("SIGINT");
        expect(await exit).toBe(0);
      },
    };
  }

  it("tells how its model is loaded, with the context that the request needs", async () => {
    await using server = await served(await tinyModel({ seed: 6 }));
    const { url, key } = server;
    await server.unload();
    const request = { model: key, ...greedy, input: question };
    const stream = await send(url, { ...request, context_length: 1024, stream: true });
    const events = await parseEvents(stream);
    expect(events.at(-1).result.stats.model_load_time_seconds).toBeGreaterThan(0);
    const types = listTypes(events);
    expect(types[0]).toBe("chat.start");
    expect(types.filter((type) => type === "chat.start")).toHaveLength(1);
    // A load that takes less than a tenth of a second is not told.
    const loads = types.filter((type) => type.startsWith("model_load.") && type !== "model_load.progress");
    expect([[], ["model_load.start", "model_load.end"]]).toContainEqual(loads);
    const [{ loaded_instances }] = (await (await fetch(`${url}/api/v1/models`)).json()).models;
    expect(loaded_instances).toMatchObject([{ id: key, config: { context_length: 1024 } }]);
    await server.unload();
    const whole = await (await send(url, request)).json();
    expect(whole.stats.model_load_time_seconds).toBeGreaterThan(0);
    expect((await (await send(url, request)).json()).stats).not.toHaveProperty("model_load_time_seconds");
  });

  it("refuses reasoning of a model that cannot think", async () => {
    await using server = await served(await tinyModel({ seed: 6 }));
    const { url, key } = server;
    const refused = await send(url, { model: key, input: question, reasoning: "on" });
    expect([refused.status, (await refused.json()).error.param]).toEqual([400, "reasoning"]);
    expect((await send(url, { model: key, ...greedy, input: question, reasoning: "off" })).status).toBe(200);
  });

  it("reasons in items and events of their own", async () => {
    const template = await chatTemplate("Qwen3.5-4B");
    await using server = await served(await tinyModel({ vocabulary: "qwen2", chatTemplate: template }));
    const { url, key } = server;
    const request = { model: key, ...greedy, input: question, reasoning: "on" };
    const reply = await (await send(url, request)).json();
    expect(reply.output).toMatchObject([{ type: "reasoning" }]);
    expect(reply.stats.reasoning_output_tokens).toBe(12);
    const events = await parseEvents(await send(url, { ...request, stream: true }));
    expect(listTypes(events).slice(-4)).toEqual([
      "reasoning.start",
      "reasoning.delta",
      "reasoning.end",
      "chat.end",
    ]);
    expect(events.at(-1).result.output).toEqual(reply.output);
  });
});
