// Reranking in process: scores against a calculation by hand, batches, templates and errors.
import { readFile } from "node:fs/promises";
import { EngineError, type LoadedModel } from "@ingle/engine";
import { aligned, readGguf } from "@ingle/gguf";
import { exactArithmetic, tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadTiny, prompts } from "./tiny.ts";

const query = "a quiet river in winter";
const documents = prompts(12);
const rerankTemplate = "<|im_start|>judge\n{query}\n{document}<|im_end|>\n";
const bert = { architecture: "bert", weights: "f32" } as const;
const qwen = { architecture: "qwen3", weights: "f32" } as const;

/** The F32 tensors of a file, by name. */
async function readTensors(
  fixture: Parameters<typeof tinyModel>[0],
): Promise<(name: string) => Float32Array> {
  const file = await tinyModel(fixture);
  const { tensors, bytes } = await readGguf(file);
  const content = await readFile(file);
  return (name) => {
    const tensor = tensors.find((one) => one.name === name)!;
    const start = aligned(bytes) + tensor.offset;
    return new Float32Array(Uint8Array.from(content.subarray(start, start + tensor.sizeBytes)).buffer);
  };
}

/** The hidden state that the classifier reads, of a file that differs only in its pooling. */
async function hiddenStates(
  fixture: Parameters<typeof tinyModel>[0],
  texts: readonly Int32Array[],
): Promise<Float32Array[]> {
  await using loaded = await loadTiny({ contextLength: 512, ...exactArithmetic }, fixture);
  return (await loaded.model.embed(texts, { normalize: false })).embeddings;
}

function product(matrix: Float32Array, vector: Float32Array): Float32Array {
  return Float32Array.from({ length: matrix.length / vector.length }, (_, row) =>
    vector.reduce((sum, value, column) => sum + value * (matrix[row * vector.length + column] ?? 0), 0),
  );
}

describe.each([
  ["an encoder", bert, undefined],
  ["a model that generates, with a template", qwen, rerankTemplate],
] as const)("scores of %s", (_, fixture, template) => {
  let loaded: LoadedModel;
  const own = {
    ...fixture,
    pooling: "rank",
    ...(template === undefined ? {} : { rerankTemplate: template }),
  } as const;
  beforeAll(async () => {
    loaded = await loadTiny({ contextLength: 512, ...exactArithmetic }, own);
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  it("are those of the file's classifier", async () => {
    const { tokenizer, info } = loaded.model;
    const texts: Int32Array[] = [];
    for (const document of documents) {
      const plain = async (text: string) => tokenizer.encode(text, { addSpecial: false });
      texts.push(
        template === undefined
          ? // The tokens of an encoder: CLS, the query, SEP, the document.
            Int32Array.from([101, ...(await plain(query)), 102, ...(await plain(document))])
          : await plain(template.replace("{query}", query).replace("{document}", document)),
      );
    }
    const { scores, usage } = await loaded.model.rerank(query, documents);
    expect(usage.promptTokens).toBe(texts.reduce((sum, { length }) => sum + length, 0));
    const tensor = await readTensors(own);
    const states = await hiddenStates(
      { ...fixture, pooling: template === undefined ? "first" : "last" },
      texts,
    );
    const expected = states.map((state) => {
      if (template !== undefined) {
        const [yes = 0, no = 0] = product(tensor("cls.output.weight"), state);
        return 1 / (1 + Math.exp(no - yes));
      }
      const bias = tensor("cls.bias");
      const layer = product(tensor("cls.weight"), state).map((value, at) =>
        Math.tanh(value + (bias[at] ?? 0)),
      );
      return (product(tensor("cls.output.weight"), layer)[0] ?? 0) + (tensor("cls.output.bias")[0] ?? 0);
    });
    expect(info.isReranker).toBe(true);
    for (const [index, score] of scores.entries())
      expect(score).toBeCloseTo(expected[index] ?? Number.NaN, 3);
    expect(new Set(scores.map((score) => score.toFixed(3))).size).toBeGreaterThan(6);
  });

  it("do not depend on the other documents", async () => {
    const { scores } = await loaded.model.rerank(query, documents);
    const reversed = await loaded.model.rerank(query, documents.toReversed());
    for (const [index, score] of reversed.scores.toReversed().entries())
      expect(score).toBeCloseTo(scores[index] ?? Number.NaN, 4);
    const [alone] = (await loaded.model.rerank(query, documents.slice(3, 4))).scores;
    expect(alone).toBeCloseTo(scores[3] ?? Number.NaN, 4);
    const [other] = (await loaded.model.rerank("copper", documents.slice(3, 4))).scores;
    expect(Math.abs((other ?? 0) - (alone ?? 0))).toBeGreaterThan(1e-4);
  });

  it("are refused for a pair that is too long, for no documents, and after an abort", async () => {
    const long = loaded.model.rerank(query, ["fine", "river ".repeat(2_000)]);
    await expect(long).rejects.toMatchObject({ code: "context_length_exceeded" });
    await expect(loaded.model.rerank(query, [])).rejects.toMatchObject({ code: "invalid_request" });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(loaded.model.rerank(query, documents, { signal })).rejects.toThrow("enough");
  });

  it("are all that it computes of texts: it makes no embeddings", async () => {
    await expect(loaded.model.embed(["Hello"])).rejects.toMatchObject({ code: "embeddings_not_supported" });
  });
});

it("a long pair of a model that generates is scored in parts as it is at once", async () => {
  const fixture = { ...qwen, pooling: "rank", rerankTemplate } as const;
  const score = async (batchTokens: number): Promise<number> => {
    await using loaded = await loadTiny({ contextLength: 512, batchTokens, ...exactArithmetic }, fixture);
    const { scores } = await loaded.model.rerank(query, ["maple signal harbour ".repeat(60)]);
    return scores[0] ?? Number.NaN;
  };
  expect(await score(16)).toBeCloseTo(await score(512), 4);
});

it.each([
  ["a model that generates", {}],
  ["an embedding model", { architecture: "bert" }],
  ["one whose file claims to be a reranker and has no classifier", { pooling: "rank" }],
] as const)("%s does not rerank", async (_, fixture) => {
  await using loaded = await loadTiny({}, fixture);
  await expect(loaded.model.rerank(query, documents)).rejects.toSatisfy(
    (error) => EngineError.is(error) && error.code === "reranking_not_supported",
  );
});

it("neither a query nor a document can write the template's names", async () => {
  await using loaded = await loadTiny({ contextLength: 512 }, { ...qwen, pooling: "rank", rerankTemplate });
  const tokens = async (one: string, other: string): Promise<number> =>
    (await loaded.model.rerank(one, [other])).usage.promptTokens;
  const long = "river ".repeat(50);
  expect(await tokens("{document}", long)).toBeLessThan(2 * (await tokens("", long)));
});
