// Tells of jobs that end while the person looks at another page.
import type { Job } from "@ingle/protocol";
import { effect } from "@preact/signals";

import { live } from "../connection/connection.ts";
import { showToast } from "../design/toast.tsx";
import { strings } from "../strings/strings.ts";
import { jobTitle } from "./job-title.ts";
import { endedJobs } from "./job-view.ts";

/** Begins to tell; called once by the page. */
export function startJobNews(): void {
  let before: readonly Job[] | undefined;
  effect(() => {
    const jobs = live.value?.jobs;
    if (jobs === undefined) return;
    for (const job of endedJobs(before ?? jobs, jobs)) tell(job);
    before = jobs;
  });
}

function tell(job: Job): void {
  const text = strings.peek().library;
  const title = jobTitle(job);
  if (job.status === "done") showToast({ text: text.jobDone[job.kind](title), tone: "good" });
  else showToast({ text: text.jobFailed(title, job.error ?? ""), tone: "bad" });
}
