// Shows toasts for jobs that end while the user looks at another page; and names jobs.
import type { Job } from "@ingle/protocol";
import { effect } from "@preact/signals";

import { live } from "../connection/connection.ts";
import { showToast } from "../design/toast.tsx";
import { libraryText } from "../strings/library.ts";
import { endedJobs } from "./job-view.ts";

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
  const title = jobTitle(job);
  if (job.status === "done") showToast({ text: libraryText.jobDone[job.kind](title), tone: "good" });
  else showToast({ text: libraryText.jobFailed(title, job.error ?? ""), tone: "bad" });
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
