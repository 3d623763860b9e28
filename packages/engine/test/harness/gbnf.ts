// Matches and generates texts of GBNF rules, for tests of what they allow. Slow, and independent of the engine's own grammars.

type Node =
  | { kind: "text"; text: string }
  | { kind: "set"; ranges: readonly (readonly [number, number])[]; isNegated: boolean }
  | { kind: "rule"; name: string }
  | { kind: "sequence"; items: readonly Node[] }
  | { kind: "options"; options: readonly Node[] }
  | { kind: "repeat"; item: Node; min: number; max: number };

/** Rules in the form of `schemaRules`. */
export class Gbnf {
  readonly #bodies: ReadonlyMap<string, Node>;
  readonly #root: string;

  constructor(rules: string) {
    const lines = rules.split("\n").filter((line) => line.includes(" ::= "));
    const at = (line: string): number => line.indexOf(" ::= ");
    this.#bodies = new Map(
      lines.map((line) => [line.slice(0, at(line)), new Reader(line.slice(at(line) + 5)).read()]),
    );
    this.#root = lines[0]?.slice(0, at(lines[0])) ?? "";
  }

  matches(text: string): boolean {
    const characters = Array.from(text);
    const known = new Map<string, ReadonlySet<number>>();
    const allEnds = (node: Node, starts: ReadonlySet<number>): ReadonlySet<number> =>
      new Set([...starts].flatMap((start) => [...ends(node, start)]));
    const ends = (node: Node, from: number): ReadonlySet<number> => {
      switch (node.kind) {
        case "text": {
          const wanted = Array.from(node.text);
          return wanted.every((each, index) => characters[from + index] === each)
            ? new Set([from + wanted.length])
            : new Set();
        }
        case "set": {
          const character = characters[from]?.codePointAt(0);
          return character !== undefined && isIn(node, character) ? new Set([from + 1]) : new Set();
        }
        case "rule": {
          const key = `${node.name} ${from}`;
          const before = known.get(key);
          if (before !== undefined) return before;
          const found = ends(this.#body(node.name), from);
          known.set(key, found);
          return found;
        }
        case "sequence": {
          let starts: ReadonlySet<number> = new Set([from]);
          for (const item of node.items) starts = allEnds(item, starts);
          return starts;
        }
        case "options":
          return new Set(node.options.flatMap((option) => [...ends(option, from)]));
        case "repeat": {
          const all = new Set<number>(node.min === 0 ? [from] : []);
          let starts: ReadonlySet<number> = new Set([from]);
          for (let count = 1; count <= node.max && starts.size > 0; count++) {
            starts = allEnds(node.item, starts);
            const size = all.size;
            if (count >= node.min) for (const start of starts) all.add(start);
            if (count > node.min && all.size === size) break;
          }
          return all;
        }
      }
    };
    return ends({ kind: "rule", name: this.#root }, 0).has(characters.length);
  }

  /** A text of the rules. `random` returns numbers from 0 to below 1. */
  sample(random: () => number): string {
    let left = 20 + random() * 200;
    const sizes = this.#sizes();
    const write = (node: Node): string => {
      left -= 1;
      switch (node.kind) {
        case "text":
          return node.text;
        case "set":
          return randomCharacter(node, random);
        case "rule":
          return write(this.#body(node.name));
        case "sequence":
          return node.items.map(write).join("");
        case "options": {
          const possible = node.options.filter((option) => sizes(option) < Number.POSITIVE_INFINITY);
          const shortest = possible.toSorted((a, b) => sizes(a) - sizes(b))[0];
          const chosen = left > 0 ? possible[Math.floor(random() * possible.length)] : shortest;
          if (chosen === undefined) throw new Error("The rules come to a dead end.");
          return write(chosen);
        }
        case "repeat": {
          const isPossible = sizes(node.item) < Number.POSITIVE_INFINITY;
          const more = left > 0 && isPossible ? Math.floor(random() ** 2 * 8) : 0;
          const count = Math.min(node.max, node.min + more);
          return Array.from({ length: count }, () => write(node.item)).join("");
        }
      }
    };
    return write({ kind: "rule", name: this.#root });
  }

  #body(name: string): Node {
    const body = this.#bodies.get(name);
    if (body === undefined) throw new Error(`There is no rule ${name}.`);
    return body;
  }

  /** The length of the shortest text of a node; infinite if there is none. */
  #sizes(): (node: Node) => number {
    const known = new Map<string, number>();
    const size = (node: Node): number => {
      switch (node.kind) {
        case "text":
          return node.text.length;
        case "set":
          return 1;
        case "rule":
          return 1 + (known.get(node.name) ?? Number.POSITIVE_INFINITY);
        case "sequence":
          return node.items.reduce((sum, item) => sum + size(item), 0);
        case "options":
          return Math.min(...node.options.map(size));
        case "repeat":
          return node.min === 0 ? 0 : node.min * size(node.item);
      }
    };
    for (let isChanged = true; isChanged;) {
      isChanged = false;
      for (const [name, body] of this.#bodies) {
        const now = 1 + size(body);
        if (now >= (known.get(name) ?? Number.POSITIVE_INFINITY)) continue;
        known.set(name, now);
        isChanged = true;
      }
    }
    return size;
  }
}

type SetNode = Extract<Node, { kind: "set" }>;

function isIn({ ranges, isNegated }: SetNode, character: number): boolean {
  return ranges.some(([first, last]) => character >= first && character <= last) !== isNegated;
}

const probes = Array.from('ab AZ09-_.:@/é🦆"\\\n\u007F\u2028z5x');

function randomCharacter(node: SetNode, random: () => number): string {
  const likely = probes.filter((probe) => isIn(node, probe.codePointAt(0) ?? 0));
  const edges = node.isNegated ? [] : node.ranges.flat().map((edge) => String.fromCodePoint(edge));
  const all = random() < 0.6 && likely.length > 0 ? likely : [...edges, ...likely];
  const chosen = all[Math.floor(random() * all.length)];
  if (chosen === undefined) throw new Error("The rules have a set without characters.");
  return chosen;
}

class Reader {
  readonly #body: string;
  #at = 0;

  constructor(body: string) {
    this.#body = body;
  }

  read(): Node {
    const node = this.#options();
    if (this.#at < this.#body.length) throw new Error(`Unknown GBNF syntax: ${this.#body.slice(this.#at)}`);
    return node;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(pattern.source, "uy");
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#body) ?? undefined;
    if (found !== undefined) this.#at = sticky.lastIndex;
    return found;
  }

  #options(): Node {
    const options = [this.#sequence()];
    while (this.#take(/\s*\|/) !== undefined) options.push(this.#sequence());
    return { kind: "options", options };
  }

  #sequence(): Node {
    const items: Node[] = [];
    for (;;) {
      this.#take(/\s*/);
      const item = this.#atom();
      if (item === undefined) return { kind: "sequence", items };
      items.push(this.#repeated(item));
    }
  }

  #repeated(item: Node): Node {
    const [operator, min, comma, max] = this.#take(/[*+?]|\{(\d+)(,)?(\d+)?\}/) ?? [];
    if (operator === undefined) return item;
    const most =
      comma === undefined ? Number(min) : max === undefined ? Number.POSITIVE_INFINITY : Number(max);
    if (min !== undefined) return { kind: "repeat", item, min: Number(min), max: most };
    const isOnce = operator === "?";
    return {
      kind: "repeat",
      item,
      min: operator === "+" ? 1 : 0,
      max: isOnce ? 1 : Number.POSITIVE_INFINITY,
    };
  }

  #atom(): Node | undefined {
    if (this.#take(/\(/) !== undefined) {
      const node = this.#options();
      if (this.#take(/\s*\)/) === undefined) throw new Error("A group does not end.");
      return node;
    }
    const text = this.#take(/"((?:[^"\\]|\\.)*)"/)?.[1];
    if (text !== undefined) return { kind: "text", text: unescaped(text) };
    const [whole, not, set = ""] = this.#take(/\[(\^?)((?:[^\]\\]|\\.)*)\]/) ?? [];
    if (whole !== undefined) return { kind: "set", ranges: parseRanges(set), isNegated: not === "^" };
    const name = this.#take(/[a-zA-Z][\w-]*/)?.[0];
    return name === undefined ? undefined : { kind: "rule", name };
  }
}

const escape = /\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8})|(.))/gu;

function unescaped(text: string): string {
  return text.replaceAll(escape, (_all, byte?: string, short?: string, long?: string, character?: string) => {
    const code = byte ?? short ?? long;
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    return { n: "\n", t: "\t", r: "\r" }[character ?? ""] ?? character ?? "";
  });
}

function parseRanges(set: string): (readonly [number, number])[] {
  const one = String.raw`\\x[\dA-Fa-f]{2}|\\u[\dA-Fa-f]{4}|\\U[\dA-Fa-f]{8}|\\.|[^\\]`;
  const ranges = new RegExp(`(${one})(?:-(${one}))?`, "gu");
  const codePoint = (text: string): number => unescaped(text).codePointAt(0) ?? 0;
  return Array.from(
    set.matchAll(ranges),
    ([, first = "", last = first]) => [codePoint(first), codePoint(last)] as const,
  );
}
