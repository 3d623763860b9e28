// A cache of grammar rules, because programs use few schemas, over and over.

/** UTF-16 units of all keys and rules: enough for a hundred usual schemas, or a few of the largest. */
const lengthMax = 16 * 1024 * 1024;

/** Least recently used first. */
const kept = new Map<string, string>();
let length = 0;

/** The cached result of `write` for this key, or a new one; `key` must contain everything that the rules depend on. */
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
