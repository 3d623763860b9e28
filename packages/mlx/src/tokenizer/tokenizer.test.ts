// Tokenizers in the hub's form are converted back: the vocabularies of llama.cpp's own tests stay the same.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { hubTokenizer, readVocabulary } from "@ingle/fixtures";
import type { Vocabulary } from "@ingle/fixtures";
import { getNumber, getStrings, type GgufMetadata, type GgufValue } from "@ingle/gguf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { parseConfig } from "../config.ts";
import { MlxError } from "../errors.ts";
import { tokenizerMetadata } from "./tokenizer.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-tokenizer-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Files {
  tokenizer: object;
  config?: object;
  template?: string;
  modelType?: string;
  size?: number;
  ids?: object;
}

async function read({ tokenizer, config, template, modelType, size, ids }: Files): Promise<GgufMetadata> {
  await writeFile(path.join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  await rm(path.join(folder, "chat_template.jinja"), { force: true });
  await rm(path.join(folder, "tokenizer_config.json"), { force: true });
  if (config !== undefined)
    await writeFile(path.join(folder, "tokenizer_config.json"), JSON.stringify(config));
  if (template !== undefined) await writeFile(path.join(folder, "chat_template.jinja"), template);
  const parsed = parseConfig({ model_type: modelType ?? "llama", ...ids });
  return tokenizerMetadata(folder, parsed, size ?? 8);
}

function numbers(value: GgufValue | undefined): readonly number[] {
  return value !== undefined && "values" in value && (value.type === "int32" || value.type === "float32")
    ? value.values
    : [];
}

async function readBack(vocabulary: Vocabulary, modelType = "llama"): Promise<GgufMetadata> {
  const tokenId = (role: string): unknown =>
    getNumber(vocabulary.metadata, `tokenizer.ggml.${role}_token_id`, "uint32");
  const ids = { bos_token_id: tokenId("bos"), eos_token_id: tokenId("eos") };
  return read({ ...hubTokenizer(vocabulary), modelType, ids, size: vocabulary.tokens.length });
}

function isPadding({ metadata }: Vocabulary, id: number): boolean {
  return getStrings(metadata, "tokenizer.ggml.tokens")?.[id] === `[PAD${id}]`;
}

describe("a byte-level vocabulary", () => {
  it.each(["gpt-2", "qwen2", "llama-bpe"])("%s stays the same", async (name) => {
    const vocabulary = await readVocabulary(name);
    const before = new Map(vocabulary.metadata);
    before.delete("tokenizer.chat_template");
    // An older converter made the file and marked padding as user-defined; today it is marked as unused.
    const [userDefined, unused] = [4, 5];
    const kinds = numbers(before.get("tokenizer.ggml.token_type")).map((kind, id) =>
      kind === userDefined && isPadding(vocabulary, id) ? unused : kind,
    );
    before.set("tokenizer.ggml.token_type", { type: "int32", values: kinds });
    const after = await readBack(vocabulary);
    expect([...after.keys()].toSorted()).toEqual([...before.keys()].toSorted());
    for (const [key, value] of before) expect(after.get(key), key).toEqual(value);
  });

  it("of LFM2 has its own name, which llama.cpp treats like Llama's", async () => {
    const after = await readBack(await readVocabulary("llama-bpe"), "lfm2");
    expect(after.get("tokenizer.ggml.pre")).toEqual({ type: "string", value: "lfm2" });
  });
});

describe("a SentencePiece vocabulary", () => {
  it("has the scores that its merges were made from, and added tokens like those of llama.cpp's converter", async () => {
    const vocabulary = await readVocabulary("llama-spm");
    const after = await readBack(vocabulary);
    const special = 3;
    for (const key of ["tokens", "bos_token_id", "eos_token_id", "unknown_token_id", "add_bos_token"])
      expect(after.get(`tokenizer.ggml.${key}`), key).toEqual(
        vocabulary.metadata.get(`tokenizer.ggml.${key}`),
      );
    const scores = numbers(vocabulary.metadata.get("tokenizer.ggml.scores"));
    const types = numbers(vocabulary.metadata.get("tokenizer.ggml.token_type"));
    expect(numbers(after.get("tokenizer.ggml.scores")).slice(special)).toEqual(scores.slice(special));
    expect(numbers(after.get("tokenizer.ggml.scores")).slice(0, special)).toEqual([-1000, -1000, -1000]);
    expect(numbers(after.get("tokenizer.ggml.token_type")).slice(special)).toEqual(types.slice(special));
    expect(numbers(after.get("tokenizer.ggml.token_type")).slice(0, special)).toEqual([3, 3, 3]);
    expect(after.get("tokenizer.ggml.add_space_prefix")).toBeUndefined();
  });
});

// A small byte-level tokenizer and a small SentencePiece tokenizer, which the tests change.
const bytes = {
  added_tokens: [
    { id: 4, content: "<|end|>", special: true },
    { id: 5, content: "<think>", special: false },
  ],
  normalizer: null,
  pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: true },
  model: { type: "BPE", vocab: { a: 0, b: 1, ab: 2, "\u0120": 3 }, merges: ["a b"] },
};
const pieces = {
  added_tokens: [{ id: 0, content: "<unk>", special: true }],
  normalizer: { type: "Replace", pattern: { String: " " }, content: "\u2581" },
  pre_tokenizer: { type: "Split", pattern: { String: " " }, behavior: "MergedWithPrevious", invert: false },
  model: {
    type: "BPE",
    byte_fallback: true,
    unk_token: "<unk>",
    vocab: { "<unk>": 0, "<0x0A>": 1, b: 2, a: 3, ab: 4, aba: 5, "\u2581": 6 },
    merges: [
      ["a", "b"],
      ["ab", "a"],
    ],
  },
};

