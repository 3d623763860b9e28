// `pnpm bench steps`: where the time of the engine's steps goes, with more and more replies at once. The figures are the server's own
// counters, and on Linux the busiest thread of each process; nvidia-smi says how busy a card was.
import { startHttpSubject, type HttpSubject } from "../http-subject.ts";
import { assertIdle, describeMachine, describeModel } from "../machine.ts";
import { deriveSeed, makePrompts, measureTokensPerWord, type Prompts } from "../prompts.ts";
import { headLines, markdownList, markdownTable, terminalTable, writeResults } from "../results.ts";
import { median } from "../statistics.ts";
import { totalSpeed, userRequest } from "../stream-record.ts";
import { streamAll } from "../subject.ts";
import { whileBusy, type Busy } from "./busy.ts";
import { phaseNames, phases, scrapeStepTotals, stepFigures, type StepFigures } from "./figures.ts";

/** Replies at once, as far as there are slots. */
const replyCounts = [1, 8, 32, 64, 128];
/** Short prompts: nearly all steps only decode. */
const promptTokens = 16;
const replyTokens = 64;

interface StepsOptions {
  model: string;
  threads: number;
  slots: number;
  rounds: number;
  seed: number;
  out: string;
  force: boolean;
  say: (line: string) => void;
  signal: AbortSignal;
}

interface Measured extends StepFigures {
  replies: number;
  tokensPerSecond: number;
  busy: Busy;
}

/** Throws BenchError if the machine is busy, or the signal's reason. */
export async function runSteps(options: StepsOptions): Promise<{ report: string; files: string[] }> {
  const { model, threads, slots, rounds, signal, say } = options;
  const startedAt = new Date();
  const [machine, modelFile] = [await describeMachine(signal), await describeModel(model, signal)];
  const prompts = makePrompts(
    deriveSeed(options.seed, "steps"),
    await measureTokensPerWord(model, { signal }),
  );
  await assertIdle({ force: options.force, signal });
  await using subject = await startHttpSubject("ingle", { model, threads, slots, signal });
  await askAll(subject, prompts, 1);
  const measured: Measured[][] = [];
  for (const replies of replyCounts.filter((count) => count <= slots)) {
    const all: Measured[] = [];
    for (let round = 0; round < rounds; round += 1)
      all.push(await measure(subject, prompts, replies, signal));
    measured.push(all);
    say(`${replies} at once: ${median(all.map(({ ms }) => ms)).toFixed(2)} ms a step`);
  }
  const conditions = {
    startedAt,
    machine,
    model: modelFile,
    threads,
    seed: options.seed,
    wasForced: options.force,
  };
  const rows = table(measured);
  const lines = headLines(conditions, [
    `prompts of ${promptTokens} tokens, replies of ${replyTokens}, ${slots} slots, medians of ${rounds} rounds`,
  ]);
  const meanings = phaseNames.map((phase) => `${phase}: ${phases[phase]}`);
  const files = await writeResults(
    options.out,
    { name: "steps", startedAt },
    {
      json: { conditions, measured },
      markdown: `${markdownList(lines)}\n\n${markdownTable(rows)}\n\n${markdownList(meanings)}\n`,
    },
  );
  return { report: `${lines.join("\n")}\n\n${terminalTable(rows)}`, files };
}

async function askAll(subject: HttpSubject, prompts: Prompts, replies: number) {
  const requests = Array.from({ length: replies }, () =>
    userRequest(prompts.text(promptTokens), replyTokens),
  );
  return await streamAll(subject, requests);
}

async function measure(
  subject: HttpSubject,
  prompts: Prompts,
  replies: number,
  signal: AbortSignal,
): Promise<Measured> {
  const before = await scrapeStepTotals(subject.url);
  const { result: records, busy } = await whileBusy(subject.pid, signal, () =>
    askAll(subject, prompts, replies),
  );
  return {
    replies,
    tokensPerSecond: totalSpeed(records),
    ...stepFigures(before, await scrapeStepTotals(subject.url)),
    busy,
  };
}

/** A row for each figure, a column for each number of replies. */
function table(measured: readonly (readonly Measured[])[]): string[][] {
  const row = (name: string, unit: string, figure: (one: Measured) => number, digits: number): string[] => [
    name,
    unit,
    ...measured.map((all) => median(all.map(figure)).toFixed(digits)),
  ];
  const hasThreads = measured.flat().some(({ busy }) => busy.server !== undefined);
  const hasCard = measured.flat().some(({ busy }) => busy.card !== undefined);
  return [
    ["figure", "unit", ...measured.map(([one]) => `${one?.replies ?? 0} at once`)],
    row("speed of all together", "tokens/s", ({ tokensPerSecond }) => tokensPerSecond, 1),
    row("tokens a step", "", ({ tokens }) => tokens, 2),
    row("a step", "ms", ({ ms }) => ms, 3),
    ...phaseNames.map((phase) => row(phase, "ms", ({ phaseMs }) => phaseMs[phase], 3)),
    ...(measured.flat().some(({ deviceMs }) => deviceMs > 0)
      ? [row("the device computing, by its own clock", "ms", ({ deviceMs }) => deviceMs, 3)]
      : []),
    row("graphs built, of 1,000 steps", "", ({ graphsPerThousand }) => graphsPerThousand, 0),
    row("copied to the host, a step", "kB", ({ bytes }) => bytes / 1000, 1),
    ...(hasThreads
      ? [
          row("busiest thread of the server", "core", ({ busy }) => busy.server ?? Number.NaN, 2),
          row("busiest thread of the engine", "core", ({ busy }) => busy.engine ?? Number.NaN, 2),
        ]
      : []),
    ...(hasCard ? [row("the card was busy", "share", ({ busy }) => busy.card ?? Number.NaN, 2)] : []),
  ];
}
