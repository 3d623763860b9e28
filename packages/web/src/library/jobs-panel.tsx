// The list of jobs: downloads, imports and quantizations, with their progress and actions. They run in the server, so they continue
// when the page is closed.
import type { Job } from "@ingle/protocol";
import { signal } from "@preact/signals";

import { canManage, client, live } from "../connection/connection.ts";
import { Failure } from "../design/failure.tsx";
import { Badge, Progress, type Tone } from "../design/indicators.tsx";
import { Button, IconButton } from "../design/button.tsx";
import { ask } from "../design/dialog.tsx";
import { useAttempt } from "../design/toast.tsx";
import { byteRateText, bytesText, durationText, shareText } from "../format/localized.ts";
import { libraryText } from "../strings/library.ts";
import { jobTitle } from "./job-toasts.ts";
import { jobViews, type JobAction, type JobView } from "./job-view.ts";

import "./jobs-panel.css";

/** Finished jobs that are always shown; the others are collapsed. */
const finishedShown = 2;

/** Ids of finished jobs that the user has hidden. */
const hidden = signal<ReadonlySet<string>>(new Set());

export function JobsPanel() {
  const views = jobViews(live.value?.jobs ?? []).filter(
    ({ job, isOpen }) => isOpen || !hidden.value.has(job.id),
  );
  const finished = views.filter(({ isOpen }) => !isOpen).map(({ job }) => job.id);
  if (views.length === 0) return null;
  const openCount = views.filter(({ isOpen }) => isOpen).length;
  const shown = views.slice(0, openCount + finishedShown);
  const folded = views.slice(shown.length);
  return (
    <section class="stack" aria-labelledby="jobs-heading">
      <div class="jobs-head">
        <h2 id="jobs-heading">{libraryText.jobs}</h2>
        {finished.length > 0 && (
          <Button
            kind="quiet"
            size="small"
            onClick={() => {
              hidden.value = new Set([...hidden.value, ...finished]);
            }}
          >
            {libraryText.hideFinished}
          </Button>
        )}
      </div>
      <ul class="boxed jobs">
        {shown.map((view) => (
          <JobRow key={view.job.id} view={view} />
        ))}
      </ul>
      {folded.length > 0 && (
        <details>
          <summary class="small soft">{libraryText.finishedJobs(folded.length)}</summary>
          <ul class="boxed jobs">
            {folded.map((view) => (
              <JobRow key={view.job.id} view={view} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

const tones: Readonly<Record<Job["status"], Tone>> = {
  waiting: "plain",
  running: "accent",
  paused: "warn",
  done: "good",
  failed: "bad",
  cancelled: "plain",
};

function JobRow({ view }: { view: JobView }) {
  const { job, fraction, isOpen } = view;
  const title = jobTitle(job);
  return (
    <li class="job">
      <span class="job-title">{title}</span>
      <Badge tone={tones[job.status]}>{libraryText.jobStatus[job.status]}</Badge>
      <span class="job-actions">
        <JobActions view={view} title={title} />
      </span>
      {isOpen && (
        <span class="job-bar">
          <Progress label={title} value={job.status === "waiting" ? 0 : fraction} />
        </span>
      )}
      <JobFigures view={view} />
      <Failure class="job-error small" of={job} />
    </li>
  );
}

/** "Downloading · 120 MiB of 700 MiB · 12 MiB/s · 50 s left" */
export function JobFigures({ view: { job, fraction, secondsLeft, isOpen } }: { view: JobView }) {
  if (!isOpen) return null;
  const parts = [
    job.phase === null ? "" : libraryText.phase[job.phase],
    fraction === null ? "" : shareText(fraction),
    job.total_bytes > 0 ? libraryText.ofTotal(bytesText(job.bytes), bytesText(job.total_bytes)) : "",
    job.status === "running" && job.bytes_per_second !== null ? byteRateText(job.bytes_per_second) : "",
    secondsLeft === null ? "" : libraryText.timeLeft(durationText(secondsLeft)),
  ];
  return (
    <span class="job-figures small soft figures">{parts.filter((part) => part !== "").join(" · ")}</span>
  );
}

const icons = { pause: "pause", resume: "play", cancel: "close" } as const;

export function JobActions({ view: { job, actions }, title }: { view: JobView; title: string }) {
  const [isBusy, attempt] = useAttempt();
  const labels: Record<JobAction, string> = {
    pause: libraryText.pauseJob(title),
    resume: libraryText.resumeJob(title),
    cancel: libraryText.cancelJob(title),
  };
  const run = async (action: JobAction) => {
    if (action === "cancel" && !(await confirmCancel(job))) return;
    await attempt(() => client.jobs[action](job.id));
  };
  return (
    <>
      {actions.map((action) => (
        <IconButton
          key={action}
          icon={job.status === "failed" ? "retry" : icons[action]}
          label={labels[action]}
          size="small"
          disabled={isBusy || !canManage.value}
          onClick={() => void run(action)}
        />
      ))}
    </>
  );
}

/** Asks only if a download has already begun. */
async function confirmCancel({ kind, bytes }: Job): Promise<boolean> {
  if (kind !== "pull" || bytes === 0) return true;
  return await ask({
    title: libraryText.cancelTitle,
    text: libraryText.cancelText(bytesText(bytes)),
    action: libraryText.cancelAction,
    isDangerous: true,
  });
}
