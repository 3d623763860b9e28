// Converts GBNF rules to a regular expression, for tests of what they match. The rules must not be recursive.

/** For rules in the form of `schemaRules`; matches whole texts. */
export function asRegExp(rules: string): RegExp {
  const bodies = new Map(
    rules
      .split("\n")
      .filter((line) => line.includes(" ::= "))
      .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ::= ") + 5)] as const),
  );
  const [root] = bodies.keys();
  return new RegExp(`^(?:${translate(bodies.get(root ?? "") ?? "", bodies)})$`, "u");
}

const part = /"((?:[^"\\]|\\.)*)"|(\[(?:[^\]\\]|\\.)*\])|([a-zA-Z][\w-]*)|([()|*+?]|\{[\d,]+\})|\s+/gy;

function translate(body: string, bodies: ReadonlyMap<string, string>): string {
  let out = "";
  for (const [all, literal, set, name, operator] of body.matchAll(part)) {
    if (literal !== undefined)
      out += `(?:${unescape(literal).replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)})`;
    else if (set !== undefined) out += set.replaceAll(/\\U([\da-f]{8})/g, (_, hex: string) => `\\u{${hex}}`);
    else if (name !== undefined) out += `(?:${translate(bodies.get(name) ?? "", bodies)})`;
    else if (operator !== undefined) out += operator === "(" ? "(?:" : operator;
    else if (all.trim() !== "") throw new Error(`Unknown GBNF syntax: ${all}`);
  }
  return out;
}

function unescape(literal: string): string {
  return literal
    .replaceAll(/\\x([\dA-F]{2})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replaceAll(/\\([nt"\\])/g, (_, escaped: string) => ({ n: "\n", t: "\t" })[escaped] ?? escaped);
}