describe("tokens", () => {
  it("have their kinds, and ids without a token are padded", async () => {
    const keys = await read({ tokenizer: bytes });
    expect(keys.get("tokenizer.ggml.tokens")).toEqual({
      type: "string",
      values: ["a", "b", "ab", "\u0120", "<|end|>", "<think>", "[PAD6]", "[PAD7]"],
    });
    expect(keys.get("tokenizer.ggml.token_type")).toEqual({
      type: "int32",
      values: [1, 1, 1, 1, 3, 4, 5, 5],
    });
  });

  it("may have merges as pairs that contain spaces", async () => {
    const merges = [
      ["a", "b"],
      ["a ", "b"],
    ];
    const keys = await read({ tokenizer: { ...bytes, model: { ...bytes.model, merges } } });
    expect(keys.get("tokenizer.ggml.merges")).toEqual({ type: "string", values: ["a b", "a\u0120 b"] });
  });

  it("named like a property of every object are ordinary tokens", async () => {
    const tokenizer = JSON.parse(JSON.stringify(bytes).replace('"ab":2', '"__proto__":2')) as typeof bytes; // with a key of its own, as JSON has it
    const keys = await read({ tokenizer });
    expect(keys.get("tokenizer.ggml.tokens")).toMatchObject({
      values: expect.arrayContaining(["__proto__"]),
    });
  });

  it("of SentencePiece that are not in the order of their ids are scored by their merges", async () => {
    const vocab = { ...pieces.model.vocab, ab: 5, aba: 4 };
    const keys = await read({ tokenizer: { ...pieces, model: { ...pieces.model, vocab } } });
    const scores = numbers(keys.get("tokenizer.ggml.scores"));
    expect(scores[5]).toBeGreaterThan(scores[4] ?? 0);
  });

  it("of SentencePiece without a space before the text have a key for that", async () => {
    const keys = await read({ tokenizer: pieces });
    expect(keys.get("tokenizer.ggml.add_space_prefix")).toEqual({ type: "bool", value: false });
    expect(numbers(keys.get("tokenizer.ggml.token_type"))).toEqual([3, 6, 1, 1, 1, 1, 1, 5]);
    const metaspace = { type: "Metaspace", replacement: "\u2581", prepend_scheme: "first", split: false };
    const prefixed = await read({ tokenizer: { ...pieces, normalizer: null, pre_tokenizer: metaspace } });
    expect(prefixed.get("tokenizer.ggml.add_space_prefix")).toBeUndefined();
  });
});

describe("the tokens around a text", () => {
  it("come from the template of tokenizer.json, unless tokenizer_config.json says otherwise", async () => {
    const single = [{ SpecialToken: { id: "<|end|>" } }, { Sequence: { id: "A" } }];
    const post_processor = {
      type: "Sequence",
      processors: [{ type: "ByteLevel" }, { type: "TemplateProcessing", single, pair: [] }],
    };
    const tokenizer = { ...bytes, post_processor };
    const keys = await read({ tokenizer, config: { eos_token: { content: "<|end|>" } } });
    expect(keys.get("tokenizer.ggml.bos_token_id")).toEqual({ type: "uint32", value: 4 });
    expect(keys.get("tokenizer.ggml.eos_token_id")).toEqual({ type: "uint32", value: 4 });
    expect(keys.get("tokenizer.ggml.add_bos_token")).toEqual({ type: "bool", value: true });
    const silent = await read({ tokenizer, config: { add_bos_token: false } });
    expect(silent.get("tokenizer.ggml.add_bos_token")).toEqual({ type: "bool", value: false });
  });

  it("come from config.json if nothing else names them, except for ids without a token", async () => {
    const keys = await read({
      tokenizer: bytes,
      ids: { bos_token_id: 99, eos_token_id: [4, 5], pad_token_id: 5 },
    });
    expect(keys.has("tokenizer.ggml.bos_token_id")).toBe(false);
    expect(keys.has("tokenizer.ggml.eos_token_id")).toBe(false);
    expect(keys.get("tokenizer.ggml.padding_token_id")).toEqual({ type: "uint32", value: 5 });
  });
});

