// Measures servers on this machine for scripts/gpu-check/run.ts: many replies at once, contexts of unequal lengths, prompts, sizes of
// steps, and types of the KV cache.
import { whileBusy, type Busy } from "./busy.ts";
import { phaseNames, scrapeStepTotals, stepFigures, type StepFigures } from "./figures.ts";
import { startHttpSubject, type HttpSubject } from "../http-subject.ts";
import { readProcessUsage } from "../machine.ts";
import { makePrompts } from "../prompts.ts";
import { median } from "../statistics.ts";
import { gaps, timeToFirstToken, totalSpeed, userRequest, type StreamRecord } from "../stream-record.ts";
import { streamAll } from "../subject.ts";

export type Row = readonly string[];

export interface Subject {
  model: string;
  /** The program, for servers whose name begins with it. */
  llamaServer: string;
  /** A processor stands in for the card: few and short. */
  isSmall: boolean;
}

/** What is measured: on a card, and where a processor stands in. */
const counts = { card: [1, 8, 32, 64, 128], small: [1, 4] };
const promptLengths = { card: [512, 8_192], small: [64, 256] };
const replyTokens = { card: 128, small: 16 };
const stepSizes = { card: [512, 1_024, 2_048, 4_096], small: [64, 128] };
/** Users with contexts from the shortest to the longest, evenly. */
const unequal = {
  card: { users: 64, shortest: 200, longest: 8_000 },
  small: { users: 4, shortest: 20, longest: 200 },
};
const kvTypes = ["16", "8", "4", "3"];
const repliesOfKvTypes = 8;
/** Of the invented words, in most vocabularies; the reports show how many tokens there were. */
const tokensPerWord = 2.6;
const shortPrompt = 100;
const spareTokens = 512;
const rounds = 2;

/** Flags beside those that all measurements have. */
const serverFlags: Readonly<Record<string, readonly string[]>> = {
  ingle: [],
  streams: ["--no-kv-unified"],
  "llama-server": ["-fa", "on"],
};

interface Sizes {
  slots: number;
  /** Of one request, in tokens. */
  context: number;
}

async function start(
  name: string,
  { model, llamaServer }: Subject,
  { slots, context }: Sizes,
  more: readonly string[],
) {
  const isPeer = name === "llama-server";
  const sizes = isPeer ? ["--ctx-size", String(slots * context)] : [`--ctx=${context}`];
  const options = { model, threads: 4, slots, llamaServer, signal: new AbortController().signal };
  return await startHttpSubject(isPeer ? "llama-server" : "ingle", options, [
    ...sizes,
    ...(serverFlags[name] ?? []),
    ...more,
  ]);
}

/** With as many slots as the device has memory for. */
async function startLargest(name: string, subject: Subject, most: number, context: number) {
  for (let slots = most; ; slots = Math.floor(slots / 2)) {
    try {
      return { slots, server: await start(name, subject, { slots, context }, []) };
    } catch (error) {
      if (slots <= 1) throw error;
    }
  }
}

interface Figures {
  speed: number;
  gapMs: number;
  firstMs: number;
  cpuMsPerToken: number;
  busy: Busy;
}

/** Replies to new prompts, one for each length. */
async function ask(
  server: HttpSubject,
  seed: number,
  lengths: readonly number[],
  tokens: number,
): Promise<Figures> {
  const prompts = makePrompts(seed, tokensPerWord);
  const before = await readProcessUsage(server.pid);
  const requests = lengths.map((length) => userRequest(prompts.text(length), tokens));
  const { result: records, busy } = await whileBusy(server.pid, new AbortController().signal, () =>
    streamAll(server, requests),
  );
  const after = await readProcessUsage(server.pid);
  const seconds = (after?.cpuSeconds ?? Number.NaN) - (before?.cpuSeconds ?? 0);
  return {
    speed: totalSpeed(records),
    gapMs: median(records.flatMap(gaps)),
    firstMs: median(records.map(timeToFirstToken)),
    cpuMsPerToken: (seconds * 1000) / (lengths.length * tokens),
    busy,
  };
}

function shortPrompts(count: number): number[] {
  return Array.from({ length: count }, () => shortPrompt);
}

/** What a machine or a server does not tell is a dash. */
function toShares(all: readonly Busy[]): string {
  const share = (which: keyof Busy): string => {
    const known = all.flatMap((busy) => busy[which] ?? []);
    return known.length === 0 ? "-" : median(known).toFixed(2);
  };
  return [share("server"), share("engine"), share("card")].join(" ");
}

function toCells({ ms, phaseMs, deviceMs, graphsPerThousand, bytes }: StepFigures): string[] {
  return [
    ms.toFixed(3),
    ...phaseNames.map((phase) => phaseMs[phase].toFixed(3)),
    deviceMs.toFixed(3),
    graphsPerThousand.toFixed(0),
    (bytes / 1000).toFixed(1),
  ];
}

