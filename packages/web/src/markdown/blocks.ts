// Splits a growing Markdown text into blocks, so that only the last ones have to be parsed and rendered again. Pure.
import { lexer } from "./lexer.ts";

export interface Blocks {
  /** The Markdown of each block. */
  readonly blocks: readonly string[];
  /** Link definitions (`[name]: address`) of all blocks but the last, since any block may refer to them. */
  readonly definitions: string;
  /** The beginning of the text, which stays as it is whatever follows. */
  readonly settled: Settled;
}

interface Settled {
  readonly text: string;
  readonly blocks: readonly string[];
  readonly definitions: string;
}

export const noBlocks: Blocks = {
  blocks: [],
  definitions: "",
  settled: { text: "", blocks: [], definitions: "" },
};

/** Splits a text. If it continues the text of `before`, only what follows the settled part is parsed. */
export function splitBlocks(text: string, before: Blocks = noBlocks): Blocks {
  const known = text.startsWith(before.settled.text) ? before.settled : noBlocks.settled;
  const rest = text.slice(known.text.length);
  const groups = groupTokens(rest);
  const settled = groups.slice(0, settledCount(groups, rest));
  return {
    blocks: [...known.blocks, ...groups.map(({ raw }) => raw)],
    definitions: known.definitions + joinDefinitions(groups.slice(0, -1)),
    settled: settled.length === 0 ? known : continued(known, settled),
  };
}

function continued(known: Settled, groups: readonly Group[]): Settled {
  const blocks = groups.map(({ raw }) => raw);
  return {
    text: known.text + blocks.join(""),
    blocks: [...known.blocks, ...blocks],
    definitions: known.definitions + joinDefinitions(groups),
  };
}

interface Group {
  raw: string;
  type: string;
}

/** Blank lines belong to the block before them. */
function groupTokens(text: string): Group[] {
  const groups: Group[] = [];
  for (const { type, raw } of lexer.lex(text)) {
    const group = groups.at(-1);
    if (type === "space" && group !== undefined) group.raw += raw;
    else groups.push({ raw, type });
  }
  // The lexer may normalize its input; a text that its tokens do not reproduce is not split.
  const isWhole = groups.map(({ raw }) => raw).join("") === text;
  return isWhole ? groups : [{ raw: text, type: "text" }];
}

/**
 * How many blocks stay as they are, whatever follows. The last one may always continue, and the ones before it until they are followed by two
 * whole lines: `#` becomes `#tag`, `-` the next item of a list, a line the head of a table.
 */
function settledCount(groups: readonly Group[], text: string): number {
  /** Where the last whole line begins. */
  const lastLine = text.lastIndexOf("\n", text.lastIndexOf("\n") - 1) + 1;
  let count = 0;
  let end = 0;
  for (const { raw } of groups.slice(0, -1)) {
    end += raw.length;
    if (end >= lastLine) break;
    count += 1;
  }
  return count;
}

function joinDefinitions(groups: readonly Group[]): string {
  return groups.flatMap(({ type, raw }) => (type === "def" ? [raw] : [])).join("");
}
