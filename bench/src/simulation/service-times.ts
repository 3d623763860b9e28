// How long a replica takes, as measured by `bench service-times`: the simulation's only knowledge of a machine.
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { BenchError, errorMessage } from "../bench-error.ts";
import { median } from "../statistics.ts";

const Positive = z.number().positive();

/** The shape of a measurement file. Times are milliseconds. */
export const ServiceTimes = z.object({
  /** Description of the measurement: machine, model, commit and settings. */
  about: z.record(z.string(), z.unknown()).default({}),
  /** Requests computed at the same time. */
  parallel: z.int().positive(),
  /** Tokens of all requests together: cells of the KV cache. */
  kvTokens: z.int().positive(),
  /** Step times by number of replies, ascending; interpolated in between. */
  decodeSteps: z.array(z.object({ replies: z.int().positive(), ms: Positive })).min(1),
  /** One token of a prompt. */
  promptTokenMs: Positive,
  /**
   * One token of a prompt in a step that also decodes replies: chunks are short there, and each has a cost of its own. Default:
   * `promptTokenMs`.
   */
  besideTokenMs: Positive.optional(),
  /** Overhead of a request: network, template, tokenizer. Replies wait meanwhile, as on shared cores. */
  requestMs: z.number().nonnegative(),
});
export type ServiceTimes = z.infer<typeof ServiceTimes>;

/** Reads a measurement file. Throws BenchError if it is missing or invalid. */
export async function readServiceTimes(file: string): Promise<ServiceTimes> {
  try {
    return ServiceTimes.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    throw new BenchError(`${file} holds no service times: ${errorMessage(error)}`, { cause: error });
  }
}

/** Milliseconds of a step by number of replies; index 0 is unused. */
export function stepTable({ decodeSteps, parallel }: ServiceTimes): Float64Array {
  const table = new Float64Array(parallel + 1);
  for (let replies = 1; replies <= parallel; replies += 1)
    table[replies] = interpolated(decodeSteps, replies);
  return table;
}

function interpolated(steps: ServiceTimes["decodeSteps"], replies: number): number {
  const above = steps.findIndex((step) => step.replies >= replies);
  const [low, high] = above === 0 ? [steps[0], steps[1]] : [steps.at(above - 1), steps.at(above)];
  // Beyond the measured range, extrapolates from the last two; a single value is used as it is.
  const [from, to] = above === -1 ? [steps.at(-2), steps.at(-1)] : [low, high];
  if (to === undefined) return from?.ms ?? Number.NaN;
  if (from === undefined || from.replies === to.replies) return to.ms;
  const slope = (to.ms - from.ms) / (to.replies - from.replies);
  return Math.max(from.ms + slope * (replies - from.replies), steps[0]?.ms ?? 0);
}

/** One uncached prompt, alone on a replica. */
export interface PromptSample {
  promptTokens: number;
  firstMs: number;
}

/** One of several replies that ran at the same time. */
export interface ReplySample {
  replies: number;
  tokens: number;
  firstMs: number;
  totalMs: number;
}

/**
 * Fits the samples: prompts by linear regression, steps by the median per number of replies. `besideTokenMs` comes from other samples
 * (prompts-beside-replies.ts).
 */
export function fitServiceTimes(
  size: Pick<ServiceTimes, "parallel" | "kvTokens">,
  samples: { prompts: readonly PromptSample[]; replies: readonly ReplySample[] },
): ServiceTimes {
  const crowds = [...new Set(samples.replies.map(({ replies }) => replies))].toSorted((a, b) => a - b);
  const decodeSteps = crowds.map((replies) => {
    const equal = samples.replies.filter((sample) => sample.replies === replies);
    const steps = equal.map(({ totalMs, firstMs, tokens }) => (totalMs - firstMs) / (tokens - 1));
    return { replies, ms: median(steps) };
  });
  const { slope, atZero } = lineThrough(
    samples.prompts.map(({ promptTokens, firstMs }) => [promptTokens, firstMs] as const),
  );
  if (!(slope > 0))
    throw new BenchError("Longer prompts took no longer: this machine is too busy to measure.");
  return ServiceTimes.parse({
    ...size,
    decodeSteps,
    promptTokenMs: slope,
    requestMs: Math.max(0, atZero),
  });
}

/** Least squares. */
function lineThrough(points: readonly (readonly [number, number])[]): { slope: number; atZero: number } {
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([value]) => value)), mean(points.map(([, value]) => value))];
  const over = points.reduce((sum, [px, py]) => sum + (px - x) * (py - y), 0);
  const under = points.reduce((sum, [px]) => sum + (px - x) ** 2, 0);
  const slope = over / under;
  return { slope, atZero: y - slope * x };
}
