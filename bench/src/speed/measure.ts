// Speeds of one model file in several builds of llama.cpp and the machine's limit, which take turns: medians of the rounds.
import { readGguf, type GgufHeader } from "@ingle/gguf";
import { BenchError } from "../bench-error.ts";
import { plainEnvironment, runToEnd } from "../child-process.ts";
import { assertIdle } from "../machine.ts";
import { parseTests } from "../quality/llama-tools.ts";
import type { Column, Row } from "../quality/table.ts";
import { median } from "../statistics.ts";
import { measureLimits, stepsPerSecond, countWork, type MachineLimits } from "./limits.ts";
import type { SpeedProgram } from "./programs.ts";

const promptSizes = [256, 512] as const;
const replyTokens = 32;
/** Replies at the same time, each after a prompt of so many tokens. */
const clients = 8;
const clientPromptTokens = 16;
const limitMs = 1_800_000;

const tokensPerSecond = { unit: "tokens/s", better: "higher", digits: 1, isDrawn: true } as const;
export const speedColumns: readonly Column[] = [
  ...promptSizes.map((size) => ({ key: `prompt${size}`, title: `prompt of ${size}`, ...tokensPerSecond })),
  { key: "reply", title: "one reply", ...tokensPerSecond },
  { key: "replies", title: `${clients} replies together`, ...tokensPerSecond },
];

/** The name of the row with what the machine allows. */
export const limitNote = "limit";

interface SpeedRun {
  threads: number;
  rounds: number;
  force: boolean;
  signal: AbortSignal;
}

/** By the keys of the columns. */
type Speeds = Record<string, number>;

/** What takes turns: a program, or the machine's limit. */
interface Subject {
  name: string;
  isOurs: boolean;
  measure: () => Promise<Speeds>;
}

/** A row for each program and for the limit; what fails has its message instead of figures. Throws BenchError if the machine is busy. */
export async function measureFile(
  file: string,
  { level, programs, run }: { level: string; programs: readonly SpeedProgram[]; run: SpeedRun },
): Promise<Row[]> {
  const header = await readGguf(file);
  const subjects: Subject[] = [
    ...programs.map((program) => ({
      ...program,
      measure: async () => await measureOnce(file, program, run),
    })),
    {
      name: limitNote,
      isOurs: false,
      measure: async () => limitSpeeds(header, await measureLimits(run.threads, run.signal)),
    },
  ];
  const measured = subjects.map((subject) => ({ subject, rounds: [] as Speeds[], error: "" }));
  for (let round = 0; round < run.rounds; round += 1) {
    await assertIdle(run);
    for (const one of measured) {
      if (one.error !== "") continue;
      try {
        one.rounds.push(await one.subject.measure());
      } catch (error) {
        run.signal.throwIfAborted();
        if (!(error instanceof BenchError)) throw error;
        one.error = error.message;
      }
    }
  }
  return measured.map(({ subject, rounds, error }) => ({
    name: level,
    note: subject.name,
    bar: `${level} ${subject.name}`,
    isOurs: subject.isOurs,
    values: error === "" ? medians(rounds) : {},
    ...(error === "" ? {} : { error: `${subject.name}: ${error}` }),
  }));
}

/** The median of each figure. */
export function medians(rounds: readonly Speeds[]): Speeds {
  const keys = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    keys.map((key) => [key, median(rounds.map((speeds) => speeds[key] ?? Number.NaN))]),
  );
}

/** llama-bench computes logits of a prompt's last token alone. */
export function limitSpeeds(header: GgufHeader, limits: MachineLimits): Speeds {
  const speed = (tokens: number, logits: number): number =>
    tokens * stepsPerSecond(countWork(header, tokens, logits), limits);
  return {
    ...Object.fromEntries(promptSizes.map((size) => [`prompt${size}`, speed(size, 1)])),
    reply: speed(1, 1),
    replies: speed(clients, clients),
  };
}

async function measureOnce(
  file: string,
  program: SpeedProgram,
  { threads, signal }: SpeedRun,
): Promise<Speeds> {
  const run = async (tool: "llama-bench" | "llama-batched-bench", args: readonly (string | number)[]) =>
    await runToEnd(
      program.file(tool),
      ["-m", file, "-t", threads, ...args, ...program.extra[tool]].map(String),
      { env: plainEnvironment(), limitMs, signal },
    );
  const one = ["-p", promptSizes.join(","), "-n", replyTokens, "-fa", 1, "-r", 1, "-o", "json"];
  const context = clients * (clientPromptTokens + replyTokens);
  const several = ["-npp", clientPromptTokens, "-ntg", replyTokens, "-npl", clients, "-c", context];
  const batched = await run("llama-batched-bench", several);
  return {
    ...speedsIn((await run("llama-bench", one)).stdout),
    // ik_llama.cpp prints its table to stderr.
    replies: parseBatchedBench(`${batched.stdout}\n${batched.stderr}`),
  };
}

/** The speeds in llama-bench's JSON. Throws BenchError if one is missing. */
export function speedsIn(output: string): Speeds {
  const tests = parseTests(output);
  const speed = (prompt: number, reply: number): number => {
    const test = tests.find(({ n_prompt, n_gen }) => n_prompt === prompt && n_gen === reply);
    if (test !== undefined) return test.avg_ts;
    throw new BenchError(`llama-bench did not report ${prompt} and ${reply} tokens: ${output.slice(0, 300)}`);
  };
  const prompts = promptSizes.map((size) => [`prompt${size}`, speed(size, 0)] as const);
  return { ...Object.fromEntries(prompts), reply: speed(0, replyTokens) };
}

/**
 * Tokens per second of all replies together: the column "S_TG t/s" of the only row of llama-batched-bench's table. Throws
 * BenchError.
 */
export function parseBatchedBench(output: string): number {
  const [head, ...others] = output
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").map((cell) => cell.trim()));
  const figures = others.filter((row) => /^\d+$/.test(row[1] ?? ""));
  const speed = Number(figures[0]?.[head?.indexOf("S_TG t/s") ?? -1]);
  if (figures.length === 1 && speed > 0) return speed;
  throw new BenchError(`llama-batched-bench reported no single speed: ${output.slice(-300)}`);
}
