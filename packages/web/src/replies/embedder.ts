// Which embedding model compares the meaning of passages and questions.
import type { ManagedModel } from "@ingle/protocol";

import { models, modelOf } from "../connection/connection.ts";

/** The installed models that compute embeddings, the smallest first. */
export function embedders(): ManagedModel[] {
  return models.value
    .filter(({ capabilities }) => capabilities.includes("embeddings"))
    .toSorted((a, b) => (a.size_bytes ?? 0) - (b.size_bytes ?? 0));
}

/** The chosen one, or else the smallest, which takes the least time and memory; null if there is none, or if none is wanted (""). */
export function embedderOf(choice: string | null | undefined): string | null {
  if (choice === "") return null;
  const known = choice === undefined || choice === null ? undefined : modelOf(choice);
  return (known ?? embedders()[0])?.id ?? null;
}
