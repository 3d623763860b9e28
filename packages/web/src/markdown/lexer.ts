// marked's lexer, extended by formulas: $…$, $$…$$, \(…\) and \[…\].
import { Marked, type Token, type TokenizerExtension } from "marked";

interface MathToken {
  type: "math";
  raw: string;
  tex: string;
  isBlock: boolean;
}

/** Formulas on their own lines. An unclosed one extends to the end of the text, like code. */
const blockPattern =
  /^(?:\$\$[ \t]*\n([\s\S]*?)(?:\n\$\$[ \t]*(?:\n|$)|$)|\$\$((?:[^$\n]|\\\$)+)\$\$[ \t]*(?:\n|$)|\\\[([\s\S]*?)(?:\\\][ \t]*(?:\n|$)|$))/;

/** Formulas within a line. `$` is a currency sign unless it touches the formula on both sides and no digit follows. */
const inlinePattern = /^(?:\$\$([^$\n]+?)\$\$|\$(?!\s)((?:[^$\n\\]|\\.)+?)(?<!\s)\$(?!\d)|\\\((.+?)\\\))/;

interface Level {
  name: string;
  level: "block" | "inline";
  pattern: RegExp;
  /** Where a formula may begin, which ends the text before it. */
  start: RegExp;
}

function mathExtension({ name, level, pattern, start }: Level): TokenizerExtension {
  return {
    name,
    level,
    start: (source) => {
      const at = source.search(start);
      return at === -1 ? undefined : at;
    },
    tokenizer: (source) => {
      const match = pattern.exec(source);
      if (match === null) return undefined;
      const tex = match.slice(1).find((group) => group !== undefined) ?? "";
      const isBlock = level === "block" || match[1] !== undefined;
      return { type: "math", raw: match[0], tex: tex.trim(), isBlock };
    },
  };
}

const marked = new Marked({
  extensions: [
    mathExtension({ name: "blockMath", level: "block", pattern: blockPattern, start: /\n(?:\$\$|\\\[)/ }),
    mathExtension({ name: "inlineMath", level: "inline", pattern: inlinePattern, start: /\$|\\\(/ }),
  ],
});

export const lexer: { lex(text: string): Token[] } = { lex: (text) => marked.lexer(text) };

export function isMath(token: Token): token is Token & MathToken {
  return token.type === "math" && "tex" in token && typeof token["tex"] === "string";
}
