// Two models under sixteen streams, and the ways in which the process of one model's engine can end: only its running replies notice.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { load, type Model } from "@ingle/engine";
import { isRunning, pidOf, tinyModel, until } from "@ingle/fixtures";
import { ModelRegistry, resolveConfig, serve, type RunningServer } from "@ingle/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { user } from "./real-server.ts";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-crash-"));
  vi.stubEnv("INGLE_HOME", home);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true });
});

/** Requests of one model that run at the same time; as many again wait in these tests. */
const parallel = 4;

interface TwoModels extends AsyncDisposable {
  server: RunningServer;
  a: Model;
  b: Model;
}

async function twoModels(): Promise<TwoModels> {
  const config = resolveConfig({ flags: { port: 0 }, env: {} });
  const registry = new ModelRegistry({ ...config.models, waitingMax: config.engine.waitingMax });
  const server = await serve(config, { logger: false, registry });
  const file = await tinyModel();
  const model = async (id: string): Promise<Model> =>
    await registry.load(id, () =>
      load(file, { engine: "process", threads: 1, parallel, contextLength: 2048, stepTimeoutMs: 1_500 }),
    );
  const [a, b] = [await model("a"), await model("b")];
  return { server, a, b, [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }) };
}

interface Stream {
  /** Everything that has arrived. */
  text: string;
  /** Resolves at the end. */
  ended: Promise<void>;
}

function stream({ server }: TwoModels, model: string, maxTokens: number): Stream {
  const read = async (): Promise<void> => {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model,
        messages: user("On and on."),
        max_tokens: maxTokens,
        ignore_eos: true,
        stream: true,
      }),
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) started.text += decoder.decode(chunk, { stream: true });
  };
  const started: Stream = { text: "", ended: Promise.resolve() };
  started.ended = read();
  return started;
}

const streams = (on: TwoModels, model: string, maxTokens: number): Stream[] =>
  Array.from({ length: parallel }, () => stream(on, model, maxTokens));

const isWhole = ({ text }: Stream): boolean => text.includes("[DONE]") && !text.includes('"error":{');
const hasCrashed = ({ text }: Stream): boolean =>
  text.includes('"code":"engine_crashed"') && !text.includes("[DONE]");

async function metrics({ server }: TwoModels): Promise<string> {
  return await (await fetch(`${server.url}/metrics`)).text();
}

describe("under sixteen streams over two models", () => {
  it.each([
    ["is killed, as by the system when memory runs out", "SIGKILL"],
    ["fails an assertion", "SIGABRT"],
    ["reads memory that it does not have", "SIGSEGV"],
    ["hangs", "SIGSTOP"],
  ] as const)(
    "an engine's process that %s costs only its running replies",
    { timeout: 90_000 },
    async (_, signal) => {
      await using models = await twoModels();
      const { a, b } = models;
      const seen = streams(models, "a", 1_900);
      await until(() => seen.every(({ text }) => text.includes("content")));
      const waiting = streams(models, "a", 6);
      const others = [...streams(models, "b", 400), ...streams(models, "b", 400)];
      await until(() => a.stats().waiting === parallel && b.stats().waiting === parallel);
      process.kill(pidOf(a), signal);
      await until(() => a.process?.isRestarting === true);
      expect(await metrics(models)).toContain('ingle_model_loaded{model="a"} 0');
      await Promise.all([...seen, ...waiting, ...others].map(({ ended }) => ended));

      expect(seen.filter(hasCrashed)).toHaveLength(parallel);
      expect(waiting.filter(isWhole)).toHaveLength(parallel);
      expect(others.filter(isWhole)).toHaveLength(2 * parallel);
      const next = stream(models, "a", 5);
      await next.ended;
      expect(isWhole(next)).toBe(true);
      const text = await metrics(models);
      expect(text).toContain('ingle_engine_crashes_total{model="a"} 1');
      expect(text).toContain('ingle_engine_crashes_total{model="b"} 0');
      expect(text).toContain('ingle_model_loaded{model="a"} 1');
      expect(text).toMatch(/ingle_engine_memory_bytes\{model="b"\} \d{8}/);
      expect(await readdir(path.join(home, "crash-reports"))).toHaveLength(1);
    },
  );
});

it("is not ready while its only model's engine starts again", { timeout: 90_000 }, async () => {
  await using models = await twoModels();
  const { server, a } = models;
  await server.registry.unload("b");
  const pids = [pidOf(a)];
  for (const _ of [1, 2]) {
    process.kill(pidOf(a), "SIGKILL"); // the second restart waits for a second
    await until(() => a.process?.isRestarting === true);
    if (pids.length === 1) await until(() => a.process?.isRestarting === false);
    pids.push(a.process?.pid ?? 0);
  }
  const ready = await fetch(`${server.url}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ status: "restarting", model: "a" });
  const reply = stream(models, "a", 5); // waits for the engine
  await reply.ended;
  expect(isWhole(reply)).toBe(true);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

it("ends the processes of models that are unloaded, and of all models when the server closes", async () => {
  const models = await twoModels();
  const [a, b] = [pidOf(models.a), pidOf(models.b)];
  await models.server.registry.unload("a");
  expect([isRunning(a), isRunning(b)]).toEqual([false, true]);
  await models[Symbol.asyncDispose]();
  expect(isRunning(b)).toBe(false);
});
