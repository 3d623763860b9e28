// The sampling of requests that do not say how: the request, then the server's flags, then the variant, then what the model's file
// recommends. Over a real socket, with a tiny model whose file recommends something.
import {
  ChatCompletion,
  Completion,
  LlamaServerCompletion,
  LlamaServerProps,
  ManagedModelList,
} from "@ingle/protocol";
import type { ServerFlags } from "@ingle/server";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

const recommended = { temp: 0, top_k: 7, top_p: 0.75, penalty_repeat: 1.25 };
const startServer = async (flags: ServerFlags = {}): Promise<RealServer> =>
  realServer({ fixture: { sampling: recommended }, flags: { llamaServerApi: true, ...flags } });

/** What a request of this body is generated with. */
async function fetchSettings(server: RealServer, body: object = {}): Promise<object> {
  const response = await fetch(`${server.baseUrl.slice(0, -3)}/completion`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: modelId, prompt: "One river", n_predict: 1, ...body }),
  });
  return LlamaServerCompletion.parse(await response.json()).generation_settings;
}

it("is what the model's file recommends, except for what the request and the variant say", async () => {
  await using server = await startServer();
  const own = { temperature: 0, top_k: 40, top_p: 0.75, min_p: 0, repeat_penalty: 1.25 };
  expect(await fetchSettings(server)).toMatchObject(own);
  expect(await fetchSettings(server, { temperature: 0.5, repeat_penalty: 1 })).toMatchObject({
    ...own,
    temperature: 0.5,
    repeat_penalty: 1,
  });
  const props = await fetch(`${server.baseUrl.slice(0, -3)}/props`);
  const { default_generation_settings } = LlamaServerProps.parse(await props.json());
  expect(default_generation_settings.params).toMatchObject(own);
});

it("is that of the server's flags before that of the model and the variant", async () => {
  await using server = await startServer({ temp: 0.25, topK: 3, minP: 0.5, seed: 11, predict: 5 });
  const set = { temperature: 0.25, top_k: 3, min_p: 0.5, seed: 11, top_p: 0.75 };
  expect(await fetchSettings(server)).toMatchObject(set);
  expect(await fetchSettings(server, { temperature: 2, seed: -1 })).toMatchObject({
    ...set,
    temperature: 2,
    seed: 0xffff_ffff,
  });
  const client = new OpenAI({ baseURL: server.baseUrl, apiKey: "none" });
  const chat = await client.chat.completions.create({ model: modelId, messages: user("Hi") });
  expect(ChatCompletion.parse(chat).usage.completion_tokens).toBe(5);
  const text = await client.completions.create({ model: modelId, prompt: "Hi" });
  expect(Completion.parse(text).usage.completion_tokens).toBe(5);
  const more = await client.completions.create({ model: modelId, prompt: "Hi", max_tokens: 9 });
  expect(Completion.parse(more).usage.completion_tokens).toBe(9);
});

it("changes the text: a model that recommends temperature 0 always says the same", async () => {
  const texts = async (server: RealServer): Promise<string[]> => {
    const replies = [1, 2, 3].map(async (seed) => {
      const response = await server.post({ messages: user("Hi"), seed, max_tokens: 12 });
      return ChatCompletion.parse(await response.json()).choices[0]?.message.content ?? "";
    });
    return await Promise.all(replies);
  };
  await using server = await startServer();
  expect(new Set(await texts(server)).size).toBe(1);
  await using deaf = await startServer({ noModelSampling: true });
  expect(new Set(await texts(deaf)).size).toBe(3);
  expect(await fetchSettings(deaf)).toMatchObject({ temperature: 1, top_p: 1, repeat_penalty: 1 });
});

it("is in the model's entry", async () => {
  await using server = await startServer();
  const response = await fetch(`${server.baseUrl.slice(0, -3)}/api/v1/models`);
  const { data } = ManagedModelList.parse(await response.json());
  expect(data[0]?.sampling).toEqual({ temperature: 0, top_k: 7, top_p: 0.75, repeat_penalty: 1.25 });
});
