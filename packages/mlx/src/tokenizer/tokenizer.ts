// The tokenizer's keys of the GGUF file, from tokenizer.json and the files beside it. They follow llama.cpp's own converter
// (conversion/base.py, gguf-py/gguf/vocab.py).
import type { GgufMetadata, GgufValue } from "@ingle/gguf";

import type { MlxConfig } from "../config.ts";
import { MlxError } from "../errors.ts";
import { readJson } from "../json-file.ts";
import { chatTemplateKeys } from "./chat-template.ts";
import { detectPreTokenizer } from "./pre-tokenizer.ts";
import { addsSpacePrefix } from "./sentence-pieces.ts";
import { specialTokenKeys } from "./special-tokens.ts";
import { parseTokenizer, parseTokenizerConfig } from "./tokenizer-json.ts";
import type { TokenizerJson } from "./tokenizer-json.ts";
import { byteLevelTokens, sentencePieceTokens } from "./tokens.ts";
import type { TokenList } from "./tokens.ts";

/** tokenizer_config.json may contain chat templates. */
const TOKENIZER_CONFIG_BYTES_MAX = 16 * 1024 * 1024;

/**
 * All `tokenizer.*` keys, for a model with embeddings for `size` tokens. Throws `mlx_missing` for a folder without
 * tokenizer.json, `mlx_malformed`, `mlx_unsupported` for a tokenizer that llama.cpp does not support, and file system errors.
 */
export async function tokenizerMetadata(
  folder: string,
  config: MlxConfig,
  size: number,
): Promise<GgufMetadata> {
  const json = await readJson(folder, "tokenizer.json");
  if (json === undefined) throw new MlxError("mlx_missing", "The folder has no tokenizer.json.");
  const tokenizer = parseTokenizer(json);
  const settings = parseTokenizerConfig(
    await readJson(folder, "tokenizer_config.json", TOKENIZER_CONFIG_BYTES_MAX),
  );
  const keys = new Map<string, GgufValue>(
    isSentencePieces(tokenizer)
      ? sentencePieceKeys(tokenizer, size)
      : byteLevelKeys(tokenizer, size, config.modelType),
  );
  const value = settings.add_prefix_space ?? undefined;
  if (value !== undefined && !keys.has(SPACE_PREFIX)) keys.set(SPACE_PREFIX, { type: "bool", value });
  return new Map([
    ...keys,
    ...specialTokenKeys(tokenizer, settings, config, size),
    ...(await chatTemplateKeys(folder, settings)),
  ]);
}

const SPACE_PREFIX = "tokenizer.ggml.add_space_prefix";

/** SentencePiece tokenizers fall back to single bytes for unknown text; byte-level tokenizers have a token for every byte. */
function isSentencePieces({ model }: TokenizerJson): boolean {
  if (model.type !== undefined && model.type !== "BPE") {
    throw new MlxError(
      "mlx_unsupported",
      `tokenizer.json has a model of the type ${model.type}; only BPE is supported.`,
    );
  }
  return model.byte_fallback === true;
}

function byteLevelKeys(tokenizer: TokenizerJson, size: number, modelType: string): [string, GgufValue][] {
  const { tokens, merges } = byteLevelTokens(tokenizer, size);
  return [
    ["tokenizer.ggml.model", { type: "string", value: "gpt2" }],
    ["tokenizer.ggml.pre", { type: "string", value: detectPreTokenizer(tokenizer, modelType) }],
    ...tokenKeys(tokens),
    ["tokenizer.ggml.merges", { type: "string", values: merges }],
  ];
}

function sentencePieceKeys(tokenizer: TokenizerJson, size: number): [string, GgufValue][] {
  const { tokens, scores } = sentencePieceTokens(tokenizer, size);
  const keys: [string, GgufValue][] = [
    ["tokenizer.ggml.model", { type: "string", value: "llama" }],
    ["tokenizer.ggml.pre", { type: "string", value: "default" }],
    ...tokenKeys(tokens),
    ["tokenizer.ggml.scores", { type: "float32", values: scores }],
  ];
  // llama.cpp adds a space before the text by default.
  if (!addsSpacePrefix(tokenizer)) keys.push([SPACE_PREFIX, { type: "bool", value: false }]);
  return keys;
}

function tokenKeys({ texts, types }: TokenList): [string, GgufValue][] {
  return [
    ["tokenizer.ggml.tokens", { type: "string", values: texts }],
    ["tokenizer.ggml.token_type", { type: "int32", values: types }],
  ];
}
