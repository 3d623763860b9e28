// Splits a growing Markdown text into blocks, so that only the last one has to be parsed and rendered again. Pure.
import type { Token } from "marked";

import { lexer } from "./lexer.ts";

export interface Blocks {
  /** The Markdown of each block; only the last one may still change. */
  readonly blocks: readonly string[];
  /** Link definitions (`[name]: address`) of all settled blocks, since any block may refer to them. */
  readonly definitions: string;
  /** Everything before the last block. */
  readonly settled: string;
}

export const noBlocks: Blocks = { blocks: [], definitions: "", settled: "" };

/** A block that may turn out to be the next item of the list before it. */
const mayBecomeItem = /^\s*(?:[-*+]|\d{1,9}[.)]?)?\s*$/;

/** Splits a text. If it continues the text of `before`, only what follows the settled part is parsed. */
export function splitBlocks(text: string, before: Blocks = noBlocks): Blocks {
  const known = text.startsWith(before.settled) ? before : noBlocks;
  const settledBlocks = known.settled === "" ? [] : known.blocks.slice(0, -1);
  const rest = text.slice(known.settled.length);
  const cut = cutRest(rest);
  const last = rest.slice(cut.settled.length);
  return {
    blocks: last === "" ? [...settledBlocks, ...cut.blocks] : [...settledBlocks, ...cut.blocks, last],
    definitions: known.definitions + cut.definitions,
    settled: last === "" ? known.settled : known.settled + cut.settled,
  };
}

/** All blocks except the last one, which is still open. Blank lines belong to the block before them. */
function cutRest(rest: string): { blocks: string[]; definitions: string; settled: string } {
  const groups: { raw: string; isDefinition: boolean; isOpen: boolean }[] = [];
  for (const token of lexer.lex(rest)) {
    const group = groups.at(-1);
    if (token.type === "space" && group !== undefined) group.raw += token.raw;
    else groups.push({ raw: token.raw, isDefinition: token.type === "def", isOpen: isOpenEnded(token) });
  }
  const settled = groups.slice(0, (groups.at(-1)?.isOpen ?? false) ? -2 : -1);
  const raw = settled.map((group) => group.raw).join("");
  // The lexer may normalize its input; a text that its tokens do not reproduce is not split.
  if (!rest.startsWith(raw)) return { blocks: [], definitions: "", settled: "" };
  return {
    blocks: settled.map((group) => group.raw),
    definitions: settled.flatMap((group) => (group.isDefinition ? [group.raw] : [])).join(""),
    settled: raw,
  };
}

function isOpenEnded(token: Token): boolean {
  return token.type === "paragraph" && mayBecomeItem.test(token.raw);
}
