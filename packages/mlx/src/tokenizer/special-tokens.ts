// The special tokens, and which of them are added around a text. Follows SpecialVocab in llama.cpp's gguf-py/gguf/vocab.py.
import type { GgufValue } from "@ingle/gguf";
import { z } from "zod";

import { readFields } from "../config.ts";
import type { MlxConfig } from "../config.ts";
import type { Processor, TokenizerConfig, TokenizerJson } from "./tokenizer-json.ts";

/** The names in tokenizer_config.json. */
const roleNames = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"] as const;
type Role = (typeof roleNames)[number];
/** The names in GGUF. */
const roles: Record<Role, string> = {
  bos: "bos",
  eos: "eos",
  unk: "unknown",
  sep: "seperator",
  pad: "padding",
  cls: "cls",
  mask: "mask",
};

const id = z.int().min(0).nullish().catch(undefined);
/** Lists of ids, which some files have for eos, are ignored: tokenizer_config.json names the main one. */
const Ids = z.object({
  bos_token_id: id,
  eos_token_id: id,
  unk_token_id: id,
  sep_token_id: id,
  pad_token_id: id,
  cls_token_id: id,
  mask_token_id: id,
});

/** `tokens` is the number of tokens: larger ids are not written. */
export function specialTokenKeys(
  tokenizer: TokenizerJson,
  settings: TokenizerConfig,
  config: MlxConfig,
  tokens: number,
): [string, GgufValue][] {
  const ids = readFields(config, Ids);
  const around = aroundText(tokenizer, settings);
  const keys: [string, GgufValue][] = [];
  for (const role of roleNames) {
    const named = around.names[role];
    const found = tokenizer.added_tokens.find(({ content }) => content === named)?.id;
    const value = [found, ids[`${role}_token_id`] ?? undefined].find(
      (one) => one !== undefined && one < tokens,
    );
    if (value !== undefined) keys.push([`tokenizer.ggml.${roles[role]}_token_id`, { type: "uint32", value }]);
  }
  for (const role of ["bos", "eos", "sep"] as const) {
    const value = settings[`add_${role}_token`] ?? around.adds[role];
    if (value !== undefined) keys.push([`tokenizer.ggml.add_${role}_token`, { type: "bool", value }]);
  }
  return keys;
}

interface Around {
  names: Partial<Record<Role, string>>;
  adds: { bos?: boolean; eos?: boolean; sep?: boolean };
}

/** The tokens that the template of tokenizer.json adds around a text. It also gives names that tokenizer_config.json omits. */
function aroundText({ post_processor: processor }: TokenizerJson, settings: TokenizerConfig): Around {
  const names: Around["names"] = {};
  for (const role of roleNames) {
    const name = settings[`${role}_token`] ?? undefined;
    if (name !== undefined) names[role] = name;
  }
  const adds: Around["adds"] = {};
  const template = [processor ?? [], processor?.processors ?? []]
    .flat()
    .find((one) => one.type === "TemplateProcessing");
  const single = template?.single ?? [];
  if (template === undefined || single.length < 2) return { names, adds };
  const first = single[0]?.SpecialToken?.id;
  const last = single.at(-1)?.SpecialToken?.id;
  if (first !== undefined) {
    names.bos ??= first;
    adds.bos = first === names.bos || first === names.cls;
  }
  if (last !== undefined) {
    names.eos = last;
    adds.eos = true;
  }
  const separated = separates(template, first, last, names);
  return { names, adds: separated === undefined ? adds : { ...adds, sep: separated } };
}

/** Whether a pair of texts has the separator between them; undefined if it has nothing between them. */
function separates(
  { pair }: Processor,
  first: string | undefined,
  last: string | undefined,
  names: Around["names"],
): boolean | undefined {
  const pieces = [...(pair ?? [])];
  if (first !== undefined && pieces[0]?.SpecialToken?.id === first) pieces.shift();
  if (last !== undefined && pieces.at(-1)?.SpecialToken?.id === last) pieces.pop();
  if (pieces[0]?.Sequence?.id !== "A" || pieces.at(-1)?.Sequence?.id !== "B") return undefined;
  const between = pieces.slice(1, -1).map((piece) => piece.SpecialToken?.id);
  if (between.length === 0) return undefined;
  const isSeparator = (name: string | undefined) =>
    name !== undefined && (name === names.sep || name === names.eos);
  return (isSeparator(between[0]) && last === undefined) || (between.length === 2 && isSeparator(between[1]));
}
