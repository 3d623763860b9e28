// How far a quantized model or cache is from the original: llama-perplexity saves the original's probabilities after each token
// of a text, and then compares.
import { BenchError } from "../bench-error.ts";
import { plainEnvironment, runProgram } from "../child-process.ts";
import { llamaTool, type ToolRun } from "./llama-tools.ts";

const limitMs = 3 * 3_600_000;

export interface TextTest extends ToolRun {
  /** A file of prose. */
  text: string;
  /** Tokens per chunk; the first half of each is only context. */
  pieceTokens: number;
  pieces: number;
}

export interface Divergence {
  /** Lower is better: roughly, the number of tokens that the model hesitates between. */
  perplexity: number;
  /** Kullback–Leibler divergence from the original's probabilities, mean over the tokens, in nats; and its error. */
  kld: number;
  kldError: number;
  /** 99th percentile of the divergence. */
  kld99: number;
  /** The share of tokens with the same top token, 0 to 1. */
  sameTop: number;
}

/**
 * Writes the original's probabilities to `base`: two bytes per vocabulary entry for each token. Returns its perplexity: the one
 * that comparisons report is too low, because the file truncates very small probabilities. Throws BenchError, or the signal's
 * reason.
 */
export async function writeBase(test: TextTest, base: string): Promise<number> {
  const compute = async (): Promise<string> => await runPerplexity(test, ["--kl-divergence-base", base]);
  return await readPerplexity(compute, test.pieces);
}

/** Compares with what writeBase() wrote for the same text. Throws BenchError, or the signal's reason. */
export async function compareWithBase(test: TextTest, base: string): Promise<Divergence> {
  const flags = ["--kl-divergence-base", base, "--kl-divergence"];
  return await readDivergence(async () => await runPerplexity(test, flags));
}

/** Reads the output of `compare`. Throws BenchError. */
export async function readDivergence(compare: () => Promise<string>): Promise<Divergence> {
  return parseDivergence(await wholeOutput(compare, /^Same top p:.*%\s*$/m));
}

/** Reads the output of `compute`: after each chunk, the perplexity of all so far. Throws BenchError. */
export async function readPerplexity(compute: () => Promise<string>, pieces: number): Promise<number> {
  const ofAll = new RegExp(`\\[${pieces}\\]([\\d.]+),`);
  return figureIn(await wholeOutput(compute, ofAll), ofAll, "perplexity");
}

/**
 * A program's output. Runs it again if the end is missing: llama-perplexity logs on a separate thread, and the process
 * sometimes exits before that is done.
 */
async function wholeOutput(run: () => Promise<string>, end: RegExp): Promise<string> {
  const output = await run();
  return end.test(output) ? output : await run();
}

async function runPerplexity(test: TextTest, flags: readonly string[]): Promise<string> {
  const { model, text, pieceTokens, pieces, threads, signal } = test;
  const { kvTypeK = "f16", kvTypeV = "f16", build = "patched" } = test;
  const sizes = ["-c", pieceTokens, "-b", pieceTokens, "--chunks", pieces, "-t", threads];
  const types = ["-fa", "on", "-ctk", kvTypeK, "-ctv", kvTypeV];
  const args = ["-m", model, "-f", text, ...sizes, ...types, ...flags].map(String);
  const program = llamaTool("llama-perplexity", build);
  return await runProgram(program, args, { env: plainEnvironment(), limitMs, signal });
}

/** Reads the summary of `llama-perplexity --kl-divergence`. Throws BenchError. */
export function parseDivergence(output: string): Divergence {
  const figure = (pattern: RegExp, what: string): number => figureIn(output, pattern, what);
  return {
    perplexity: figure(/^Mean PPL\(Q\)\s*:\s*([\d.]+)/m, "perplexity"),
    kld: figure(/^Mean\s+KLD:\s*(-?[\d.]+)/m, "divergence"),
    kldError: figure(/^Mean\s+KLD:\s*-?[\d.]+\s*±\s*([\d.]+)/m, "error of the divergence"),
    kld99: figure(/^99\.0%\s+KLD:\s*(-?[\d.]+)/m, "percentile of the divergence"),
    sameTop: figure(/^Same top p:\s*([\d.]+)/m, "share of same tokens") / 100,
  };
}

function figureIn(output: string, pattern: RegExp, what: string): number {
  const found = Number(pattern.exec(output)?.[1]);
  if (Number.isFinite(found)) return found;
  throw new BenchError(
    `llama-perplexity told no ${what}; a text of at least two pieces is needed. It wrote: ${output.slice(-300)}`,
  );
}
