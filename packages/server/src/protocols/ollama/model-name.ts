// Ollama's names of models, `name:tag`, as names of ours.

/** Prefixes by which Ollama's clients name a repository of the hub. */
const hubPrefix = /^(?:hf\.co|huggingface\.co)\//;

/**
 * The tag `latest` and a prefix of the hub are left out. What remains is an id or an alias, or, to pull, what `ingle pull` takes:
 * `hf.co/org/repo:Q4_K_M` is `org/repo:Q4_K_M`.
 */
export function toModelName(name: string): string {
  return name.replace(hubPrefix, "").replace(/:latest$/, "");
}
