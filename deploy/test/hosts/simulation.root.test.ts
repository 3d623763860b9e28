// Compares the simulation of bench with three real replicas behind nginx, in namespaces: measures the replicas' service times, then sends
// the same requests at the same times to the cluster and to the simulation.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { withPromptsBeside, type BesideSample } from "@ingle/bench/prompts-beside-replies";
import {
  fitServiceTimes,
  type PromptSample,
  type ReplySample,
  type ServiceTimes,
} from "@ingle/bench/service-times";
import { fixedReplicas, simulate } from "@ingle/bench/simulation";
import { Script, type ScriptedRequest } from "@ingle/bench/workload";
import { seededRandom, tinyModel } from "@ingle/fixtures";
import { expect, it } from "vitest";
import { startClient, type HostClient } from "./client.ts";
import { canLimitProcessors, createNetwork, type Network } from "./namespaces.ts";
import {
  makeCertificate,
  proxyFiles,
  publicName,
  replicaAddresses,
  roundRobinPort,
  startProxy,
} from "./proxies.ts";
import { Replica } from "./replica.ts";

const apiKey = "the-only-key-of-this-test";
const proxyAddress = "10.77.0.2";
const size = { parallel: 2, kvTokens: 2 * 1024 };
/** The fraction of a core for each replica: together they leave enough of two cores for the proxy and the client. */
const replicaShare = 0.3;
const proxyShare = 0.3;
const clientShare = 0.5;
/** The duration of the script, and the fraction of the replicas' time that its requests use. */
const scriptMs = 30_000;
const load = 0.75;
/**
 * The tolerance of a simulated mean, median or 90th percentile: a fraction of the measured one, or milliseconds. Means and medians are
 * mostly within a twentieth; the 90th percentile depends on a tenth of the requests, so a short disturbance by other processes shows.
 */
const bound = { part: 1 / 3, ms: 30 };
/** The number of attempts: if other processes slow down the cluster after its measurement, everything is repeated. */
const attemptsMax = 3;

const limitsProcessors = await canLimitProcessors();

interface Times {
  firstMs: number;
  totalMs: number;
}

/** A prompt of about this many tokens with a unique prefix: each number is a few tokens. */
function randomPrompt(seed: string, tokens: number): string {
  const random = seededRandom(23, seed);
  return Array.from(
    { length: Math.max(1, Math.round(tokens / 4.2)) },
    () => 100 + (random.uint32() % 900),
  ).join(" ");
}

interface Asked {
  seed: string;
  promptTokens: number;
  replyTokens: number;
  /** Default: the proxy, which chooses a replica. */
  baseUrl?: string;
}

interface AskedTimes extends Times {
  computedTokens: number;
}

function startAsking(
  client: HostClient,
  asked: Asked,
): { begun: Promise<boolean>; times: Promise<AskedTimes> } {
  const { seed, promptTokens, replyTokens, baseUrl } = asked;
  const request = {
    content: randomPrompt(seed, promptTokens),
    maxTokens: replyTokens,
    isStream: true,
    apiKey,
  };
  const { begun, outcome } = client.chat(baseUrl === undefined ? request : { ...request, baseUrl });
  const times = outcome.then((ended) => {
    expect(ended).toMatchObject({ isWhole: true, error: null });
    return { ...ended, computedTokens: ended.promptTokens - ended.cachedTokens };
  });
  return { begun, times };
}

function ask(client: HostClient, asked: Asked): Promise<AskedTimes> {
  return startAsking(client, asked).times;
}

interface Samples {
  prompts: PromptSample[];
  replies: ReplySample[];
  beside: BesideSample[];
  /** The intended and the actual numbers of prompt tokens. */
  wanted: number;
  real: number;
}

