// Rows of requests with a real engine that computes one at a time: which one is computed, which ones wait, and what was cached.
import { load } from "@ingle/engine";
import { tinyModel, until } from "@ingle/fixtures";
import type { LiveRequest } from "@ingle/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildApp } from "../src/app.ts";
import { resolveConfig } from "../src/config.ts";
import { RequestBoard } from "../src/live/request-board.ts";
import { ModelRegistry } from "../src/models/registry.ts";
import { modelId, user } from "./real-server.ts";

const board = new RequestBoard();
const config = resolveConfig({ flags: { port: 0 }, env: {} });
const registry = new ModelRegistry({ ...config.models, waitingMax: 8 });
let app: Awaited<ReturnType<typeof buildApp>>;

beforeAll(async () => {
  const file = await tinyModel({ contextLength: 65_536 });
  await registry.load(modelId, () => load(file, { threads: 1, parallel: 1, contextLength: 65_536 }));
  app = await buildApp(config, { registry, board });
});
afterAll(async () => {
  await app.close();
  await registry[Symbol.asyncDispose]();
});

/** `maxTokens` of tens of thousands take longer than any test: such a request must be cancelled. */
async function ask(id: string, maxTokens: number): Promise<{ status: number; code: unknown }> {
  const response = await app.inject({
    method: "POST",
    url: "/v1/chat/completions",
    headers: { "x-request-id": id },
    payload: {
      model: modelId,
      messages: user("Tell me about rivers."),
      max_tokens: maxTokens,
      ignore_eos: true,
      temperature: 0,
    },
  });
  return { status: response.statusCode, code: response.json<{ error?: { code: string } }>().error?.code };
}

function row(id: string): LiveRequest | undefined {
  return board.rows().find((each) => each.id === id);
}

const isComputed = (id: string): boolean => row(id)?.status === "generating";

it("the computing request is distinguished from those in its queue, and each can be cancelled", async () => {
  const first = ask("first", 60_000);
  await until(() => isComputed("first"));
  const second = ask("second", 60_000);
  await until(() => registry.stats().waiting === 1);
  const third = ask("third", 60_000);
  await until(() => registry.stats().waiting === 2);
  expect([row("first")?.status, row("second")?.status, row("third")?.status]).toEqual([
    "generating",
    "waiting",
    "waiting",
  ]);
  expect(row("second")).toMatchObject({ model: modelId, prompt_tokens: row("first")?.prompt_tokens });

  expect(await board.cancel("second")).toMatchObject({ status: "cancelled", completion_tokens: 0 });
  expect(await second).toEqual({ status: 410, code: "cancelled" });
  expect(await board.cancel("first")).toMatchObject({
    status: "cancelled",
    tokens_per_second: expect.any(Number),
  });
  expect(await first).toEqual({ status: 410, code: "cancelled" });
  await until(() => isComputed("third"));
  await board.cancel("third");
  expect(await third).toEqual({ status: 410, code: "cancelled" });
  await until(() => registry.stats().running === 0);
});

it("a prompt that the engine has cached is counted as cached", async () => {
  await ask("one", 4);
  await ask("two", 4);
  const { prompt_tokens: tokens, cached_tokens: cached, completion_tokens: completion } = row("two") ?? {};
  expect(completion).toBe(4);
  expect(cached).toBeGreaterThan(0);
  expect(cached).toBeLessThanOrEqual(tokens ?? 0);
  expect(board.cachedShare).toBeGreaterThan(0);
  expect(board.cachedShare).toBeLessThanOrEqual(1);
});
