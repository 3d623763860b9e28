// Markdown as elements of the page, made from tokens: HTML in the text stays text.
import remend from "remend";
import { memo } from "../design/memo.ts";
import { useRef } from "preact/hooks";

import { BlockTokens } from "./block-tokens.tsx";
import { noBlocks, splitBlocks } from "./blocks.ts";
import { lexer } from "./lexer.ts";

import "./markdown.css";

interface MarkdownProps {
  text: string;
  /** More may come: unfinished signs at its end are closed for the moment. */
  isOpen: boolean;
}

export function Markdown({ text, isOpen }: MarkdownProps) {
  const last = useRef(noBlocks);
  // A text that is whole is cut anew: signs that came in two parts are seen together then.
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

/** Drawn anew only when its own text changes. */
const Block = memo(({ text, definitions, isOpen }: BlockProps) => {
  const closed = isOpen && !isCode(text) ? remend(text) : text;
  const tokens = lexer.lex(definitions === "" ? closed : `${definitions}\n\n${closed}`);
  return <BlockTokens tokens={tokens} isOpen={isOpen} />;
});

/** Nothing in a block of code is a sign of markdown. */
function isCode(text: string): boolean {
  return /^ {0,3}(?:```|~~~)/.test(text);
}
