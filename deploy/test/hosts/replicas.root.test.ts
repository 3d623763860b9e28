// Three replicas behind nginx and behind HAProxy, with the files of deploy/proxy: every host has its own namespace.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ChatMessage } from "@ingle/client";
import { seededRandom, tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatOutcome } from "./client-messages.ts";
import { startClient, type HostClient } from "./client.ts";
import { createNetwork, type Network } from "./namespaces.ts";
import {
  makeCertificate,
  proxyFiles,
  publicName,
  replicaAddresses,
  roundRobinPort,
  startProxy,
  type ProxyName,
} from "./proxies.ts";
import { Replica } from "./replica.ts";

const proxyNames = ["nginx", "haproxy"] as const;
const proxyAddresses: Record<ProxyName, string> = { nginx: "10.77.0.2", haproxy: "10.77.0.3" };
const clientAddresses: Record<ProxyName, string> = { nginx: "10.77.0.22", haproxy: "10.77.0.23" };
const apiKey = "the-first-key-of-this-test";
const otherKey = "the-second-key-of-this-test";
const bodyBytesMax = 32 * 1024 * 1024;

let folder: string;
let network: Network;
let replicas: Replica[];
let certificate: string;
const clients = {} as Record<ProxyName, HostClient>;
let roundRobin: HostClient;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-replicas-"));
  const tls = await makeCertificate();
  certificate = path.join(folder, "certificate.pem");
  await writeFile(certificate, tls.certificate);
  const replicaHosts = replicaAddresses.map(
    (address, index) => [`replica${index + 1}`, { address }] as const,
  );
  const proxyHosts = await Promise.all(
    proxyNames.map(
      async (name) => [name, { address: proxyAddresses[name], etc: await proxyFiles(name, tls) }] as const,
    ),
  );
  const clientHosts = proxyNames.flatMap((name) => [
    [`client-${name}`, { address: clientAddresses[name], etc: hostsFile(name) }] as const,
    [`guesser-${name}`, { address: `${clientAddresses[name]}0`, etc: hostsFile(name) }] as const,
  ]);
  network = await createNetwork(Object.fromEntries([...replicaHosts, ...proxyHosts, ...clientHosts]));
  // Replies must last while a test looks at them: with fewer layers, a queue would be empty before its length was asked for.
  const model = await tinyModel({ contextLength: 4096, layers: 16 });
  const sizes = "--parallel 8 --ctx 2048 --cache-ram 64".split(" ");
  const trust = ["--allow-host", publicName, "--trust-proxy", ...Object.values(proxyAddresses)];
  const flags = [...sizes, ...trust];
  replicas = replicaAddresses.map(
    (address, index) =>
      new Replica({
        network,
        host: `replica${index + 1}`,
        address,
        home: path.join(folder, `home${index + 1}`),
        model,
        apiKey: `${apiKey},${otherKey}`,
        flags,
      }),
  );
  await Promise.all(replicas.map((replica) => replica.start()));
  for (const name of proxyNames) clients[name] = await clientOn(`client-${name}`);
  roundRobin = await clientOn("client-nginx", `http://${proxyAddresses.nginx}:${roundRobinPort}`);
});

afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

function hostsFile(name: ProxyName): { hosts: string } {
  return { hosts: `127.0.0.1 localhost\n${proxyAddresses[name]} ${publicName}\n` };
}

function clientOn(host: string, baseUrl = `https://${publicName}`): Promise<HostClient> {
  return startClient({ network, host, baseUrl, model: "tiny", certificate });
}

/** Random words by seed. No other test uses the same seed, so no part of the text is cached. */
function randomText(seed: string, words: number): string {
  const random = seededRandom(17, seed);
  return Array.from({ length: words }, () => `word${random.uint32() % 5000}`).join(" ");
}

/** How many generation requests each replica has served since its start. */
function countRequests(client: HostClient): Promise<number[]> {
  return Promise.all(
    replicas.map((replica) => replica.metric(client, "ingle_requests_total", "/v1/chat/completions")),
  );
}

interface TurnOutcome extends ChatOutcome {
  turn: number;
}

