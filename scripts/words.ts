// Finds the retired words of docs/glossary.md. A step of check.ts.
import { lineAt, type TextFile } from "./files.ts";

interface Retired {
  readonly pattern: RegExp;
  readonly instead: string;
  /** The files in which it is retired. Default: all. */
  readonly applies?: (path: string) => boolean;
}

/** Only patterns without an ordinary meaning in this repository; the glossary lists more words. */
const retired: readonly Retired[] = [
  { pattern: /donor/gi, instead: "cached sequence" },
  { pattern: /\bstash|Stash/g, instead: "host KV tier, swapped-out state" },
  { pattern: /\bcatch(?:es|ing)? up\b|catching_?up/gi, instead: "prefill" },
  { pattern: /\bshelf\b|Shelf/g, instead: "model catalog" },
  { pattern: /\bstrangers?\b/gi, instead: "unauthenticated client, other origin" },
  { pattern: /\bthe house\b|in_house|inHouse/gi, instead: "server, project, in flight" },
  { pattern: /\b(?:joinSaid|saidOf|Said[A-Z]\w*)\b|\bsaid\.ts\b/g, instead: "content parts" },
  { pattern: /(?<!Math\.)(?<![_'"])\bfloors?\b(?!\()/g, instead: "layer" },
  { pattern: /\bbring-?[fF]iles\b/g, instead: "download" },
  { pattern: /\bin-bounds\b/g, instead: "bounded, size check" },
  { pattern: /\btaking[_ -]turns\b|TakingTurns/g, instead: "round robin" },
  { pattern: /\bRoomPlan\b|\broom-plan\b/g, instead: "memory planner, eviction" },
  { pattern: /\bLoadOrder\b/g, instead: "management request" },
  { pattern: /\bThere is no \//g, instead: '"Unknown route: /…"' },
  { pattern: /\/\/ .*\bUsed by\b/g, instead: "no list of callers: it goes stale" },
  {
    pattern: /\b(?:function\*?|const|let) (?!(?:one|any|all)Of\b)\w+(?:Of|With)\b/g,
    instead: "a function's result, conversion or verb: usage, toBody, readHeader",
    applies: (path) => /\.(?:ts|tsx|js)$/.test(path),
  },
];

/** These files define the retired words. */
const definitions: ReadonlySet<string> = new Set([
  "docs/glossary.md",
  "scripts/words.ts",
  "scripts/words.test.ts",
]);

/** Every use of a retired word, as `path:line: sentence`. */
export function wordProblems(files: readonly TextFile[]): string[] {
  return files
    .filter(({ path }) => !definitions.has(path))
    .flatMap((file) =>
      retired
        .filter(({ applies }) => applies?.(file.path) ?? true)
        .flatMap(({ pattern, instead }) =>
          [...file.text.matchAll(pattern)].map(
            (match) =>
              `${file.path}:${lineAt(file.text, match.index)}: "${match[0]}" is retired; the glossary says: ${instead}`,
          ),
        ),
    );
}
