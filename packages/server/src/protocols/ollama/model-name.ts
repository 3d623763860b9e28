// Converts Ollama's model names, `name:tag`, to ours.

/** Prefixes by which Ollama's clients name a repository of the hub. */
const hubPrefix = /^(?:hf\.co|huggingface\.co)\//;

/**
 * Drops the tag `latest` and a prefix of the hub. The rest is an id or an alias or, for a pull, a name for `ingle pull`:
 * `hf.co/org/repo:Q4_K_M` becomes `org/repo:Q4_K_M`.
 */
export function toModelName(name: string): string {
  return name.replace(hubPrefix, "").replace(/:latest$/, "");
}