/** Speeds with more and more replies at once; of Ingle also where a step goes. */
export async function measureReplies(subject: Subject, servers: readonly string[]): Promise<Row[]> {
  const size = subject.isSmall ? "small" : "card";
  const tokens = replyTokens[size];
  const rows: Row[] = [
    [
      "server",
      "at once",
      "tokens/s",
      "gap, ms",
      "first token, ms",
      "processor, ms a token",
      "busiest thread of the server, of the engine, and card",
      "a step, ms",
      ...phaseNames,
      "device",
      "graphs of 1,000 steps",
      "kB a step",
    ],
  ];
  for (const name of servers) {
    const most = Math.max(...counts[size]);
    const { slots, server } = await startLargest(name, subject, most, shortPrompt + tokens + spareTokens);
    await using running = server;
    const isPeer = name === "llama-server";
    await ask(running, 0, shortPrompts(1), tokens);
    for (const replies of counts[size].filter((count) => count <= slots)) {
      const before = isPeer ? undefined : await scrapeStepTotals(running.url);
      const all: Figures[] = [];
      for (let round = 1; round <= rounds; round += 1)
        all.push(await ask(running, 100 * round + replies, shortPrompts(replies), tokens));
      const middle = (figure: Exclude<keyof Figures, "busy">): string =>
        median(all.map((one) => one[figure])).toFixed(2);
      const ofSteps =
        before === undefined ? [] : toCells(stepFigures(before, await scrapeStepTotals(running.url)));
      rows.push([
        name,
        String(replies),
        middle("speed"),
        middle("gapMs"),
        middle("firstMs"),
        middle("cpuMsPerToken"),
        toShares(all.map(({ busy }) => busy)),
        ...ofSteps,
      ]);
    }
  }
  return rows;
}

/** Time to the first token of one prompt alone. */
export async function measurePrompts(subject: Subject, servers: readonly string[]): Promise<Row[]> {
  const lengths = promptLengths[subject.isSmall ? "small" : "card"];
  const rows: Row[] = [["server", "tokens of the prompt", "first token, ms", "tokens/s"]];
  for (const name of servers.filter((one) => one !== "streams")) {
    await using server = await start(
      name,
      subject,
      { slots: 1, context: 2 * Math.max(...lengths) + spareTokens },
      [],
    );
    await ask(server, 0, shortPrompts(1), 1);
    for (const length of lengths) rows.push([name, ...(await timePrompt(server, length))]);
  }
  return rows;
}

/** How many tokens a prompt has, the time to its first token, and tokens a second. */
async function timePrompt(server: HttpSubject, length: number): Promise<string[]> {
  const records: StreamRecord[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const text = makePrompts(round, tokensPerWord).text(length);
    records.push(await server.stream(userRequest(text, 1)));
  }
  const first = median(records.map(timeToFirstToken));
  const computed = median(records.map(({ computedTokens }) => computedTokens));
  return [String(computed), first.toFixed(1), ((1000 * computed) / first).toFixed(0)];
}

/** The longest prompt alone, with steps of several sizes. */
export async function measureStepSizes(subject: Subject): Promise<Row[]> {
  const size = subject.isSmall ? "small" : "card";
  const length = Math.max(...promptLengths[size]);
  const rows: Row[] = [["tokens a step", "tokens of the prompt", "first token, ms", "tokens/s"]];
  for (const step of stepSizes[size]) {
    const flags = [`--batch-size=${step}`, `--ubatch-size=${step}`];
    await using server = await start(
      "ingle",
      subject,
      { slots: 1, context: 2 * length + spareTokens },
      flags,
    );
    await ask(server, 0, shortPrompts(1), 1);
    rows.push([String(step), ...(await timePrompt(server, length))]);
  }
  return rows;
}

/** Many users whose contexts have unequal lengths. */
export async function measureUnequal(subject: Subject, servers: readonly string[]): Promise<Row[]> {
  const size = subject.isSmall ? "small" : "card";
  const { users, shortest, longest } = unequal[size];
  const tokens = replyTokens[size];
  const rows: Row[] = [["server", "users", "tokens/s", "gap, ms", "first token, ms"]];
  for (const name of servers) {
    const { slots, server } = await startLargest(name, subject, users, 2 * longest + tokens + spareTokens);
    await using running = server;
    const apart = (longest - shortest) / Math.max(slots - 1, 1);
    const lengths = Array.from({ length: slots }, (_, user) => Math.round(shortest + user * apart));
    const { speed, gapMs, firstMs } = await ask(running, 1, lengths, tokens);
    rows.push([name, String(slots), speed.toFixed(1), gapMs.toFixed(2), firstMs.toFixed(1)]);
  }
  return rows;
}

/** Replies with each number of bits; a device that has no kernels for one says so. */
export async function measureKvTypes(subject: Subject): Promise<Row[]> {
  const tokens = replyTokens[subject.isSmall ? "small" : "card"];
  const sizes = { slots: repliesOfKvTypes, context: shortPrompt + tokens + spareTokens };
  const rows: Row[] = [["bits", "tokens/s of 8 replies", "gap, ms"]];
  for (const bits of kvTypes) {
    try {
      await using server = await start("ingle", subject, sizes, [`--kv-bits=${bits}`]);
      await ask(server, 0, shortPrompts(1), tokens);
      const { speed, gapMs } = await ask(server, 1, shortPrompts(repliesOfKvTypes), tokens);
      rows.push([bits, speed.toFixed(1), gapMs.toFixed(2)]);
    } catch (error) {
      rows.push([bits, error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error), ""]);
    }
  }
  return rows;
}
