// Shows toasts for jobs that end while the user looks at another page; and names jobs.
import type { Job } from "@ingle/protocol";
import { effect } from "@preact/signals";

import { live } from "../connection/connection.ts";
import { failureSentence } from "../design/failure.tsx";
import { showToast } from "../design/toast.tsx";
import { libraryText } from "../strings/library.ts";
import { endedJobs, isOpen } from "./job-view.ts";

/** Jobs whose failure a dialog shows by itself. */
const watched = new Set<string>();

/** Resolves with a job once it has ended, or with undefined if the signal aborts. Until then, no toast reports its failure. */
export function waitForJob(id: string, signal: AbortSignal): Promise<Job | undefined> {
  watched.add(id);
  return new Promise((resolve) => {
    const end = effect(() => {
      const job = live.value?.jobs.find((each) => each.id === id);
      if (job === undefined || isOpen(job)) return;
      resolve(job);
      // After the toasts have seen this state, and after `end` is assigned.
      queueMicrotask(stop);
    });
    const stop = () => {
      end();
      watched.delete(id);
      signal.removeEventListener("abort", abort);
    };
    const abort = () => {
      stop();
      resolve(undefined);
    };
    signal.addEventListener("abort", abort);
  });
}

/** Shows a toast for each job that ends from now on. */
export function startJobToasts(): void {
  let before: readonly Job[] | undefined;
  effect(() => {
    const jobs = live.value?.jobs;
    if (jobs === undefined) return;
    for (const job of endedJobs(before ?? jobs, jobs)) showEnd(job);
    before = jobs;
  });
}

function showEnd(job: Job): void {
  if (job.status === "failed" && watched.has(job.id)) return;
  const title = jobTitle(job);
  if (job.status === "done") showToast({ text: libraryText.jobDone[job.kind](title), tone: "good" });
  else showToast({ text: libraryText.jobFailed(title, failureSentence(job)), tone: "bad" });
}

export function jobTitle({ kind, status, model, source, quantization }: Job): string {
  const text = libraryText.jobTitle;
  switch (kind) {
    case "pull":
      return text.pull(model);
    case "import":
      return text.import(source ?? model);
    case "quantize":
      // A finished job names the new model.
      return status === "done" ? model : text.quantize(model, quantization ?? "");
  }
}