/** Measures a replica's service times. All replicas are measured at the same time, because cores of one machine slow each other down. */
async function measure(client: HostClient, baseUrl: string, name: string, samples: Samples): Promise<void> {
  await ask(client, { seed: `${name} warm-up`, promptTokens: 50, replyTokens: 8, baseUrl });
  for (const promptTokens of [20, 60, 120, 180]) {
    const seed = `${name} prompt ${samples.prompts.length}`;
    const { firstMs, computedTokens } = await ask(client, { seed, promptTokens, replyTokens: 1, baseUrl });
    samples.prompts.push({ promptTokens: computedTokens, firstMs });
    samples.wanted += promptTokens;
    samples.real += computedTokens;
  }
  for (const crowd of [1, 2]) {
    const asked = Array.from({ length: crowd }, (_, index) => {
      const seed = `${name} crowd ${samples.replies.length} ${index}`;
      return ask(client, { seed, promptTokens: 8, replyTokens: 32, baseUrl });
    });
    for (const times of await Promise.all(asked))
      samples.replies.push({ ...times, replies: crowd, tokens: 32 });
  }
  samples.beside.push(await measureBeside(client, baseUrl, `${name} beside ${samples.beside.length}`));
}

/** A prompt that arrives while a reply is running. */
async function measureBeside(client: HostClient, baseUrl: string, name: string): Promise<BesideSample> {
  const [promptTokens, replyTokens] = [8, 64];
  const sentAt = performance.now();
  const reply = startAsking(client, { seed: `${name} reply`, promptTokens, replyTokens, baseUrl });
  expect(await reply.begun).toBe(true);
  const at = performance.now() - sentAt;
  const prompt = await ask(client, { seed: `${name} prompt`, promptTokens: 60, replyTokens: 1, baseUrl });
  const { computedTokens, totalMs } = await reply.times;
  expect(totalMs).toBeGreaterThan(at + prompt.firstMs);
  return {
    running: { at: 0, session: 0, promptTokens: computedTokens, replyTokens },
    arriving: { at, session: 1, promptTokens: prompt.computedTokens, replyTokens: 1 },
    firstMs: prompt.firstMs,
  };
}

function serviceTimes(samples: Samples): ServiceTimes {
  return withPromptsBeside(fitServiceTimes(size, samples), samples.beside);
}

/** Random requests at random times, as many as the load requires. */
function script(
  service: ServiceTimes,
  scaleTokens: (wanted: number) => number,
): (ScriptedRequest & { wanted: number })[] {
  const random = seededRandom(31, "script");
  const unit = (): number => (random.uint32() + 1) / 2 ** 32;
  const requests: (ScriptedRequest & { wanted: number })[] = [];
  const stepMs = service.decodeSteps.at(-1)?.ms ?? Number.NaN;
  // A prompt of 60 tokens and a reply of 32, two at a time.
  const workMs = (32 * stepMs) / size.parallel + scaleTokens(60) * service.promptTokenMs + service.requestMs;
  const meanGapMs = workMs / (replicaAddresses.length * load);
  let at = 0;
  for (let session = 0; ; session += 1) {
    at -= Math.log(unit()) * meanGapMs;
    if (at > scriptMs) return requests;
    const wanted = 20 + Math.floor(unit() * 80);
    requests.push({
      at,
      session,
      wanted,
      promptTokens: scaleTokens(wanted),
      replyTokens: 4 + Math.floor(unit() * 56),
    });
  }
}

/** Sends each request at its time, independent of earlier ones. */
async function replay(
  client: HostClient,
  requests: readonly (ScriptedRequest & { wanted: number })[],
  name: string,
): Promise<Times[]> {
  const startedAt = performance.now();
  const running: Promise<Times>[] = [];
  for (const { at, session, wanted, replyTokens } of requests) {
    await new Promise((resolve) => setTimeout(resolve, startedAt + at - performance.now()));
    running.push(ask(client, { seed: `${name} ${session}`, promptTokens: wanted, replyTokens }));
  }
  return await Promise.all(running);
}

function summarize(times: readonly Times[], key: keyof Times): Record<string, number> {
  const sorted = times.map((one) => one[key]).toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN;
  return { mean: sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length, p50: at(0.5), p90: at(0.9) };
}

