import { describe, expect, it } from "vitest";

import { exampleJob as job } from "../../test/examples.ts";
import { endedJobs, jobView, jobViews } from "./job-view.ts";

describe("a job", () => {
  it("has its progress and the time left", () => {
    expect(jobView(job())).toMatchObject({ fraction: 0.25, secondsLeft: 15, isOpen: true });
  });

  it("has neither while the total is unknown", () => {
    expect(jobView(job({ bytes: 0, total_bytes: 0 }))).toMatchObject({ fraction: null, secondsLeft: null });
  });

  it.each([0, null, 1e-9])("has no time left at %s bytes per second", (bytes_per_second) => {
    expect(jobView(job({ bytes_per_second })).secondsLeft).toBeNull();
  });

  it("is never more than complete", () => {
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
  ])("offers the actions of its state: %#", (each, actions) => {
    expect(jobView(each).actions).toEqual(actions);
  });
});

describe("the list", () => {
  it("has unfinished jobs first, each group with the newest first", () => {
    const views = jobViews([
      job({ id: "done", status: "done", created_at: 400 }),
      job({ id: "old", created_at: 100 }),
      job({ id: "failed", status: "failed", created_at: 500 }),
      job({ id: "new", status: "paused", created_at: 300 }),
    ]);
    expect(views.map((view) => view.job.id)).toEqual(["new", "old", "failed", "done"]);
  });
});

describe("ended jobs", () => {
  it("are those that were unfinished before, and only once", () => {
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

  it("do not include cancelled or paused ones", () => {
    expect(endedJobs([job()], [job({ status: "cancelled" })])).toEqual([]);
    expect(endedJobs([job()], [job({ status: "paused" })])).toEqual([]);
  });
});
