// Runs downloads of LM Studio's API v1 as jobs of the model library.
import type { Job, LmStudioDownload, LmStudioDownloadRequest } from "@ingle/protocol";
import type { JobRunner } from "../../../jobs/job-runner.ts";
import { isUnderWay } from "../../../jobs/kept-job.ts";
import type { ModelRegistry } from "../../../models/registry.ts";
import { WireError } from "../../../wire-error.ts";

/** How long the response waits for the size of a download, in milliseconds: a hub takes about a second to report it. */
const sizeWaitMs = 10_000;

const hubAddress = /^https?:\/\/(?:www\.)?(?:hf\.co|huggingface\.co)\/([^/?#]+\/[^/?#]+?)\/?$/;

/** The model's name for `ingle pull`. Throws `invalid_request`. */
export function toPullName({ model, quantization }: LmStudioDownloadRequest): string {
  const name = model.replace(hubAddress, "$1");
  if (quantization === undefined) return name;
  if (/^[^/:]+\/[^/:]+$/.test(name)) return `${name}:${quantization}`;
  const message =
    "quantization needs a model that is a repository of the hub and names no quantization itself";
  throw new WireError("invalid_request", message, { param: "quantization" });
}

/** Starts or resumes the download, and waits briefly until its size is known. Throws what starting a job throws. */
export async function startDownload(
  { jobs, registry }: { jobs: JobRunner; registry: ModelRegistry },
  name: string,
  signal: AbortSignal,
): Promise<LmStudioDownload> {
  const slot = await registry.find(name);
  if (slot?.profile.listed !== undefined) return { status: "already_downloaded" };
  const { id } = jobs.start({ kind: "pull", model: name });
  const job = await sizedJob(jobs, id, signal);
  // A repository's name without a quantization does not tell whether the model is installed.
  if (job.status === "done" && job.total_bytes === 0) return { status: "already_downloaded" };
  return toDownload(job);
}

/** The job, once its size is known, it has ended, or the wait is too long. */
async function sizedJob(jobs: JobRunner, id: string, signal: AbortSignal): Promise<Job> {
  const late = AbortSignal.timeout(sizeWaitMs);
  let newest: Job | undefined;
  try {
    for await (const job of jobs.follow(id, AbortSignal.any([signal, late]))) {
      newest = job;
      if (job.total_bytes > 0 || !isUnderWay(job)) break;
    }
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
  }
  if (newest === undefined) throw new Error("Following a job tells at least its present state.");
  return newest;
}

/** Throws `not_found` unless it is the id of a download. */
export function findDownload(jobs: JobRunner, id: string): LmStudioDownload {
  const job = jobs.list().find((each) => each.id === id);
  if (job?.kind === "pull") return toDownload(job);
  throw new WireError("not_found", "No download has this id.", { param: "job_id" });
}

function toDownload(job: Job): LmStudioDownload {
  const { bytes, total_bytes: total, bytes_per_second: rate, ended_at: endedAt, error } = job;
  const isDone = job.status === "done";
  return {
    job_id: job.id,
    status: downloadStatus(job),
    started_at: toTime(job.created_at),
    ...(isDone && endedAt !== null ? { completed_at: toTime(endedAt) } : {}),
    ...(total > 0 ? { total_size_bytes: total, downloaded_bytes: bytes } : {}),
    ...(rate === null ? {} : { bytes_per_second: rate }),
    ...(rate === null || rate === 0
      ? {}
      : { estimated_completion: toTime(Date.now() / 1000 + (total - bytes) / rate) }),
    ...(error === null ? {} : { error }),
  };
}

function downloadStatus(job: Job): LmStudioDownload["status"] {
  if (isUnderWay(job)) return "downloading";
  if (job.status === "paused") return "paused";
  return job.status === "done" ? "completed" : "failed";
}

function toTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString();
}