/** Conversations of several turns, one request at a time: the first turn of each, then the second turn of each, and so on. */
async function converse(
  client: HostClient,
  options: { name: string; sessions: number; turns: number; hasSessionId: boolean },
): Promise<TurnOutcome[]> {
  const { name, sessions, turns, hasSessionId } = options;
  const histories = Array.from({ length: sessions }, (_, session): ChatMessage[] => [
    { role: "system", content: randomText(`${name} system ${session}`, 120) },
  ]);
  const outcomes: TurnOutcome[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [session, history] of histories.entries()) {
      const content = randomText(`${name} ${session} ${turn}`, 10);
      const asked = client.chat({
        content,
        history,
        maxTokens: 8,
        isStream: true,
        apiKey,
        ...(hasSessionId ? { session: `${name}-${session}` } : {}),
      });
      const outcome = await asked.outcome;
      expect(outcome).toMatchObject({ isWhole: true, error: null });
      outcomes.push({ ...outcome, turn });
      history.push({ role: "user", content }, { role: "assistant", content: outcome.text });
    }
  }
  return outcomes;
}

/** The fraction of cached prompt tokens in all turns after the first. */
function cachedShare(outcomes: readonly TurnOutcome[]): number {
  const later = outcomes.filter(({ turn }) => turn > 0);
  const total = (key: "cachedTokens" | "promptTokens") =>
    later.reduce((sum, outcome) => sum + outcome[key], 0);
  return total("cachedTokens") / total("promptTokens");
}

