// What a row of the list of jobs shows and offers: how far it is, how long it takes still, which orders it takes. Pure.
import type { Job } from "@ingle/protocol";

export type JobAction = "pause" | "resume" | "cancel";

export interface JobView {
  job: Job;
  /** 0 to 1; null while the total is not known, and nothing runs that could be measured. */
  fraction: number | null;
  /** Until this phase is done, at the speed of the last seconds; null while that is not known. */
  secondsLeft: number | null;
  actions: readonly JobAction[];
  isOpen: boolean;
}

/** Jobs as the page lists them: those that are not finished first, then the others, both with the newest first. */
export function jobViews(jobs: readonly Job[]): JobView[] {
  const views = jobs.map(jobView).toSorted((a, b) => b.job.created_at - a.job.created_at);
  return [...views.filter((view) => view.isOpen), ...views.filter((view) => !view.isOpen)];
}

export function jobView(job: Job): JobView {
  return {
    job,
    fraction: fractionOf(job),
    secondsLeft: secondsLeftOf(job),
    actions: actionsOf(job),
    isOpen: isOpen(job),
  };
}

/** Whether it still may do something by itself or when it is resumed. */
export function isOpen({ status }: Job): boolean {
  return status === "waiting" || status === "running" || status === "paused";
}

function fractionOf({ status, bytes, total_bytes: total }: Job): number | null {
  if (status === "done") return 1;
  if (total <= 0) return null;
  return Math.min(1, Math.max(0, bytes / total));
}

/** Beyond a week nobody plans with it: a stalled line is told as unknown. */
const secondsLeftMax = 7 * 24 * 3600;

function secondsLeftOf({ status, bytes, total_bytes: total, bytes_per_second: speed }: Job): number | null {
  if (status !== "running" || total <= 0 || speed === null || speed <= 0) return null;
  const seconds = Math.max(0, total - bytes) / speed;
  return seconds > secondsLeftMax ? null : seconds;
}

function actionsOf(job: Job): JobAction[] {
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

/** Jobs that were under way before and are done or have failed now. */
export function endedJobs(before: readonly Job[], now: readonly Job[]): Job[] {
  const open = new Set(before.filter(isOpen).map(({ id }) => id));
  return now.filter(({ id, status }) => open.has(id) && (status === "done" || status === "failed"));
}
