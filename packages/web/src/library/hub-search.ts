// What was looked for on the model hub, and what one of its repositories offers. Kept while the page is open, so that going
// back shows it at once.
import type { FoundRepository, OfferedRepository } from "@ingle/protocol";
import { signal } from "@preact/signals";

import { client } from "../connection/client.ts";

/** One question to the hub: under way, answered, or failed with a sentence. */
export type Asked<Answer> =
  | { kind: "asking" }
  | { kind: "answered"; answer: Answer }
  | { kind: "failed"; message: string };

/** Enough to choose from; better words find the others. */
const resultsMax = 30;
/** Opened repositories that are kept. */
const repositoriesMax = 50;

/** The present search; `words` is empty before the first. */
export const search = signal<{ words: string; state: Asked<readonly FoundRepository[]> } | null>(null);

export const repositories = signal<ReadonlyMap<string, Asked<OfferedRepository>>>(new Map());

let searching: AbortController | undefined;

/** Looks for words; a search that is still under way is given up. Words that were answered already are not asked again. */
export async function searchHub(words: string, { again = false } = {}): Promise<void> {
  const present = search.value;
  if (!again && present?.words === words && present.state.kind !== "failed") return;
  searching?.abort();
  const { signal: aborted } = (searching = new AbortController());
  search.value = { words, state: { kind: "asking" } };
  const state = await asked(async () => {
    const found = await client.library.search(words, { limit: resultsMax, signal: aborted });
    return found.data;
  });
  if (!aborted.aborted) search.value = { words, state };
}

/** Asks what a repository offers, unless that is known. */
export async function openRepository(repo: string, { again = false } = {}): Promise<void> {
  const present = repositories.value.get(repo);
  if (!again && present !== undefined && present.kind !== "failed") return;
  keep(repo, { kind: "asking" });
  keep(repo, await asked(() => client.library.describe(repo)));
}

function keep(repo: string, state: Asked<OfferedRepository>): void {
  const others = [...repositories.value].filter(([name]) => name !== repo).slice(1 - repositoriesMax);
  repositories.value = new Map([...others, [repo, state]]);
}

async function asked<Answer>(ask: () => Promise<Answer>): Promise<Asked<Answer>> {
  try {
    return { kind: "answered", answer: await ask() };
  } catch (error) {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}
