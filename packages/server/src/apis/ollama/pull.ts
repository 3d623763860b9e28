// Runs a pull of Ollama's API as a job of the model library, and reports its progress as one JSON object per line.
import type { Job, OllamaProgress } from "@ingle/protocol";
import { jsonLine } from "../../http/event-stream.ts";
import type { JobRunner } from "../../jobs/job-runner.ts";
import { isUnderWay } from "../../jobs/kept-job.ts";
import { WireError } from "../../wire-error.ts";
import { phaseDigest } from "./conventions.ts";

/**
 * Starts the job, or follows the one that downloads the same model. If the signal is aborted, a job that began here is paused,
 * and another pull resumes it. Throws what starting a job throws, and `engine_failed` with the reason if it fails.
 */
export async function* followPull(
  jobs: JobRunner,
  model: string,
  signal: AbortSignal,
): AsyncGenerator<OllamaProgress, void, undefined> {
  const underWay = new Set(
    jobs
      .list()
      .filter(isUnderWay)
      .map(({ id }) => id),
  );
  const { id } = jobs.start({ kind: "pull", model });
  try {
    yield { status: "pulling manifest" };
    let shown = "";
    for await (const job of jobs.follow(id, signal)) {
      if (job.status !== "done" && !isUnderWay(job))
        throw new WireError("engine_failed", job.error ?? `The download was ${job.status}.`);
      const progress = toProgress(job);
      const text = JSON.stringify(progress);
      if (isUnderWay(job) && job.total_bytes > 0 && text !== shown) yield progress;
      shown = text;
    }
    yield { status: "success" };
  } finally {
    const job = jobs.list().find((each) => each.id === id);
    if (!underWay.has(id) && job?.can_pause === true) await jobs.pause(id);
  }
}

export async function* progressLines(
  progress: AsyncIterable<OllamaProgress>,
): AsyncGenerator<string, void, undefined> {
  for await (const each of progress) yield jsonLine(each);
}

function toProgress({ phase, model, bytes, total_bytes: total }: Job): OllamaProgress {
  const what = phase === null || phase === "download" ? "pulling" : `${phase}:`;
  const digest = phaseDigest(model, phase ?? "download");
  return { status: `${what} ${model}`, digest, total, completed: bytes };
}
