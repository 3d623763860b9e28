// The rules that were written last, for those who ask for the same again: a program asks for few schemas, over and over.
// Used by response-format.ts and chat-preparation.ts.

/** UTF-16 units of all that is kept, keys and rules: a hundred usual ones, or a few of the largest. */
const lengthMax = 16 * 1024 * 1024;

/** In the order of their last use. */
const kept = new Map<string, string>();
let length = 0;

/** What `write` gave for the same key, or gives now; `key` must say all that the rules depend on. */
export function keptRules(key: string, write: () => string): string {
  const known = kept.get(key);
  const rules = known ?? write();
  kept.delete(key);
  kept.set(key, rules);
  if (known === undefined) length += key.length + rules.length;
  for (const [oldest, its] of kept) {
    if (length <= lengthMax) break;
    kept.delete(oldest);
    length -= oldest.length + its.length;
  }
  return rules;
}
