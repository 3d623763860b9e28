// Collects the rules of a GBNF grammar under names of their own. Used by json-schema.ts and what writes parts for it.

/** Before every rule's name, so that none is met in a grammar that these rules are put into. */
const prefix = "ingle-";

export class Rules {
  readonly #bodies = new Map<string, string>();
  /** Names by body: what is the same is written once. */
  readonly #names = new Map<string, string>();
  #length = 0;

  /** Adds a rule, or finds one with the same body; returns its name. */
  add(body: string): string {
    const known = this.#names.get(body);
    if (known !== undefined) return known;
    const name = this.reserve();
    this.define(name, body);
    this.#names.set(body, name);
    return name;
  }

  /** A name whose rule comes later: rules may call each other in circles. */
  reserve(): string {
    const name = `${prefix}${this.#bodies.size}`;
    this.#bodies.set(name, "");
    return name;
  }

  define(name: string, body: string): void {
    this.#bodies.set(name, body);
    this.#length += name.length + body.length;
  }

  /** UTF-16 units of all rules so far. */
  get length(): number {
    return this.#length;
  }

  /** The rules as text, one a line. `root` gets the name that `rootRule` says. */
  text(root: string): string {
    const lines = [...this.#bodies].map(([name, body]) => `${name} ::= ${body}`);
    return [`${rootRule} ::= ${root}`, ...lines, ""].join("\n");
  }
}

/** The name of the rule for a whole value. */
export const rootRule = `${prefix}json`;

/** A text as a GBNF literal. */
export function literal(text: string): string {
  const escaped = text.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll(/\p{Cc}/gu, (control) => {
    return String.raw`\x` + (control.codePointAt(0) ?? 0).toString(16).padStart(2, "0").toUpperCase();
  });
  return `"${escaped}"`;
}

/** `item` from `min` to `max` times; no `max` is no limit. */
export function repeated(item: string, min: number, max: number | undefined): string {
  if (min === 0 && max === undefined) return `${item}*`;
  if (min === 1 && max === undefined) return `${item}+`;
  if (min === 0 && max === 1) return `${item}?`;
  return `${item}{${min},${max ?? ""}}`;
}
