// Adapters over HTTP with a tiny model: named together with the model, weighted by a request, listed, measured, and refused.
import { tinyAdapter, tinyControlVector } from "@ingle/fixtures";
import { Completion, ErrorBody, ModelList } from "@ingle/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { modelId, realServer, type RealServer } from "./real-server.ts";

let server: RealServer;
beforeAll(async () => {
  const path = await tinyAdapter({ model: {} });
  const other = await tinyAdapter({ model: {}, seed: 2, rank: 8 });
  const adapters = [
    { name: "first", path },
    { name: "second", path: other },
  ];
  const flags = { metricsCompat: "vllm", llamaServerApi: true } as const;
  server = await realServer({ load: { adapters }, flags });
});
afterAll(() => server[Symbol.asyncDispose]());

async function post(path: string, body: object): Promise<Response> {
  return await fetch(new URL(path, server.baseUrl), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ prompt: "Once upon", temperature: 0, max_tokens: 24, ...body }),
  });
}

async function complete(body: object): Promise<{ model: string; text: string }> {
  const response = await post("/v1/completions", body);
  expect(response.status).toBe(200);
  const { model, choices } = Completion.parse(await response.json());
  return { model, text: choices[0]?.text ?? "" };
}

async function refused(path: string, body: object): Promise<ErrorBody["error"] & { status: number }> {
  const response = await post(path, body);
  return { status: response.status, ...ErrorBody.parse(await response.json()).error };
}

it("a reply is the adapter's that is named behind the model, and the response names it", async () => {
  const base = await complete({ model: modelId });
  const first = await complete({ model: `${modelId}:first` });
  const second = await complete({ model: `${modelId}:second` });
  expect(first.model).toBe(`${modelId}:first`);
  expect(new Set([base.text, first.text, second.text]).size).toBe(3);
  expect(await complete({ model: modelId })).toEqual(base);
});

it("a request weights adapters by name or place, in the place of one that the model's name has", async () => {
  const base = await complete({ model: modelId });
  const first = await complete({ model: `${modelId}:first` });
  const { text } = await complete({ model: modelId, lora: [{ id: "first", scale: 1 }] });
  expect(text).toBe(first.text);
  const byPlace = await complete({ model: `${modelId}:second`, lora: [{ id: 0, scale: 1 }] });
  expect(byPlace.text).toBe(first.text);
  const off = await complete({ model: `${modelId}:first`, lora: [{ id: "first", scale: 0 }] });
  expect(off.text).toBe(base.text);
  const both = [
    { id: "first", scale: 0.5 },
    { id: "second", scale: 1 },
  ];
  expect([base.text, first.text]).not.toContain((await complete({ model: modelId, lora: both })).text);
});

it("chats and llama-server's completions take the same field", async () => {
  const chat = async (body: object): Promise<unknown> => {
    const messages = [{ role: "user", content: "Hello" }];
    const response = await server.post({ messages, temperature: 0, max_tokens: 24, ...body });
    const { choices } = (await response.json()) as { choices: { message: unknown }[] };
    return choices[0]?.message;
  };
  const first = await chat({ model: `${modelId}:first` });
  expect(first).toBeDefined();
  expect(await chat({ lora: [{ id: 0, scale: 1 }] })).toEqual(first);
  expect(await chat({})).not.toEqual(first);
  const own = await post("/completion", { model: modelId, lora: [{ id: 0, scale: 1 }] });
  const { content, generation_settings: settings } = (await own.json()) as Record<string, { lora?: unknown }>;
  expect(content).toBe((await complete({ model: `${modelId}:first` })).text);
  expect(settings?.lora).toEqual([{ id: 0, scale: 1 }]);
});

