// Measures what a process per model costs: the same load, alternately on a server that computes its model in a process of its own
// and on one that computes it in the server's. With --model one user's replies, as in the scenario `single`; without it the load
// of the scenario `bridge`. A standalone program:
//
//   npx --yes pnpm@12 exec tsx bench/src/process-cost.ts [--model FILE] [--pairs 20] [--threads N] [--out bench/results] [--force]
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { tinyModel } from "@ingle/fixtures";
import { startHttpSubject, type HttpSubject } from "./http-subject.ts";
import { assertIdle, describeMachine, describeModel } from "./machine.ts";
import { makePrompts, measureTokensPerWord } from "./prompts.ts";
import { headLines, markdownTable, writeResults } from "./results.ts";
import { bridgeShape } from "./scenarios/bridge.ts";
import { median, percentile } from "./statistics.ts";
import { decodeSpeed, timeToFirstToken, totalSpeed, userRequest } from "./stream-record.ts";
import { enginePlaces, streamAll, type EnginePlace } from "./subject.ts";

/** Waves before the first one that counts: JavaScript's compiler needs some. */
const warmUps = 5;

interface Wave {
  place: EnginePlace;
  tokensPerSecond: number;
  ttftMs: number;
  /** Processor time of the server and its child. The system counts it in hundredths of a second. */
  cpuMsPerToken: number;
}

const { values: options } = parseArgs({
  options: {
    model: { type: "string" },
    pairs: { type: "string", default: "20" },
    threads: { type: "string" },
    out: { type: "string", default: "bench/results" },
    force: { type: "boolean", default: false },
  },
});
const load =
  options.model === undefined
    ? { clients: 8, promptTokens: 20, replyTokens: 256 }
    : { clients: 1, promptTokens: 200, replyTokens: 64 };
const model = options.model === undefined ? await tinyModel(bridgeShape) : path.resolve(options.model);
const [machine, modelFile] = [await describeMachine(), await describeModel(model)];
const tokensPerWord = await measureTokensPerWord(model);
const threads = Number(options.threads ?? machine.cores);
const startedAt = new Date();
const stop = new AbortController();
const start = async (engine: EnginePlace): Promise<HttpSubject> => {
  return await startHttpSubject("ingle", { model, threads, slots: 8, engine, signal: stop.signal });
};
await using apart = await start("process");
await using together = await start("in-process");
const servers: Record<EnginePlace, HttpSubject> = { process: apart, "in-process": together };
for (let i = 0; i < warmUps; ++i) for (const place of enginePlaces) await wave(place, i);
const memoryMb = { process: await measureMemory(apart), "in-process": await measureMemory(together) };
const busyShare = await assertIdle({ force: options.force });
const waves: Wave[] = [];
for (let pair = 0; pair < Number(options.pairs); ++pair) {
  // The one that comes second may find the machine in another state.
  for (const place of pair % 2 === 0 ? enginePlaces : enginePlaces.toReversed())
    waves.push(await wave(place, warmUps + pair));
}
const conditions = {
  startedAt,
  machine,
  model: modelFile,
  threads,
  seed: 0,
  wasForced: options.force,
};
const lines = headLines(conditions, [
  `${load.clients} clients, prompts of ${load.promptTokens} tokens, replies of ${load.replyTokens}`,
  `medians of ${options.pairs} pairs, with the quartiles; memory is proportional (PSS), of all processes`,
  `${Math.round(100 * busyShare)} % of the cores were busy before`,
]);
const markdown = `${lines.join("\n")}\n\n${markdownTable(table())}\n`;
await writeResults(
  options.out,
  { name: "process-cost", startedAt },
  { json: { ...conditions, load, busyShare, memoryMb, waves }, markdown },
);
process.stdout.write(markdown);

/** All clients at once. Both servers get the same prompts. */
async function wave(place: EnginePlace, seed: number): Promise<Wave> {
  const prompts = makePrompts(seed, tokensPerWord);
  const requests = Array.from({ length: load.clients }, () =>
    userRequest(prompts.text(load.promptTokens), load.replyTokens),
  );
  const server = servers[place];
  const before = await server.usage();
  const records = await streamAll(server, requests);
  const after = await server.usage();
  const cpuSeconds = (after?.cpuSeconds ?? Number.NaN) - (before?.cpuSeconds ?? Number.NaN);
  return {
    place,
    tokensPerSecond: load.clients > 1 ? totalSpeed(records) : median(records.map(decodeSpeed)),
    ttftMs: median(records.map(timeToFirstToken)),
    cpuMsPerToken: (1000 * cpuSeconds) / (load.clients * load.replyTokens),
  };
}

/** Memory of the server and its children, each shared page divided by its users. NaN without /proc. */
async function measureMemory({ pid }: HttpSubject): Promise<number> {
  if (process.platform !== "linux") return Number.NaN;
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).match(/\d+/g) ?? [];
  let kibibytes = 0;
  for (const each of [pid, ...children]) {
    const text = await readFile(`/proc/${each}/smaps_rollup`, "utf8");
    kibibytes += Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1]);
  }
  return (kibibytes * 1024) / 1e6;
}

function table(): string[][] {
  const of = (place: EnginePlace, key: Exclude<keyof Wave, "place">): number[] =>
    waves.filter((each) => each.place === place).map((each) => each[key]);
  const row = (name: string, key: Exclude<keyof Wave, "place">, digits = 1): string[] => {
    const [apartFigures, togetherFigures] = [of("process", key), of("in-process", key)];
    const written = [apartFigures, togetherFigures].map((figures) => {
      const [low, middle, high] = [percentile(figures, 25), median(figures), percentile(figures, 75)];
      return `${middle.toFixed(digits)} (${low.toFixed(digits)} – ${high.toFixed(digits)})`;
    });
    const change = 100 * (median(apartFigures) / median(togetherFigures) - 1);
    return [name, ...written, `${change.toFixed(1)} %`];
  };
  const [memory, memoryTogether] = [memoryMb.process, memoryMb["in-process"]];
  return [
    ["", "process", "in-process", "difference"],
    row("tokens/s", "tokensPerSecond"),
    row("time to first token, ms", "ttftMs"),
    row("processor time per token, ms", "cpuMsPerToken", 3),
    [
      "memory, MB",
      memory.toFixed(1),
      memoryTogether.toFixed(1),
      `${(memory - memoryTogether).toFixed(1)} MB`,
    ],
  ];
}