async function startCluster(network: Network, home: string): Promise<{ client: HostClient; urls: string[] }> {
  const model = await tinyModel({ embedding: 256, feedForward: 1024, layers: 48, weights: "f16" });
  const flags = "--parallel 2 --ctx 1024 --cache-ram 0 --allow-host".split(" ");
  const replicas = replicaAddresses.map(
    (address, index) =>
      new Replica({
        network,
        host: `replica${index + 1}`,
        address,
        home: path.join(home, `${index}`),
        model,
        apiKey,
        flags: [...flags, publicName],
        processorShare: replicaShare,
      }),
  );
  await Promise.all(replicas.map((replica) => replica.start()));
  await startProxy(network, "nginx", "proxy", { processorShare: proxyShare });
  const baseUrl = `http://${proxyAddress}:${roundRobinPort}`;
  const client = await startClient({
    network,
    host: "client",
    baseUrl,
    model: "tiny",
    processorShare: clientShare,
  });
  return { client, urls: replicas.map(({ url }) => url) };
}

interface Compared {
  what: string;
  measured: number;
  simulated: number;
}

/** Measures the replicas before and after the requests, and simulates the requests with the measured times. */
async function compare(client: HostClient, urls: readonly string[], name: string): Promise<Compared[]> {
  const samples: Samples = { prompts: [], replies: [], beside: [], wanted: 0, real: 0 };
  const measureAll = (when: string) =>
    Promise.all(urls.map((url) => measure(client, url, `${name} ${when} ${url}`, samples)));
  await measureAll("before");
  const scaleTokens = (wanted: number): number => Math.round((wanted * samples.real) / samples.wanted);
  const requests = script(serviceTimes(samples), scaleTokens);
  const real = await replay(client, requests, name);
  await measureAll("after");
  const service = serviceTimes(samples);
  const rules = fixedReplicas(urls.length, { routing: "round-robin" });
  const simulated: Times[] = [];
  simulate({ service, rules, source: new Script(requests), onEnd: (request) => simulated.push(request) });
  expect(simulated).toHaveLength(real.length);
  const { decodeSteps, promptTokenMs, requestMs, besideTokenMs } = service;
  const measured = JSON.stringify({
    requests: requests.length,
    decodeSteps,
    promptTokenMs,
    requestMs,
    besideTokenMs,
  });
  process.stdout.write(`${name}: ${measured}\n`);
  return (["firstMs", "totalMs"] as const).flatMap((key) => {
    const [ofCluster, ofSimulation] = [summarize(real, key), summarize(simulated, key)];
    return Object.entries(ofCluster).map(([figure, ms]) => ({
      what: `${key} ${figure}`,
      measured: Math.round(ms),
      simulated: Math.round(ofSimulation[figure] ?? Number.NaN),
    }));
  });
}

function isOff({ measured, simulated }: Compared): boolean {
  return !(Math.abs(simulated - measured) <= Math.max(bound.part * measured, bound.ms));
}

// Without CPU limits, three replicas on two cores would slow each other down, unlike replicas on separate machines.
it.runIf(limitsProcessors)("the simulation predicts the times of a small real cluster", async () => {
  const home = await mkdtemp(path.join(tmpdir(), "ingle-simulation-"));
  try {
    const replicas = replicaAddresses.map((address, index) => [`replica${index + 1}`, { address }]);
    await using network = await createNetwork({
      ...Object.fromEntries(replicas),
      proxy: { address: proxyAddress, etc: await proxyFiles("nginx", await makeCertificate()) },
      client: { address: "10.77.0.22" },
    });
    const { client, urls } = await startCluster(network, home);
    let compared: Compared[] = [];
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      compared = await compare(client, urls, `attempt ${attempt}`);
      for (const { what, measured, simulated } of compared)
        process.stdout.write(`${what}: ${measured} ms measured, ${simulated} ms simulated\n`);
      if (!compared.some(isOff)) break;
    }
    expect(compared.filter(isOff)).toEqual([]);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
