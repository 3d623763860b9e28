// A pull through the jobs of the library: what its client sees, and what becomes of the job when the client leaves.
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { JobRunner } from "../../jobs/job-runner.ts";
import type { ModelLibrary } from "../../models/library/model-library.ts";
import { ModelRegistry } from "../../models/registry.ts";
import { followPull } from "./pull.ts";

type Pull = ModelLibrary["pull"];

function makeRunner(pull: Pull): JobRunner {
  return new JobRunner({ library: { pull } as ModelLibrary, registry: new ModelRegistry({ waitingMax: 1 }) });
}

const never = (): AbortSignal => new AbortController().signal;

/** Downloads half, then waits to be stopped. */
const halfway: Pull = async (_model, { signal, onProgress }) => {
  onProgress("org/repo", { phase: "download", bytes: 50, totalBytes: 100 });
  await once(signal, "abort");
  throw signal.reason;
};

describe("a pull", () => {
  it("ends with success", async () => {
    await using jobs = makeRunner(async () => "org/repo");
    const seen: string[] = [];
    for await (const { status } of followPull(jobs, "org/repo", never())) seen.push(status);
    expect(seen).toEqual(["pulling manifest", "success"]);
  });

  it("is paused when its client leaves, and goes on with the next one", async () => {
    await using jobs = makeRunner(halfway);
    const leave = new AbortController();
    const read = async (): Promise<void> => {
      for await (const { total, completed } of followPull(jobs, "org/repo", leave.signal)) {
        if (total === undefined) continue;
        expect([completed, total]).toEqual([50, 100]);
        leave.abort(new Error("gone"));
      }
    };
    await expect(read()).rejects.toThrow();
    expect(jobs.list()).toMatchObject([{ status: "paused", bytes: 50 }]);
    const again = followPull(jobs, "org/repo", never());
    await again.next();
    expect(jobs.list()).toMatchObject([{ status: "running" }]);
    await again.return();
  });

  it("leaves a job that somebody else began", async () => {
    await using jobs = makeRunner(halfway);
    jobs.start({ kind: "pull", model: "org/repo" });
    const following = followPull(jobs, "org/repo", never());
    await following.next();
    await following.return();
    expect(jobs.list()).toMatchObject([{ status: "running" }]);
  });

  it("fails with the job's reason", async () => {
    await using jobs = makeRunner(async () => {
      throw Object.assign(new Error("No such repository."), { code: "model_not_found" });
    });
    const read = async (): Promise<void> => {
      for await (const { status } of followPull(jobs, "org/repo", never()))
        expect(status).toBe("pulling manifest");
    };
    await expect(read()).rejects.toMatchObject({ code: "engine_failed", message: "No such repository." });
  });
});
