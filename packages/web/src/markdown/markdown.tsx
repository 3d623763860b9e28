// Renders Markdown from tokens, never from HTML: HTML in the text stays text.
import type { Token, Tokens } from "marked";
import { useMemo, useRef } from "preact/hooks";
import remend from "remend";

import { noBlocks, splitBlocks } from "./blocks.ts";
import { CodeBlock } from "./code-block.tsx";
import { Diagram } from "./diagram.tsx";
import { Formula, InlineTokens } from "./inline-tokens.tsx";
import { isMath, lexer } from "./lexer.ts";
import "./markdown.css";

interface MarkdownProps {
  text: string;
  /** Whether the text may still grow; unfinished markup at its end is closed temporarily. */
  isOpen: boolean;
}

export function Markdown({ text, isOpen }: MarkdownProps) {
  const last = useRef(noBlocks);
  last.current = splitBlocks(text, last.current);
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
function Block({ text, definitions, isOpen }: BlockProps) {
  return useMemo(() => {
    const closed = isOpen && !isCode(text) ? remend(text) : text;
    const tokens = lexer.lex(definitions === "" ? closed : `${definitions}\n\n${closed}`);
    return <BlockTokens tokens={tokens} isOpen={isOpen} />;
  }, [text, definitions, isOpen]);
}

/** A code block contains no markup to close. */
function isCode(text: string): boolean {
  return /^ {0,3}(?:```|~~~)/.test(text);
}

interface TokensProps {
  tokens: readonly Token[];
  /** Whether the last token may still grow. */
  isOpen: boolean;
}

function BlockTokens({ tokens, isOpen }: TokensProps) {
  return (
    <>
      {tokens.map((token, at) => (
        <BlockToken key={at} token={token} isOpen={isOpen && at === tokens.length - 1} />
      ))}
    </>
  );
}

function BlockToken({ token, isOpen }: { token: Token; isOpen: boolean }) {
  if (isMath(token)) return <Formula tex={token.tex} isBlock={token.isBlock} />;
  if (isList(token)) return <List list={token} isOpen={isOpen} />;
  if (isTable(token)) return <MarkdownTable table={token} />;
  const inside = "tokens" in token && token.tokens !== undefined ? token.tokens : [];
  switch (token.type) {
    case "heading":
      return <Heading depth={"depth" in token ? Number(token["depth"]) : 1} tokens={inside} />;
    case "paragraph":
      return (
        <p>
          <InlineTokens tokens={inside} />
        </p>
      );
    // The text of an item in a tight list.
    case "text":
      return <InlineTokens tokens={inside.length === 0 ? [token] : inside} />;
    case "blockquote":
      return (
        <blockquote>
          <BlockTokens tokens={inside} isOpen={isOpen} />
        </blockquote>
      );
    case "code":
      return <Code code={tokenText(token)} language={codeLanguage(token)} isOpen={isOpen} />;
    case "hr":
      return <hr />;
    case "checkbox":
      return <input type="checkbox" disabled checked={"checked" in token && token["checked"] === true} />;
    case "space":
    case "def":
      return null;
    default:
      return <p class="plain">{token.raw}</p>;
  }
}

function Code({ code, language, isOpen }: { code: string; language: string; isOpen: boolean }) {
  if (language.toLowerCase() === "mermaid") return <Diagram source={code} isOpen={isOpen} />;
  return <CodeBlock code={code} language={language} isOpen={isOpen} />;
}

function isList(token: Token): token is Tokens.List {
  return token.type === "list";
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === "table";
}

function tokenText(token: Token): string {
  return "text" in token && typeof token.text === "string" ? token.text : token.raw;
}

/** The first word after the fence. */
function codeLanguage(token: Token): string {
  const info: unknown = "lang" in token ? token["lang"] : undefined;
  return typeof info === "string" ? (info.trim().split(/\s+/)[0] ?? "") : "";
}

/** h1 and h2 are used by the page itself, so headings in a text start at h3. */
function Heading({ depth, tokens }: { depth: number; tokens: readonly Token[] }) {
  const text = <InlineTokens tokens={tokens} />;
  if (depth <= 1) return <h3 class="heading-1">{text}</h3>;
  if (depth === 2) return <h4 class="heading-2">{text}</h4>;
  if (depth === 3) return <h5 class="heading-3">{text}</h5>;
  return <h6 class="heading-3">{text}</h6>;
}

function List({ list, isOpen }: { list: Tokens.List; isOpen: boolean }) {
  const items = list.items.map((item, at) => (
    <li key={at} class={item.task ? "task" : undefined}>
      <BlockTokens tokens={item.tokens} isOpen={isOpen && at === list.items.length - 1} />
    </li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={typeof list.start === "number" ? list.start : 1}>{items}</ol>;
}

function MarkdownTable({ table }: { table: Tokens.Table }) {
  return (
    // Focusable, so that the keyboard can scroll a wide table.
    <div
      class="markdown-table"
      role="region"
      tabIndex={0}
      aria-label={table.header.map(({ text }) => text).join(", ")}
    >
      <table>
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              <th key={at} scope="col" class={cell.align ?? undefined}>
                <InlineTokens tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, at) => (
                <td key={at} class={cell.align ?? undefined}>
                  <InlineTokens tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