it("responses and messages take an adapter's name as model, and the same field", async () => {
  const reply = async (path: string, body: object): Promise<{ model: string; text: string }> => {
    const limits = { max_tokens: 24, max_output_tokens: 24, temperature: 0 };
    const response = await post(path, {
      prompt: undefined,
      messages: [{ role: "user", content: "Hi" }],
      input: "Hi",
      ...limits,
      ...body,
    });
    expect(response.status).toBe(200);
    const { model, content, output } = (await response.json()) as Record<string, unknown>;
    return { model: String(model), text: JSON.stringify(content ?? output).replaceAll(/"id":"[^"]*"/g, "") };
  };
  for (const path of ["/v1/responses", "/v1/messages"]) {
    const base = await reply(path, { model: modelId });
    const first = await reply(path, { model: `${modelId}:first` });
    expect(first.model).toBe(`${modelId}:first`);
    expect(first.text).not.toBe(base.text);
    const weighted = await reply(path, { model: modelId, lora: [{ id: "first", scale: 1 }] });
    expect(weighted.text).toBe(first.text);
    const wrong = await post(path, {
      model: modelId,
      prompt: undefined,
      messages: [{ role: "user", content: "Hi" }],
      input: "Hi",
      lora: [{ id: 2, scale: 1 }],
    });
    expect(wrong.status).toBe(400);
  }
});

it("POST /lora-adapters sets the adapters of requests that choose none", async () => {
  const list = async (): Promise<unknown> =>
    await (await fetch(new URL("/lora-adapters", server.baseUrl))).json();
  const set = async (body: unknown): Promise<Response> =>
    await fetch(new URL("/lora-adapters", server.baseUrl), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const scales = (first: number, second: number): object[] => [
    { id: 0, path: "first", scale: first },
    { id: 1, path: "second", scale: second },
  ];
  expect(await list()).toEqual(scales(0, 0));
  const base = await complete({ model: modelId });
  const first = await complete({ model: `${modelId}:first` });
  const second = await complete({ model: `${modelId}:second` });
  const response = await set([{ id: 1, scale: 1 }]);
  expect(await response.json()).toEqual(scales(0, 1));
  expect(await list()).toEqual(scales(0, 1));
  expect((await complete({ model: modelId })).text).toBe(second.text);
  expect((await complete({ model: `${modelId}:first` })).text).toBe(first.text);
  expect((await complete({ model: modelId, lora: [{ id: 0, scale: 0 }] })).text).toBe(base.text);
  const refusal = await set([{ id: 2, scale: 1 }]);
  expect([refusal.status, await refusal.json()]).toMatchObject([
    400,
    { error: { message: expect.stringContaining("first, second") } },
  ]);
  expect((await set({ id: 0, scale: 1 })).status).toBe(400);
  expect((await set([{ id: 0, scale: 101 }])).status).toBe(400);
  expect((await set([])).status).toBe(200);
  expect(await list()).toEqual(scales(0, 0));
  expect((await complete({ model: modelId })).text).toBe(base.text);
});

it("GET /v1/models lists adapters with their model as parent", async () => {
  const list = ModelList.parse(await (await fetch(`${server.baseUrl}/models`)).json());
  expect(list.data.map(({ id, parent }) => [id, parent])).toEqual([
    [modelId, undefined],
    [`${modelId}:first`, modelId],
    [`${modelId}:second`, modelId],
  ]);
  const one = await fetch(`${server.baseUrl}/models/${modelId}:second`);
  expect(await one.json()).toEqual(list.data[2]);
});

it.each([
  ["an adapter that the model does not have", { model: `${modelId}:third` }, 404, "model"],
  ["a name that the model does not have", { lora: [{ id: "third", scale: 1 }] }, 400, "lora[0].id"],
  ["a place that the model does not have", { lora: [{ id: 2, scale: 1 }] }, 400, "lora[0].id"],
  ["no scale", { lora: [{ id: 0 }] }, 400, "lora[0].scale"],
  ["a scale that is too large", { lora: [{ id: 0, scale: 101 }] }, 400, "lora[0].scale"],
  ["too many", { lora: Array.from({ length: 33 }, () => ({ id: 0, scale: 1 })) }, 400, "lora"],
])("%s is refused", async (_, body, status, param) => {
  const error = await refused("/v1/completions", { model: modelId, ...body });
  expect([error.status, error.param]).toEqual([status, param]);
  expect(error.message).toContain(param.slice(0, 4));
});

it("control vectors are named and weighted like LoRA adapters", async () => {
  const adapters = [
    { name: "law", path: await tinyAdapter({ model: {} }) },
    { name: "calm", path: await tinyControlVector({ model: {} }) },
  ];
  await using steered = await realServer({ load: { adapters, controlVectorLayers: { first: 1, last: 1 } } });
  const text = async (body: object): Promise<string> => {
    const response = await fetch(`${steered.baseUrl}/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ prompt: "Once upon", temperature: 0, max_tokens: 24, ...body }),
    });
    return Completion.parse(await response.json()).choices[0]?.text ?? "";
  };
  const calm = await text({ model: `${modelId}:calm` });
  const opposite = await text({ model: modelId, lora: [{ id: "calm", scale: -1 }] });
  const both = await text({
    model: modelId,
    lora: [
      { id: 0, scale: 1 },
      { id: 1, scale: 1 },
    ],
  });
  expect(new Set([calm, opposite, both, await text({ model: modelId })]).size).toBe(4);
  expect(await text({ model: modelId, lora: [{ id: "calm", scale: 1 }] })).toBe(calm);
});

it("an adapter computes no vectors", async () => {
  const error = await refused("/v1/embeddings", { model: `${modelId}:first`, input: "a" });
  expect([error.status, error.param]).toEqual([400, "model"]);
});

it("vLLM's metric names the adapters in use", async () => {
  const labels = async (): Promise<string | undefined> => {
    const text = await (await fetch(new URL("/metrics", server.baseUrl))).text();
    return /^vllm:lora_requests_info\{(.*)\} \d+(?:\.\d+)?$/m.exec(text)?.[1];
  };
  const idle = 'max_lora="2",waiting_lora_adapters="",running_lora_adapters=""';
  expect(await labels()).toBe(idle);
  const response = await post("/v1/completions", {
    model: `${modelId}:second`,
    max_tokens: 1000,
    ignore_eos: true,
    stream: true,
  });
  const reader = response.body?.getReader();
  await reader?.read();
  await expect
    .poll(labels)
    .toBe(idle.replace('running_lora_adapters=""', `running_lora_adapters="${modelId}:second"`));
  await reader?.cancel();
  await expect.poll(labels).toBe(idle);
});
