// A server with two models whose engines have processes of their own, and sixteen streams over both: for tests that end one of these
// processes. Only its running replies may notice.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { load, type LoadOptions, type Model } from "@ingle/engine";
import { tinyModel, until } from "@ingle/fixtures";
import { ModelRegistry, resolveConfig, serve, type RunningServer } from "@ingle/server";
import { expect, vi } from "vitest";
import { user } from "./real-server.ts";

/** Requests of one model that run at the same time; as many again wait in these tests. */
const parallel = 4;

export interface TwoModels extends AsyncDisposable {
  server: RunningServer;
  a: Model;
  b: Model;
  /** Where the crash reports are written. */
  home: string;
}

/** Two models of this file, a tiny one by default. */
export async function twoModels(options: LoadOptions = {}, given?: string): Promise<TwoModels> {
  const home = await mkdtemp(path.join(tmpdir(), "ingle-crash-"));
  vi.stubEnv("INGLE_HOME", home);
  const config = resolveConfig({ flags: { port: 0 }, env: {} });
  const registry = new ModelRegistry({ ...config.models, waitingMax: config.engine.waitingMax });
  const server = await serve(config, { logger: false, registry });
  const file = given ?? (await tinyModel());
  const model = async (id: string): Promise<Model> =>
    await registry.load(id, () =>
      load(file, {
        engine: "process",
        threads: 1,
        parallel,
        contextLength: 2048,
        stepTimeoutMs: 1_500,
        ...options,
      }),
    );
  const [a, b] = [await model("a"), await model("b")];
  const close = async (): Promise<void> => {
    await server.close({ deadlineMs: 0 });
    vi.unstubAllEnvs();
    await rm(home, { recursive: true });
  };
  return { server, a, b, home, [Symbol.asyncDispose]: close };
}

interface Stream {
  /** Everything that has arrived. */
  text: string;
  /** Resolves at the end. */
  ended: Promise<void>;
}

export function stream({ server }: TwoModels, model: string, maxTokens: number): Stream {
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

export const isWhole = ({ text }: Stream): boolean => text.includes("[DONE]") && !text.includes('"error":{');
export const hasCrashed = ({ text }: Stream): boolean =>
  text.includes('"code":"engine_crashed"') && !text.includes("[DONE]");

async function metrics({ server }: TwoModels): Promise<string> {
  return await (await fetch(`${server.url}/metrics`)).text();
}

/**
 * Ends the process of model `a` while each model has four running and four waiting streams: the running ones of `a` end with
 * `engine_crashed`, the waiting ones and those of `b` are whole, and `a` comes back.
 */
export async function expectOnlyItsStreamsToNotice(
  models: TwoModels,
  endProcess: () => Promise<void> | void,
  /** Of each stream of `b`. */
  tokens = 400,
): Promise<void> {
  const { a, b } = models;
  const seen = streams(models, "a", 1_900);
  await until(() => seen.every(({ text }) => text.includes("content")), 30_000);
  const waiting = streams(models, "a", 6);
  const others = [...streams(models, "b", tokens), ...streams(models, "b", tokens)];
  await until(() => a.stats().waiting === parallel && b.stats().waiting === parallel, 30_000);
  await endProcess();
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
  await onlyReport(models);
}

/** The crash report; fails if there is another one. */
export async function onlyReport({ home }: TwoModels): Promise<unknown> {
  const folder = path.join(home, "crash-reports");
  const files = await readdir(folder);
  expect(files).toHaveLength(1);
  return JSON.parse(await readFile(path.join(folder, files[0] ?? ""), "utf8"));
}