function medianFirstMs(outcomes: readonly TurnOutcome[]): number {
  const sorted = outcomes
    .filter(({ turn }) => turn > 0)
    .map(({ firstMs }) => firstMs)
    .toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

interface Load {
  /** The number of replies so far. */
  count(): number;
  /** Stops the load after its running requests, and resolves with all outcomes. */
  stop(): Promise<ChatOutcome[]>;
}

/** Clients that send requests one after another: short and long replies, streamed or not, with a session or without. */
function startLoad(client: HostClient, { maxRetries }: { maxRetries: number }): Load {
  const outcomes: ChatOutcome[] = [];
  const stopping = new AbortController();
  const worker = async (number: number): Promise<void> => {
    for (let request = 0; !stopping.signal.aborted; request += 1) {
      const isLong = number === 0;
      const asked = client.chat({
        content: randomText(`load ${number} ${request}`, 8),
        maxTokens: isLong ? 300 : 16,
        isStream: isLong || (number + request) % 2 === 0,
        apiKey,
        maxRetries,
        ...(number % 2 === 0 ? { session: `load-${number}-${request % 5}` } : {}),
      });
      outcomes.push(await asked.outcome);
    }
  };
  const workers = Promise.all(Array.from({ length: 6 }, (_, number) => worker(number)));
  const stop = async (): Promise<ChatOutcome[]> => {
    stopping.abort();
    await workers;
    return outcomes;
  };
  return { count: () => outcomes.length, stop };
}

function collectErrors(outcomes: readonly ChatOutcome[]): (string | null)[] {
  return outcomes.filter(({ isWhole }) => !isWhole).map(({ error }) => error);
}

/** TCP keepalive, as in haproxy.cfg: probe after 10 seconds of silence, three times within 9. For nginx, it is a system setting. */
async function keepAliveSoon(host: string): Promise<void> {
  const values = { time: 10, intvl: 3, probes: 3 };
  for (const [key, value] of Object.entries(values)) {
    const file = `/proc/sys/net/ipv4/tcp_keepalive_${key}`;
    const setting = await network.run(host, "sh", ["-c", `echo ${value} > ${file}`]);
    expect(await setting.ended).toBe(0);
  }
}

describe.each(proxyNames)("behind %s", (name) => {
  // Not earlier: this proxy would see the other proxy's tests stop replicas.
  beforeAll(async () => {
    await startProxy(network, name, name);
  });

  it("passes on each token at once", async () => {
    const asked = clients[name].chat({ content: "go", maxTokens: 400, isStream: true, apiKey });
    const { isWhole, firstMs, totalMs } = await asked.outcome;
    expect(isWhole).toBe(true);
    expect(firstMs).toBeLessThan(totalMs / 2);
  });

  it("keeps a conversation on the replica that has it in its prefix cache", async () => {
    const client = clients[name];
    const used = new Set<number>();
    for (let session = 0; session < 5; session += 1) {
      const before = await countRequests(client);
      const options = { name: `${name} affinity ${session}`, sessions: 1, turns: 4, hasSessionId: true };
      const outcomes = await converse(client, options);
      const after = await countRequests(client);
      const shares = after.map((count, index) => count - (before[index] ?? 0));
      expect(shares.toSorted((a, b) => a - b)).toEqual([0, 0, 4]);
      expect(cachedShare(outcomes)).toBeGreaterThan(0.8);
      used.add(shares.indexOf(4));
    }
    expect(used.size).toBeGreaterThan(1);
  });

  it("spreads requests without a session over all replicas", async () => {
    const client = clients[name];
    const before = await countRequests(client);
    const asked = Array.from({ length: 12 }, (_, index) =>
      client.chat({
        content: randomText(`${name} spread ${index}`, 5),
        maxTokens: 32,
        isStream: false,
        apiKey,
      }),
    );
    await Promise.all(asked.map(({ outcome }) => outcome));
    const after = await countRequests(client);
    for (const [index, count] of after.entries()) expect(count - (before[index] ?? 0)).toBeGreaterThan(0);
  });

  it("accepts bodies up to Ingle's limit, and no larger ones", async () => {
    const url = `https://${publicName}/v1/chat/completions`;
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const send = (bytes: number) => clients[name].http({ url, method: "POST", headers, body: { bytes } });
    expect((await send(bodyBytesMax)).status).toBe(400);
    // HAProxy may close the connection while the client is still sending; the client then gets an error instead of the response.
    const larger = send(bodyBytesMax + 1).then(
      ({ status }) => status,
      (error: Error) =>
        name === "haproxy" && /EPIPE|other side closed|ECONNRESET/.test(error.message) ? 413 : error,
    );
    expect(await larger).toBe(413);
  });

  it("sends the client's real address to replicas, whatever the client claims", async () => {
    const url = `https://${publicName}/v1/models`;
    const guesser = await clientOn(`guesser-${name}`);
    const ask = async (client: HostClient, key: string, index = 0): Promise<number> => {
      const headers = {
        authorization: `Bearer ${key}`,
        "x-session-id": `${name} wrong keys`,
        "x-forwarded-for": `192.0.2.${index}`,
      };
      return (await client.http({ url, headers })).status;
    };
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect(await ask(guesser, `not-a-key-of-anybody-${attempt}`, attempt)).toBe(401);
    // This address is locked out after its wrong keys; another one is not.
    expect(await ask(guesser, "not-a-key-of-anybody-10", 10)).toBe(429);
    expect(await ask(clients[name], "not-a-key-of-anybody-11")).toBe(401);
    expect(await ask(clients[name], apiKey)).toBe(200);
  });

  it("gives each key its share of a replica's queue", async () => {
    const client = clients[name];
    const session = `${name} shares`;
    const served: string[] = [];
    const ask = async (key: string, index: number): Promise<void> => {
      const content = randomText(`${name} share ${key} ${index}`, 5);
      const asked = client.chat({ content, maxTokens: 100, isStream: false, apiKey: key, session });
      expect(collectErrors([await asked.outcome])).toEqual([]);
      served.push(key);
    };
    const crowd = Array.from({ length: 40 }, (_, index) => ask(apiKey, index));
    const waiting = (): Promise<number[]> =>
      Promise.all(replicas.map((replica) => replica.metric(client, "ingle_requests_waiting")));
    await expect.poll(async () => Math.max(...(await waiting())), { interval: 20 }).toBeGreaterThan(20);
    await Promise.all([...crowd, ask(otherKey, 0)]);
    // After all of the other key's requests, it would be the last of 41.
    expect(served.indexOf(otherKey)).toBeLessThan(30);
  });

  it("loses no request and breaks no stream while its replicas are restarted one after another", async () => {
    const client = clients[name];
    const load = startLoad(client, { maxRetries: 0 });
    for (const replica of replicas) {
      expect(await replica.drain()).toBe(0);
      await replica.start();
      const isUsed = async () =>
        (await replica.metric(client, "ingle_requests_total", "/v1/chat/completions")) > 0;
      await expect.poll(isUsed).toBe(true);
    }
    await expect.poll(() => load.count(), { timeout: 60_000 }).toBeGreaterThan(300);
    const outcomes = await load.stop();
    expect(collectErrors(outcomes)).toEqual([]);
    process.stdout.write(`${name}: three restarts under load, ${outcomes.length} replies, all whole\n`);
  });

  it("loses only the streams of a killed replica, and the client library hides all other failures", async () => {
    const client = clients[name];
    const streams = Array.from({ length: 9 }, (_, index) =>
      client.chat({
        content: randomText(`${name} killed ${index}`, 5),
        maxTokens: 600,
        isStream: true,
        apiKey,
        session: `${name}-killed-${index}`,
      }),
    );
    expect(await Promise.all(streams.map(({ begun }) => begun))).not.toContain(false);
    const running = await Promise.all(
      replicas.map((replica) => replica.metric(client, "ingle_requests_running")),
    );
    expect(running.reduce((sum, count) => sum + count, 0)).toBe(streams.length);
    const load = startLoad(client, { maxRetries: 2 });
    await expect.poll(() => load.count()).toBeGreaterThan(5);
    const victim = replicas[running.indexOf(Math.max(...running))];
    await victim?.kill();
    const lost = collectErrors(await Promise.all(streams.map(({ outcome }) => outcome)));
    const replies = load.count();
    await expect.poll(() => load.count()).toBeGreaterThan(replies + 20);
    expect(lost).toHaveLength(Math.max(...running));
    // The load, too, loses only streams that had begun on the killed replica.
    const cut = (await load.stop()).filter(({ isWhole }) => !isWhole);
    expect(collectErrors(cut.filter(({ isStream, text }) => !isStream || text === ""))).toEqual([]);
    process.stdout.write(
      `${name}: a killed replica cost ${lost.length} of 9 streams and ${cut.length} of the load\n`,
    );
    await victim?.start();
  });

  it("ends the replies of a replica that lost its network, and uses the others", async () => {
    const client = clients[name];
    await keepAliveSoon(name);
    const streams = Array.from({ length: 6 }, (_, index) =>
      client.chat({
        content: randomText(`${name} unplugged ${index}`, 5),
        maxTokens: 600,
        isStream: true,
        apiKey,
        session: `${name}-unplugged-${index}`,
      }),
    );
    expect(await Promise.all(streams.map(({ begun }) => begun))).not.toContain(false);
    const running = await Promise.all(
      replicas.map((replica) => replica.metric(client, "ingle_requests_running")),
    );
    const victim = running.indexOf(Math.max(...running));
    await network.setPlugged(`replica${victim + 1}`, false);
    try {
      const asked = Array.from({ length: 9 }, (_, index) =>
        client.chat({
          content: randomText(`${name} past ${index}`, 5),
          maxTokens: 8,
          isStream: false,
          apiKey,
        }),
      );
      expect(collectErrors(await Promise.all(asked.map(({ outcome }) => outcome)))).toEqual([]);
      const lost = (await Promise.all(streams.map(({ outcome }) => outcome))).filter(
        ({ isWhole }) => !isWhole,
      );
      expect(lost).toHaveLength(running[victim] ?? 0);
      // The proxy ends them long before the client times out.
      for (const { totalMs } of lost) expect(totalMs).toBeLessThan(45_000);
    } finally {
      await network.setPlugged(`replica${victim + 1}`, true);
    }
  });
});

it("routing by session finds prompts in the cache that round robin computes again", async () => {
  const workload = { sessions: 11, turns: 4 };
  const scattered = await converse(roundRobin, { ...workload, name: "scattered", hasSessionId: false });
  const affine = await converse(clients.nginx, { ...workload, name: "affine", hasSessionId: true });
  const row = (how: string, outcomes: TurnOutcome[]): string =>
    `${how}: ${(100 * cachedShare(outcomes)).toFixed(1)} % of later prompts from the cache, median time to first token ` +
    `${medianFirstMs(outcomes).toFixed(1)} ms\n`;
  process.stdout.write(row("round robin", scattered) + row("by session", affine));
  expect(cachedShare(affine)).toBeGreaterThan(0.8);
  expect(cachedShare(scattered)).toBeLessThan(cachedShare(affine) / 1.5);
});