describe("the chat template", () => {
  it("is found in any of its files, and there may be several", async () => {
    const config = { chat_template: "{{ 1 }}" };
    const inConfig = await read({ tokenizer: bytes, config, template: "{{ 2 }}" });
    expect(inConfig.get("tokenizer.chat_template")).toEqual({ type: "string", value: "{{ 1 }}" });
    const inFile = await read({ tokenizer: bytes, config: {}, template: "{{ 2 }}" });
    expect(inFile.get("tokenizer.chat_template")).toEqual({ type: "string", value: "{{ 2 }}" });
    const chat_template = [
      { name: "default", template: "a" },
      { name: "tool use", template: "b" },
    ];
    const several = await read({ tokenizer: bytes, config: { chat_template } });
    expect(several.get("tokenizer.chat_template")).toEqual({ type: "string", value: "a" });
    expect(several.get("tokenizer.chat_template.tool_use")).toEqual({ type: "string", value: "b" });
    expect(several.get("tokenizer.chat_templates")).toEqual({ type: "string", values: ["tool_use"] });
  });
});

async function rejectionCode(tokenizer: unknown): Promise<string> {
  try {
    await read({ tokenizer: tokenizer as object }); // as JSON from anywhere
    return "read";
  } catch (error) {
    if (error instanceof MlxError) return error.code;
    throw error;
  }
}

describe("a tokenizer that llama.cpp does not support", () => {
  it("is refused, and the message has its rule", async () => {
    const split = { type: "Split", pattern: { Regex: "[aeiou]+" }, behavior: "Isolated", invert: false };
    await expect(read({ tokenizer: { ...bytes, pre_tokenizer: split } })).rejects.toThrow(/\[aeiou\]\+/);
  });

  it.each([
    ["not BPE", { ...bytes, model: { ...bytes.model, type: "Unigram" } }],
    ["without a rule to split by", { ...bytes, pre_tokenizer: null }],
    ["that adds a space", { ...bytes, pre_tokenizer: { ...bytes.pre_tokenizer, add_prefix_space: true } }],
    ["that writes small letters", { ...bytes, normalizer: { type: "Lowercase" } }],
    ["of pieces that leaves spaces", { ...pieces, normalizer: null, pre_tokenizer: null }],
    ["of pieces that composes letters", { ...pieces, normalizer: { type: "NFKC" } }],
  ])("%s is refused", async (_, tokenizer) => {
    expect(await rejectionCode(tokenizer)).toBe("mlx_unsupported");
  });
});

describe("a damaged tokenizer.json", () => {
  const withModel = (change: object) => ({ ...bytes, model: { ...bytes.model, ...change } });

  it.each([
    ["nothing in it", {}],
    ["a list", []],
    ["no vocabulary", withModel({ vocab: undefined })],
    ["a vocabulary that is a list", withModel({ vocab: ["a"] })],
    ["an empty vocabulary", withModel({ vocab: {} })],
    ["an id beyond the model", withModel({ vocab: { a: 0, b: 1, ab: 9 } })],
    ["an id beyond every model", withModel({ vocab: { a: 2 ** 40 } })],
    ["a negative id", withModel({ vocab: { a: -1 } })],
    ["an id that is text", withModel({ vocab: { a: "0" } })],
    ["one id for two", withModel({ vocab: { a: 0, b: 0 } })],
    ["an endless token", withModel({ vocab: { ["a".repeat(5000)]: 0 } })],
    ["no merges", withModel({ merges: undefined })],
    ["merges of three", withModel({ merges: [["a", "b", "c"]] })],
    ["merges of one", withModel({ merges: ["ab"] })],
    ["merges of nothing", withModel({ merges: [["", "b"]] })],
    ["merges that are an object", withModel({ merges: { a: "b" } })],
    ["an added token without an id", { ...bytes, added_tokens: [{ content: "x" }] }],
    ["an added token that another id has", { ...bytes, added_tokens: [{ id: 6, content: "a" }] }],
    ["a token that looks like a gap", withModel({ vocab: { a: 0, b: 1, "[PAD7]": 2 } })],
  ])("with %s is malformed", async (_, tokenizer) => {
    expect(await rejectionCode(tokenizer)).toBe("mlx_malformed");
  });

  it("is reported as missing if there is none", async () => {
    await rm(path.join(folder, "tokenizer.json"), { force: true });
    const config = parseConfig({ model_type: "llama" });
    await expect(tokenizerMetadata(folder, config, 8)).rejects.toMatchObject({ code: "mlx_missing" });
  });
});
