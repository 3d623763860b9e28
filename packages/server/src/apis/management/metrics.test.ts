import { describe, expect, it } from "vitest";
import { buildApp } from "../../app.ts";
import type { ServerFlags } from "../../config.ts";
import { ModelRegistry } from "../../models/registry.ts";
import { scriptedKnown } from "../../../test/harness/scripted-models.ts";
import {
  scriptedApp,
  scriptedId,
  scriptedServer,
  testConfig,
  type ScriptedApp,
} from "../../../test/harness/scripted-server.ts";

const messages = [{ role: "user", content: "Hi" }];

type Samples = Map<string, number>;

/** Every sample of a scrape by its name and labels, as written. */
function parseSamples(text: string): Samples {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

async function scrape({ app }: { app: Pick<ScriptedApp["app"], "inject"> }): Promise<Samples> {
  const response = await app.inject({ url: "/metrics" });
  expect(response.statusCode).toBe(200);
  return parseSamples(response.body);
}

const chat = ({ app }: ScriptedApp, body: object = {}) =>
  app.inject({
    method: "POST",
    url: "/v1/chat/completions",
    payload: { model: scriptedId, messages, ...body },
  });

describe("/metrics", () => {
  it("has the text format of Prometheus, with help and type for every metric", async () => {
    await using scripted = await scriptedApp();
    const response = await scripted.app.inject({ url: "/metrics" });
    expect(response.headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    const named = (word: string): string[] =>
      [...response.body.matchAll(new RegExp(`^# ${word} (\\S+)`, "gm"))].map(([, name = ""]) => name);
    expect(named("TYPE")).toEqual(named("HELP"));
    expect(named("TYPE").length).toBeGreaterThan(20);
  });

  it("counts requests by route and status, never by path", async () => {
    await using scripted = await scriptedApp();
    await chat(scripted);
    await chat(scripted, { stream: true });
    await chat(scripted, { temperature: -1 });
    await scripted.app.inject({ url: "/v1/models/some/id" });
    await scripted.app.inject({ url: "/no/such/path" });
    const samples = await scrape(scripted);
    const of = (method: string, route: string, status: number): number | undefined =>
      samples.get(`ingle_requests_total{method="${method}",route="${route}",status="${status}"}`);
    expect(of("POST", "/v1/chat/completions", 200)).toBe(2);
    expect(of("POST", "/v1/chat/completions", 400)).toBe(1);
    expect(of("GET", "/v1/models/*", 404)).toBe(1);
    expect(of("GET", "unknown", 404)).toBe(1);
    expect(samples.get('ingle_request_seconds_count{route="/v1/chat/completions"}')).toBe(3);
    expect([...samples.keys()].join("\n")).not.toMatch(/such|some/);
  });

  it.each([false, true])(
    "measures time to first token, tokens and computed tokens (stream: %s)",
    async (stream) => {
      await using scripted = await scriptedApp({ script: { pieces: ["a", "b", "c", "d"], delayMs: 20 } });
      await chat(scripted, { stream });
      const samples = await scrape(scripted);
      const model = `{model="${scriptedId}"}`;
      const readSum = (name: string): number => samples.get(`ingle_${name}_seconds_sum${model}`) ?? 0;
      expect(samples.get(`ingle_time_to_first_token_seconds_count${model}`)).toBe(1);
      expect(samples.get(`ingle_inter_token_seconds_count${model}`)).toBe(3);
      expect(readSum("time_to_first_token")).toBeGreaterThan(0.015);
      expect(readSum("inter_token")).toBeGreaterThan(0.05);
      expect(samples.get("ingle_generated_tokens_total")).toBe(4);
      expect(samples.get("ingle_prompt_tokens_total")).toBe("user: Hi".length);
      expect(samples.get(`ingle_prompt_tokens_cached_total${model}`)).toBe(0);
    },
  );

  it("counts drafted tokens, and accepted ones", async () => {
    await using scripted = await scriptedApp({ script: { drafts: { drafted: 9, accepted: 7 } } });
    await chat(scripted);
    const samples = await scrape(scripted);
    expect(samples.get("ingle_draft_tokens_total")).toBe(9);
    expect(samples.get("ingle_draft_tokens_accepted_total")).toBe(7);
  });

  it("shows the waiting queue, the cache, the event loop and the process", async () => {
    await using scripted = await scriptedServer({ script: { pieces: Array(1000).fill("x"), delayMs: 5 } });
    const body = JSON.stringify({ model: scriptedId, messages, stream: true });
    const headers = { "content-type": "application/json" };
    const leaving = new AbortController();
    const init = { method: "POST", headers, body, signal: leaving.signal };
    const reply = await fetch(`${scripted.server.url}/v1/chat/completions`, init);
    const samples = parseSamples(await (await fetch(`${scripted.server.url}/metrics`)).text());
    expect(samples.get("ingle_requests_running")).toBe(1);
    expect(samples.get("ingle_requests_waiting")).toBe(0);
    expect(samples.get('ingle_step_seconds_total{phase="launch"}')).toBe(0); // a scripted model computes nothing
    expect(samples.get("ingle_requests_in_flight")).toBe(1);
    expect(samples.get("ingle_kv_cells")).toBe(2048);
    expect(samples.get("ingle_preemptions_total")).toBe(0);
    expect(samples.get(`ingle_model_loaded{model="${scriptedId}"}`)).toBe(1);
    expect(samples.get('ingle_event_loop_lag_seconds{stat="max"}')).toBeGreaterThanOrEqual(0);
    expect(samples.get("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect(samples.get("process_cpu_seconds_total")).toBeGreaterThan(0);
    leaving.abort();
    await expect(reply.text()).rejects.toThrow();
    const left = 'ingle_requests_total{method="POST",route="/v1/chat/completions",status="499"}';
    await expect
      .poll(async () => parseSamples(await (await fetch(`${scripted.server.url}/metrics`)).text()).get(left))
      .toBe(1);
  });

  it("has vLLM's names only if they are configured", async () => {
    await using plain = await scriptedApp();
    expect([...(await scrape(plain)).keys()].filter((name) => name.startsWith("vllm:"))).toEqual([]);
    await using scripted = await scriptedApp({ flags: { metricsCompat: "vllm" } });
    const samples = await scrape(scripted);
    const label = `model_name="${scriptedId}"`;
    expect(samples.get(`vllm:num_requests_waiting{${label}}`)).toBe(0);
    expect(samples.get(`vllm:num_requests_running{${label}}`)).toBe(0);
    expect(samples.get(`vllm:kv_cache_usage_perc{${label}}`)).toBe(0);
    expect(samples.get(`vllm:cache_config_info{${label},block_size="64",num_gpu_blocks="32"}`)).toBe(1);
  });

  it("has vLLM's older names, which the router of vLLM's production stack reads", async () => {
    await using scripted = await scriptedApp({
      flags: { metricsCompat: "vllm" },
      script: { cachedTokens: 2 },
    });
    await chat(scripted);
    const samples = await scrape(scripted);
    const of = (name: string) => samples.get(`vllm:gpu_${name}{model_name="${scriptedId}"}`);
    const computed = samples.get("ingle_prompt_tokens_total") ?? 0;
    expect(of("cache_usage_perc")).toBe(samples.get("ingle_kv_usage_ratio"));
    expect(of("prefix_cache_hits_total")).toBe(2);
    expect(of("prefix_cache_queries_total")).toBe(computed + 2);
    expect(of("prefix_cache_hit_rate")).toBeCloseTo(2 / (computed + 2), 9);
  });

  it("has a sample of each before the first load", async () => {
    const config = testConfig({ metricsCompat: "vllm" });
    await using registry = new ModelRegistry({ ...config.models, waitingMax: 9 });
    registry.add(scriptedKnown(scriptedId));
    await using app = await buildApp(config, { registry });
    const samples = await scrape({ app });
    const label = `model_name="${scriptedId}"`;
    for (const name of ["num_requests_waiting", "num_requests_running", "kv_cache_usage_perc"])
      expect(samples.get(`vllm:${name}{${label}}`)).toBe(0);
    expect(samples.get(`vllm:cache_config_info{${label},block_size="64",num_gpu_blocks="0"}`)).toBe(1);
    expect(samples.get("ingle_kv_usage_ratio")).toBe(0);
  });

  it("is generated at most once in 50 ms, however many requests there are", async () => {
    await using scripted = await scriptedApp();
    const text = async () => (await scripted.app.inject({ url: "/metrics" })).body;
    const begin = performance.now();
    const texts = new Set<string>();
    for (let count = 0; count < 100; count += 1) texts.add(await text());
    expect(texts.size).toBeLessThanOrEqual(Math.ceil((performance.now() - begin) / 50));
    await expect.poll(async () => texts.has(await text())).toBe(false);
  });

  it.each<[ServerFlags, withKey: number]>([
    [{}, 403],
    [{ sharePrefixes: true }, 200],
  ])(
    "needs a key where keys are configured, one that may manage models unless all share: %j",
    async (more, withKey) => {
      const flags = { apiKey: ["secret"], adminKey: ["admin"], ...more };
      await using scripted = await scriptedApp({ flags });
      const status = async (key: string) =>
        (await scripted.app.inject({ url: "/metrics", headers: { authorization: `Bearer ${key}` } }))
          .statusCode;
      expect([await status("x"), await status("secret"), await status("admin")]).toEqual([401, withKey, 200]);
    },
  );

  it("needs no key if it is public, while other routes still do", async () => {
    await using scripted = await scriptedApp({ flags: { apiKey: ["secret"], metricsPublic: true } });
    expect((await scripted.app.inject({ url: "/metrics" })).statusCode).toBe(200);
    expect((await scripted.app.inject({ url: "/v1/models" })).statusCode).toBe(401);
    const headers = { host: "evil.example" };
    expect((await scripted.app.inject({ url: "/metrics", headers })).statusCode).toBe(403);
  });

  it("contains nothing of prompts, replies and keys", async () => {
    await using scripted = await scriptedApp({ script: { pieces: ["hidden reply"] } });
    await chat(scripted, { messages: [{ role: "user", content: "hidden prompt" }], user: "hidden" });
    expect((await scripted.app.inject({ url: "/metrics" })).body).not.toContain("hidden");
  });
});
