// marked's lexer with formulas: $…$, $$…$$, \(…\) and \[…\] become tokens of their own.
import { Marked, type Token, type TokenizerExtension } from "marked";

/** A formula in TeX. */
export interface MathToken {
  type: "math";
  raw: string;
  tex: string;
  isBlock: boolean;
}

/** Formulas on lines of their own. One that is not closed yet goes on to the end, as code does. */
const blockPattern =
  /^(?:\$\$[ \t]*\n([\s\S]*?)(?:\n\$\$[ \t]*(?:\n|$)|$)|\$\$((?:[^$\n]|\\\$)+)\$\$[ \t]*(?:\n|$)|\\\[([\s\S]*?)(?:\\\][ \t]*(?:\n|$)|$))/;

/** Formulas in a line. `$` is money unless it hugs what it encloses and no digit follows. */
const inlinePattern = /^(?:\$\$([^$\n]+?)\$\$|\$(?!\s)((?:[^$\n\\]|\\.)+?)(?<!\s)\$(?!\d)|\\\((.+?)\\\))/;

interface Level {
  name: string;
  level: "block" | "inline";
  pattern: RegExp;
  /** Where one may begin: a paragraph or a text ends there. */
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

/** Reads markdown into tokens. */
export const lexer: { lex(text: string): Token[] } = { lex: (text) => marked.lexer(text) };

/** Whether a token is a formula. */
export function isMath(token: Token): token is Token & MathToken {
  return token.type === "math" && "tex" in token && typeof token["tex"] === "string";
}
