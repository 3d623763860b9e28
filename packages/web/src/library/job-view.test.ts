import type { Job } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { endedJobs, jobView, jobViews } from "./job-view.ts";

function job(of: Partial<Job> = {}): Job {
  return {
    id: "1",
    kind: "pull",
    status: "running",
    model: "org/repo:Q4_K_M",
    source: null,
    quantization: null,
    phase: "download",
    bytes: 250,
    total_bytes: 1000,
    bytes_per_second: 50,
    can_pause: true,
    error: null,
    created_at: 100,
    ...of,
  };
}

describe("a job", () => {
  it("tells how far it is and how long it takes still", () => {
    expect(jobView(job())).toMatchObject({ fraction: 0.25, secondsLeft: 15, isOpen: true });
  });

  it("knows neither while the total is not known", () => {
    expect(jobView(job({ bytes: 0, total_bytes: 0 }))).toMatchObject({ fraction: null, secondsLeft: null });
  });

  it.each([0, null, 1e-9])("does not guess the time at %s bytes a second", (bytes_per_second) => {
    expect(jobView(job({ bytes_per_second })).secondsLeft).toBeNull();
  });

  it("is never more than whole", () => {
    expect(jobView(job({ bytes: 1200 })).fraction).toBe(1);
    expect(jobView(job({ bytes: 1200 })).secondsLeft).toBe(0);
  });

  it.each([
    [job(), ["pause", "cancel"]],
    [job({ can_pause: false }), ["cancel"]],
    [job({ status: "waiting" }), ["pause", "cancel"]],
    [job({ status: "paused" }), ["resume", "cancel"]],
    [job({ status: "failed" }), ["resume"]],
    [job({ status: "failed", kind: "quantize" }), []],
    [job({ status: "done" }), []],
    [job({ status: "cancelled" }), []],
  ])("offers what it can do: %#", (each, actions) => {
    expect(jobView(each).actions).toEqual(actions);
  });
});

describe("the list", () => {
  it("has what is not finished first, the newest of each on top", () => {
    const views = jobViews([
      job({ id: "done", status: "done", created_at: 400 }),
      job({ id: "old", created_at: 100 }),
      job({ id: "failed", status: "failed", created_at: 500 }),
      job({ id: "new", status: "paused", created_at: 300 }),
    ]);
    expect(views.map((view) => view.job.id)).toEqual(["new", "old", "failed", "done"]);
  });
});

describe("jobs that have ended", () => {
  it("are those that were under way before, once", () => {
    const before = [job({ id: "a" }), job({ id: "b", status: "waiting" }), job({ id: "c", status: "done" })];
    const now = [
      job({ id: "a", status: "done" }),
      job({ id: "b", status: "failed" }),
      job({ id: "c", status: "done" }),
      job({ id: "new", status: "done" }),
    ];
    expect(endedJobs(before, now).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(endedJobs(now, now)).toEqual([]);
  });

  it("are not those that somebody has cancelled or paused", () => {
    expect(endedJobs([job()], [job({ status: "cancelled" })])).toEqual([]);
    expect(endedJobs([job()], [job({ status: "paused" })])).toEqual([]);
  });
});
