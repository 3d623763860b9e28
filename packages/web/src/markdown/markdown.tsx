// Renders Markdown from tokens, never from HTML: HTML in the text stays text.
import { useRef } from "preact/hooks";
import remend from "remend";

import { memo } from "../design/memo.ts";
import { BlockTokens } from "./block-tokens.tsx";
import { noBlocks, splitBlocks } from "./blocks.ts";
import { lexer } from "./lexer.ts";

import "./markdown.css";

interface MarkdownProps {
  text: string;
  /** Whether the text may still grow; unfinished markup at its end is closed temporarily. */
  isOpen: boolean;
}

export function Markdown({ text, isOpen }: MarkdownProps) {
  const last = useRef(noBlocks);
  // A finished text is split again from the start, in case markup arrived in two parts.
  last.current = splitBlocks(text, isOpen ? last.current : noBlocks);
  const { blocks, definitions } = last.current;
  return (
    <div class="markdown">
      {blocks.map((block, at) => (
        <Block key={at} text={block} definitions={definitions} isOpen={isOpen && at === blocks.length - 1} />
      ))}
    </div>
  );
}

interface BlockProps {
  text: string;
  definitions: string;
  isOpen: boolean;
}

/** Memoized, so that only the growing block rerenders. */
const Block = memo(({ text, definitions, isOpen }: BlockProps) => {
  const closed = isOpen && !isCode(text) ? remend(text) : text;
  const tokens = lexer.lex(definitions === "" ? closed : `${definitions}\n\n${closed}`);
  return <BlockTokens tokens={tokens} isOpen={isOpen} />;
});

/** A code block contains no markup to close. */
function isCode(text: string): boolean {
  return /^ {0,3}(?:```|~~~)/.test(text);
}
