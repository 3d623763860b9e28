// Computes how a job is shown: its progress, the time left, and the available actions. Pure.
import type { Job } from "@ingle/protocol";

export type JobAction = "pause" | "resume" | "cancel";

export interface JobView {
  job: Job;
  /** 0 to 1; null while the total is unknown. */
  fraction: number | null;
  /** Until the end of this phase, at the current speed; null if unknown. */
  secondsLeft: number | null;
  actions: readonly JobAction[];
  isOpen: boolean;
}

/** The jobs in the order of the list: unfinished ones first, each group with the newest first. */
export function jobViews(jobs: readonly Job[]): JobView[] {
  const views = jobs.map(jobView).toSorted((a, b) => b.job.created_at - a.job.created_at);
  return [...views.filter((view) => view.isOpen), ...views.filter((view) => !view.isOpen)];
}

export function jobView(job: Job): JobView {
  return {
    job,
    fraction: completedFraction(job),
    secondsLeft: estimateSecondsLeft(job),
    actions: jobActions(job),
    isOpen: isOpen(job),
  };
}

/** Whether it is not finished: waiting, running or paused. */
export function isOpen({ status }: Job): boolean {
  return status === "waiting" || status === "running" || status === "paused";
}

function completedFraction({ status, bytes, total_bytes: total }: Job): number | null {
  if (status === "done") return 1;
  if (total <= 0) return null;
  return Math.min(1, Math.max(0, bytes / total));
}

/** A week. A longer time means that the job is stalled, so the time left counts as unknown. */
const secondsLeftMax = 7 * 24 * 3600;

function estimateSecondsLeft({
  status,
  bytes,
  total_bytes: total,
  bytes_per_second: speed,
}: Job): number | null {
  if (status !== "running" || total <= 0 || speed === null || speed <= 0) return null;
  const seconds = Math.max(0, total - bytes) / speed;
  return seconds > secondsLeftMax ? null : seconds;
}

function jobActions(job: Job): JobAction[] {
  switch (job.status) {
    case "waiting":
    case "running":
      return job.can_pause ? ["pause", "cancel"] : ["cancel"];
    case "paused":
      return ["resume", "cancel"];
    case "failed":
      return job.kind === "pull" ? ["resume"] : [];
    case "done":
    case "cancelled":
      return [];
  }
}

/** The jobs that were unfinished before and are done or failed now. */
export function endedJobs(before: readonly Job[], now: readonly Job[]): Job[] {
  const open = new Set(before.filter(isOpen).map(({ id }) => id));
  return now.filter(({ id, status }) => open.has(id) && (status === "done" || status === "failed"));
}
