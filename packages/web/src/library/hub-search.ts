// The search on the model hub and the repositories that were opened, cached while the page is open.
import type { FoundRepository, OfferedRepository } from "@ingle/protocol";
import { signal } from "@preact/signals";

import { client } from "../connection/connection.ts";
import { errorText } from "../strings/error-message.ts";

/** The state of a request to the hub. */
export type HubRequest<Answer> =
  | { kind: "asking" }
  | { kind: "answered"; answer: Answer }
  | { kind: "failed"; message: string };

/** Enough to choose from; a more specific search finds the rest. */
const resultsMax = 30;
/** Repositories in the cache. */
const repositoriesMax = 50;

/** The last search; null before the first. */
export const search = signal<{ words: string; state: HubRequest<readonly FoundRepository[]> } | null>(null);

export const repositories = signal<ReadonlyMap<string, HubRequest<OfferedRepository>>>(new Map());

let searching: AbortController | undefined;

/** Searches and aborts the previous search. The same words are not searched twice unless `again` is set or the search failed. */
export async function searchHub(words: string, { again = false } = {}): Promise<void> {
  const present = search.value;
  if (!again && present?.words === words && present.state.kind !== "failed") return;
  searching?.abort();
  const { signal: aborted } = (searching = new AbortController());
  search.value = { words, state: { kind: "asking" } };
  const state = await queryHub(async () => {
    const found = await client.library.search(words, { limit: resultsMax, signal: aborted });
    return found.data;
  });
  if (!aborted.aborted) search.value = { words, state };
}

/** Loads a repository, unless it is cached. */
export async function openRepository(repo: string, { again = false } = {}): Promise<void> {
  const present = repositories.value.get(repo);
  if (!again && present !== undefined && present.kind !== "failed") return;
  keep(repo, { kind: "asking" });
  keep(repo, await queryHub(() => client.library.describe(repo)));
}

function keep(repo: string, state: HubRequest<OfferedRepository>): void {
  const others = [...repositories.value].filter(([name]) => name !== repo).slice(1 - repositoriesMax);
  repositories.value = new Map([...others, [repo, state]]);
}

/** Asks the hub; a failure is a state, too. */
export async function queryHub<Answer>(ask: () => Promise<Answer>): Promise<HubRequest<Answer>> {
  try {
    return { kind: "answered", answer: await ask() };
  } catch (error) {
    return { kind: "failed", message: errorText(error) };
  }
}
