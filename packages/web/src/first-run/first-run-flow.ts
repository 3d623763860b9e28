// The way from nothing to a first model, as the states of one card. Pure; the server's jobs and models move it.
import type { Job, ManagedModel, RecommendedModel } from "@ingle/protocol";

import { isOpen } from "../library/job-view.ts";

export type FirstRunStep =
  /** It can be fetched by one click. */
  | { kind: "offered" }
  /** The order to fetch it has been given, and the server has not answered yet, or its job is under way. */
  | { kind: "fetching"; job: Job | null }
  | { kind: "paused"; job: Job }
  | { kind: "failed"; job: Job }
  /** It is here: one click leads to the chat. */
  | { kind: "ready"; model: string };

/** Where the recommended model is. `isOrdered`: this page has ordered it and its job is not known yet. */
export function firstRunStep(
  recommended: RecommendedModel,
  { models, jobs, isOrdered }: { models: readonly ManagedModel[]; jobs: readonly Job[]; isOrdered: boolean },
): FirstRunStep {
  const { model } = recommended;
  const here = models.find(({ id, aliases }) => id === model || aliases.includes(model));
  if (here !== undefined) return { kind: "ready", model: here.id };
  // The newest first: an older job of the same model says nothing of this one.
  const job = jobs.find((each) => each.kind === "pull" && each.model === model);
  if (job?.status === "paused") return { kind: "paused", job };
  if (job !== undefined && isOpen(job)) return { kind: "fetching", job };
  if (isOrdered) return { kind: "fetching", job: null };
  // A model that was fetched is listed a moment after its job is done.
  if (job?.status === "done") return { kind: "fetching", job };
  if (job?.status === "failed") return { kind: "failed", job };
  return { kind: "offered" };
}

/** Whether nobody can chat yet: no model here can answer. */
export function isFirstRun(models: readonly ManagedModel[]): boolean {
  return !models.some(({ capabilities }) => !capabilities.includes("embeddings"));
}
