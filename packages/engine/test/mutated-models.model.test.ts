// Model files with one or two changed parts, of every architecture of the fixtures, used natively in child processes: each is an
// EngineError or a model that runs, within bounded memory and time, and none crashes the process.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { tinyModel, type TinyModelOptions } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oneIn } from "./damage.ts";
import { encodeValue, putTogether, takeApart, type Draft } from "./gguf-draft.ts";
import { MutantUser, type Death, type Use } from "./mutant-user.ts";
import { mutant } from "./mutants.ts";

/** As small as possible: the model is used thousands of times. */
const smallest = { embedding: 64, feedForward: 64, tokens: 320, contextLength: 128 };
/** Every architecture; together they cover every kind of tokenizer of the fixtures. */
const bases: readonly { name: string; options: TinyModelOptions }[] = [
  { name: "llama", options: { ...smallest, headSize: 32, heads: 2, kvHeads: 1 } },
  { name: "qwen2", options: { ...smallest, architecture: "qwen2", vocabulary: "qwen2", tokens: 600 } },
  { name: "qwen3", options: { ...smallest, architecture: "qwen3", weights: "f16" } },
  // llama.cpp looks for this token in models of the architecture phi3.
  { name: "phi3", options: { ...smallest, architecture: "phi3", controlTokens: ["<|endoftext|>"] } },
  { name: "gemma3", options: { ...smallest, architecture: "gemma3" } },
  { name: "lfm2", options: { ...smallest, architecture: "lfm2" } },
  { name: "lfm2moe", options: { ...smallest, architecture: "lfm2moe", vocabulary: "gpt-2", tokens: 600 } },
  { name: "qwen2vl", options: { ...smallest, architecture: "qwen2vl" } },
  { name: "bert", options: { ...smallest, architecture: "bert", tokens: 1200 } },
  { name: "glm4moe", options: { ...smallest, architecture: "glm4moe" } },
  { name: "qwen35", options: { ...smallest, architecture: "qwen35" } },
];

/** The number of mutants of each architecture: more than 20,000 in total. */
const mutantsOfEach = 2300;
/** With INGLE_TEST_EVERY=1, all of them take half an hour. */
const numbers = oneIn(97, [...Array(mutantsOfEach).keys()]);
const limitMs = 3_600_000;
/** The memory that using a mutant may add to the process: the buffers of the largest graphs. */
const peakMaxKiB = 700 * 1024;

const codes = new Set([
  "ok",
  "gguf_limit",
  "gguf_malformed",
  "gguf_truncated",
  "gguf_version",
  "not_gguf",
  "model_invalid",
  "model_unsupported",
  "out_of_memory",
  "invalid_request",
  "context_length_exceeded",
  "template_failed",
  "generation_not_supported",
  "embeddings_not_supported",
  "engine_failed",
]);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-mutants-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function readDraft(options: TinyModelOptions): Promise<Draft> {
  return takeApart(await readFile(await tinyModel(options)));
}

function isWrong(use: Use | Death): boolean {
  if ("end" in use) return true;
  return use.peakKiB > peakMaxKiB || Object.values(use.outcomes).some(({ code }) => !codes.has(code));
}

describe.each(bases)("a model of the architecture $name", ({ name, options }) => {
  test(
    "does not end the process, whatever is wrong with its file",
    async () => {
      const whole = await readDraft(options);
      const file = path.join(folder, `${name}.gguf`);
      await using user = new MutantUser();
      const wrong: unknown[] = [];
      let refused = 0;
      let used = 0;
      for (const number of numbers) {
        const { file: bytes, story } = mutant(name, whole, number);
        await writeFile(file, bytes);
        const use = await user.use(file);
        if (isWrong(use)) wrong.push({ number, story, use });
        used++;
        if ("outcomes" in use && use.outcomes["load"]?.code !== "ok") refused++;
      }
      expect(wrong).toEqual([]);
      // The mutants are neither all harmless nor all refused early.
      expect(refused / used).toBeGreaterThan(0.3);
      expect(refused / used).toBeLessThan(0.95);
    },
    limitMs,
  );
});

const zero = { type: 4, items: [Buffer.alloc(4)] };

/** A model file with a change; by default of a llama model. */
async function useChanged(
  change: (whole: Draft) => Draft,
  options: TinyModelOptions = smallest,
): Promise<Use | Death> {
  const file = path.join(folder, "changed.gguf");
  await writeFile(file, putTogether(change(await readDraft(options))).file);
  await using user = new MutantUser();
  return user.use(file);
}

function withText(whole: Draft, key: string, text: string): Draft {
  const others = whole.entries.filter((entry) => entry.key !== key);
  return {
    ...whole,
    entries: [...others, { key, bytes: encodeValue({ type: 8, items: [Buffer.from(text)] }) }],
  };
}

describe("a file that cannot be used fails when it is loaded", () => {
  test("a tensor whose type its operation does not support is named", async () => {
    const use = await useChanged((whole) => ({
      ...whole,
      tensors: whole.tensors.map((tensor) =>
        tensor.name === "blk.0.ffn_norm.weight"
          ? { ...tensor, type: 24, data: tensor.data.subarray(0, 64) }
          : tensor,
      ),
    }));
    expect(use).toMatchObject({
      outcomes: {
        load: { code: "model_invalid", message: expect.stringContaining("blk.0.ffn_norm.weight (i8)") },
      },
    });
  });

  test("a missing tokenizer is reported with its key", async () => {
    const use = await useChanged((whole) => withText(whole, "tokenizer.ggml.model", "none"));
    expect(use).toMatchObject({
      outcomes: {
        load: { code: "model_unsupported", message: expect.stringContaining("tokenizer.ggml.model") },
      },
    });
  });

  test("rotary positions with zero dimensions do not loop forever", async () => {
    const withoutTurns = (whole: Draft): Draft => ({
      ...whole,
      entries: whole.entries.map(({ key, bytes }) => ({
        key,
        bytes: key === "gemma3.rope.dimension_count" ? encodeValue(zero) : bytes,
      })),
    });
    const use = await useChanged(withoutTurns, { ...smallest, architecture: "gemma3" });
    expect(use).toMatchObject({
      outcomes: { load: { code: "model_invalid", message: expect.stringContaining("ROPE") } },
    });
  });

  test("a text that the vocabulary has no tokens for does not loop forever", async () => {
    const use = await useChanged((whole) => withText(whole, "tokenizer.ggml.model", "rwkv"));
    expect(use).toMatchObject({ outcomes: { load: { code: "ok" }, tokenize: { code: "ok" } } });
  });
});
