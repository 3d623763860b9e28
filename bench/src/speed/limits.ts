// The machine's limit for a model file: the time to read its weights once, or to multiply them with as many rows as there are
// tokens, whichever is longer. Attention and everything else are left out.
import path from "node:path";
import { getNumber, getString, tensorTypes, type GgufHeader } from "@ingle/gguf";
import { BenchError } from "../bench-error.ts";
import { runProgram } from "../child-process.ts";
import { buildSuffix, cpu, type PeerOptions } from "../peers.ts";
import { peersFolder } from "../workspace.ts";

const source = path.join(import.meta.dirname, "limits.cpp");
const program = path.join(peersFolder, `limits${buildSuffix}`);
const limitMs = 120_000;

/** Types that are multiplied as floats. */
const floatTypes = new Set(["F32", "F16", "BF16"]);
/** A vector has four times as many bytes as floats of 32 bits. */
const floatProducts = 4;

export interface MachineLimits {
  /** Read from memory by all threads together. */
  bytesPerSecond: number;
  /** Products of bytes that all threads together add up. */
  productsPerSecond: number;
}

/** Compiles the measuring program. Throws BenchError: without a compiler, or for a processor whose limit it does not know. */
export async function ensureLimits({ signal }: PeerOptions): Promise<void> {
  const flags = ["-O3", "-std=c++17", "-pthread", `-march=${cpu ?? "native"}`];
  await runProgram("c++", [...flags, source, "-o", program], { limitMs, signal });
}

/** Takes a second. Throws BenchError. */
export async function measureLimits(threads: number, signal: AbortSignal): Promise<MachineLimits> {
  const output = await runProgram(program, [String(threads)], { limitMs, signal });
  const limits: MachineLimits = JSON.parse(output);
  if (limits.bytesPerSecond > 0 && limits.productsPerSecond > 0) return limits;
  throw new BenchError(`The machine's limits are not positive: ${output}`);
}

/** What a step does at least. */
interface StepWork {
  bytes: number;
  /** Products of bytes. */
  products: number;
}

/**
 * The work of a step with so many tokens, of which `logits` get logits. Tokens choose experts evenly and independently, as random
 * weights nearly do.
 */
export function countWork({ metadata, tensors }: GgufHeader, tokens: number, logits: number): StepWork {
  const architecture = getString(metadata, "general.architecture") ?? "";
  const expertsUsed = getNumber(metadata, `${architecture}.expert_used_count`, "uint32") ?? 0;
  const hasOutput = tensors.some(({ name }) => name === "output.weight");
  const work: StepWork = { bytes: 0, products: 0 };
  for (const { name, shape, sizeBytes, typeCode } of tensors) {
    const isEmbedding = name === "token_embd.weight";
    // Without a matrix of its own for logits, a model uses that of the embeddings; else a row of it is all that a token needs.
    if (isEmbedding && hasOutput) continue;
    const share = name.includes("_exps.") ? expertsUsed / (shape[2] ?? 1) : 1;
    work.bytes += sizeBytes * (1 - (1 - share) ** tokens);
    if (shape.length < 2) continue;
    const rows = isEmbedding || name === "output.weight" ? logits : tokens;
    const weights = shape.reduce((product, size) => product * size, 1);
    const isFloat = floatTypes.has(tensorTypes.get(typeCode)?.name ?? "");
    work.products += weights * share * rows * (isFloat ? floatProducts : 1);
  }
  return work;
}

/** Steps per second that the machine's limits allow. */
export function stepsPerSecond({ bytes, products }: StepWork, limits: MachineLimits): number {
  return 1 / Math.max(bytes / limits.bytesPerSecond, products / limits.productsPerSecond);
}
