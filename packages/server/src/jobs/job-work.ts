// What each kind of job has the library do. Used by job-runner.ts.
import type { JobRequest } from "@ingle/protocol";
import type { ModelLibrary } from "../models/model-library.ts";
import type { JobProgress } from "./kept-job.ts";

export interface WorkOptions {
  signal: AbortSignal;
  /** `model`: the id of the model that is worked on, as soon as it is known. */
  onProgress: (progress: JobProgress, model?: string) => void;
}

/** Resolves with the id of the model that there is now; of several, all of them. */
export type JobWork = (library: ModelLibrary, options: WorkOptions) => Promise<string>;

export function workOf(request: JobRequest): JobWork {
  switch (request.kind) {
    case "pull":
      return (library, { signal, onProgress }) =>
        library.pull(request.model, { signal, onProgress: (id, progress) => onProgress(progress, id) });
    case "import":
      return async (library, options) => (await library.importPath(request.path, options)).join(", ");
    case "quantize":
      return (library, { signal, onProgress }) =>
        library.quantize(request.model, {
          to: request.quantization,
          signal,
          onProgress: ({ bytes, totalBytes }) => onProgress({ phase: "quantize", bytes, totalBytes }),
        });
  }
}
