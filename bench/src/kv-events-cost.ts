// Measures what KV-cache events cost a server: the same load without subscribers, with one, and with two scrapers in addition
// that fetch /metrics every 50 ms. A standalone program:
//
//   npx --yes pnpm@12 exec tsx bench/src/kv-events-cost.ts --model FILE [--rounds 5] [--out bench/results] [--force]
import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "@ingle/fixtures";
import { BenchError } from "./bench-error.ts";
import { startHttpSubject } from "./http-subject.ts";
import { assertIdle, describeMachine, describeModel } from "./machine.ts";
import { makePrompts, measureTokensPerWord, type Prompts } from "./prompts.ts";
import { headLines, markdownTable, writeResults } from "./results.ts";
import { median, percentile, sum } from "./statistics.ts";
import type { StreamRecord, StreamRequest } from "./stream-record.ts";

const modes = ["alone", "followed", "scraped"] as const;
type Mode = (typeof modes)[number];

const clients = 8;
const requestsPerClient = 8;
const systemTexts = 4;
const systemTokens = 250;
const questionTokens = 60;
const replyTokens = 120;
const scrapers = 2;
const scrapeEveryMs = 50;

interface Round {
  mode: Mode;
  tokensPerSecond: number;
  /** The server's processor time per generated token, prompts included. */
  cpuMsPerToken: number;
  cachedTokens: number;
  /** Messages and bytes that the subscriber received. */
  eventBytes: number;
  scrapesMs: number[];
}

const { values: options } = parseArgs({
  options: {
    model: { type: "string" },
    rounds: { type: "string", default: "5" },
    out: { type: "string", default: "bench/results" },
    force: { type: "boolean", default: false },
  },
});
if (options.model === undefined) throw new BenchError("Name a model file with --model.");
const model = path.resolve(options.model);
const [machine, modelFile] = [await describeMachine(), await describeModel(model)];
const busyShare = await assertIdle({ force: options.force });
const tokensPerWord = await measureTokensPerWord(model);
const startedAt = new Date();
const rounds: Round[] = [];
for (let round = 0; round < Number(options.rounds); ++round) {
  for (const mode of modes) {
    const measured = await measure(mode, makePrompts(round, tokensPerWord));
    process.stderr.write(`${round} ${mode} ${measured.tokensPerSecond.toFixed(1)} tokens/s\n`);
    rounds.push(measured);
  }
}
const conditions = {
  startedAt,
  machine,
  model: modelFile,
  threads: machine.cores,
  seed: 0,
  wasForced: options.force,
};
const lines = headLines(conditions, [
  `medians of ${options.rounds} rounds that alternate between the modes, with the least and the most`,
  `${Math.round(100 * busyShare)} % of the cores were busy before`,
]);
const markdown = `${lines.join("\n")}\n\n${markdownTable(table())}\n`;
await writeResults(
  options.out,
  { name: "followed", startedAt },
  { json: { ...conditions, busyShare, rounds }, markdown },
);
process.stdout.write(markdown);

async function measure(mode: Mode, prompts: Prompts): Promise<Round> {
  const eventsPort = await freePort();
  const events = mode === "alone" ? [] : ["--kv-events", `tcp://127.0.0.1:${eventsPort}`];
  const stop = new AbortController();
  await using server = await startHttpSubject(
    "ingle",
    { model, threads: machine.cores, slots: clients, signal: stop.signal },
    ["--metrics-compat", "vllm", ...events],
  );
  const follower = mode === "alone" ? undefined : await follow(eventsPort);
  const scraped = new AbortController();
  const texts = Array.from({ length: systemTexts }, () => prompts.text(systemTokens));
  await server.stream(question("Warm up.", prompts.text(20)));
  const before = await server.usage();
  const scraping =
    mode === "scraped" ? Array.from({ length: scrapers }, () => scrape(server.url, scraped.signal)) : [];
  const beganMs = performance.now();
  const all = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const records: StreamRecord[] = [];
      for (let i = 0; i < requestsPerClient; ++i) {
        const system = texts[(client + i) % texts.length] ?? "";
        records.push(await server.stream(question(system, prompts.text(questionTokens))));
      }
      return records;
    }),
  );
  const seconds = (performance.now() - beganMs) / 1000;
  const after = await server.usage();
  scraped.abort();
  const scrapesMs = (await Promise.all(scraping)).flat();
  const eventBytes = follower?.bytesRead ?? 0;
  follower?.destroy();
  const tokens = sum(all.flat().map(({ completionTokens }) => completionTokens));
  return {
    mode,
    tokensPerSecond: tokens / seconds,
    cpuMsPerToken: (1000 * ((after?.cpuSeconds ?? Number.NaN) - (before?.cpuSeconds ?? Number.NaN))) / tokens,
    cachedTokens: sum(all.flat().map(({ reusedTokens }) => reusedTokens)),
    eventBytes,
    scrapesMs,
  };
}

function question(system: string, text: string): StreamRequest {
  const messages = [
    { role: "system" as const, content: system },
    { role: "user" as const, content: text },
  ];
  return { messages, maxTokens: replyTokens };
}

/** A ZMTP 3.0 subscriber that only reads. */
async function follow(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  const greeting = Buffer.alloc(64);
  greeting.set([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0]);
  greeting.write("NULL", 12, "latin1");
  const ready = Buffer.from("\x05READY\x0bSocket-Type\0\0\0\x03SUB", "latin1");
  socket.write(
    Buffer.concat([greeting, Buffer.from([4, ready.length]), ready, Buffer.from("\0\x04\x01kv@", "latin1")]),
  );
  socket.resume();
  await new Promise<void>((resolve, reject) => {
    socket.once("data", () => resolve());
    socket.once("error", reject);
  });
  return socket;
}

/** Scrapes like a router, on one connection; a scrape that takes longer than the interval delays the next. */
async function scrape(url: string, signal: AbortSignal): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const took: number[] = [];
  while (!signal.aborted) {
    const beganMs = performance.now();
    const status = await fetchStatus(`${url}/metrics`, agent);
    if (status !== 200) throw new BenchError(`/metrics responded with ${status}.`);
    const ms = performance.now() - beganMs;
    took.push(ms);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, scrapeEveryMs - ms)));
  }
  agent.destroy();
  return took;
}

async function fetchStatus(url: string, agent: Agent): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
    }).once("error", reject);
  });
}

function table(): string[][] {
  const rows = modes.map((mode) => {
    const own = rounds.filter((round) => round.mode === mode);
    const of = (value: (round: Round) => number): string => {
      const all = own.map(value);
      return `${median(all).toFixed(2)} (${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)})`;
    };
    const scrapes = own.flatMap(({ scrapesMs }) => scrapesMs);
    const times = [50, 99].map((percent) => percentile(scrapes, percent).toFixed(2)).join(", ");
    return [
      mode,
      of(({ tokensPerSecond }) => tokensPerSecond),
      of(({ cpuMsPerToken }) => cpuMsPerToken),
      of(({ eventBytes }) => eventBytes / 1000),
      scrapes.length === 0 ? "" : times,
    ];
  });
  return [["", "tokens/s", "ms of processor per token", "events, kB", "scrape: median, p99 in ms"], ...rows];
}
