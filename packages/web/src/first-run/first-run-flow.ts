// The states of the first-run card, computed from the server's jobs and models. Pure.
import type { Job, ManagedModel, RecommendedModel } from "@ingle/protocol";

import { isOpen } from "../library/job-view.ts";

export type FirstRunStep =
  | { kind: "offered" }
  /** The job is null until the server reports it. */
  | { kind: "downloading"; job: Job | null }
  | { kind: "paused"; job: Job }
  | { kind: "failed"; job: Job }
  | { kind: "ready"; model: string };

/** The state of the recommended model. `isRequested`: this page has requested the download and the server has not replied yet. */
export function firstRunStep(
  recommended: RecommendedModel,
  {
    models,
    jobs,
    isRequested,
  }: { models: readonly ManagedModel[]; jobs: readonly Job[]; isRequested: boolean },
): FirstRunStep {
  const { model } = recommended;
  const here = models.find(({ id, aliases }) => id === model || aliases.includes(model));
  if (here !== undefined) return { kind: "ready", model: here.id };
  // Jobs are listed newest first; older ones of the same model do not matter.
  const job = jobs.find((each) => each.kind === "pull" && each.model === model);
  if (job?.status === "paused") return { kind: "paused", job };
  if (job !== undefined && isOpen(job)) return { kind: "downloading", job };
  if (isRequested) return { kind: "downloading", job: null };
  // A downloaded model is listed a moment after its job is done.
  if (job?.status === "done") return { kind: "downloading", job };
  if (job?.status === "failed") return { kind: "failed", job };
  return { kind: "offered" };
}

/** Whether no installed model can chat. */
export function isFirstRun(models: readonly ManagedModel[]): boolean {
  return !models.some(({ capabilities }) => !capabilities.includes("embeddings"));
}
