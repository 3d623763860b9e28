import { EngineError } from "@ingle/engine";
import { Job, jobsMax, type JobRequest } from "@ingle/protocol";
import { expect, it, describe } from "vitest";
import { ModelRegistry } from "../models/registry.ts";
import { scriptedWork } from "../../test/harness/scripted-work.ts";
import { JobRunner, pullsMax } from "./job-runner.ts";

const pull = (model: string): JobRequest => ({ kind: "pull", model });
const importing = (path: string): JobRequest => ({ kind: "import", path });
const quantizing = (model: string, quantization = "Q4_K_M"): JobRequest => ({
  kind: "quantize",
  model,
  quantization,
});

function scripted() {
  const work = scriptedWork();
  const clock = { ms: 0 };
  const looks = { count: 0 };
  const source = {
    known: async () => {
      looks.count += 1;
      return [];
    },
  };
  const registry = new ModelRegistry({ waitingMax: 9, source });
  const failures: unknown[] = [];
  const runner = new JobRunner({
    library: work.library,
    registry,
    onFailure: (error) => failures.push(error),
    wallClock: () => new Date(90_500),
    now: () => clock.ms,
  });
  const findJob = (id: string): Job | undefined => runner.list().find((job) => job.id === id);
  /** The job once it has this status. */
  const becomes = async (id: string, status: Job["status"]) => {
    await expect.poll(() => findJob(id)?.status).toBe(status);
    return findJob(id);
  };
  return { ...work, runner, clock, looks, failures, findJob, becomes };
}

describe("a download", () => {
  it("tells how far it is and how fast, and at the end which model is there", async () => {
    const { runner, task, clock, looks, becomes, findJob } = scripted();
    const { id, ...begun } = runner.start(pull("acme/tiny"));
    expect(begun).toEqual({
      kind: "pull",
      status: "running",
      model: "acme/tiny",
      source: null,
      quantization: null,
      phase: null,
      bytes: 0,
      total_bytes: 0,
      bytes_per_second: null,
      can_pause: true,
      error: null,
      error_code: null,
      created_at: 90,
      ended_at: null,
    });
    task("acme/tiny").report("download", 0, 1000);
    clock.ms = 2_000;
    task("acme/tiny").report("download", 500, 1000);
    const half = { model: "acme/tiny:Q4_0", phase: "download", bytes: 500, total_bytes: 1000 };
    expect(findJob(id)).toMatchObject({ ...half, status: "running", bytes_per_second: 250 });
    task("acme/tiny").finish();
    expect(await becomes(id, "done")).toMatchObject({
      model: "acme/tiny:Q4_0",
      phase: null,
      bytes: 1000,
      bytes_per_second: null,
      can_pause: false,
      ended_at: 90,
    });
    expect(looks.count).toBe(1);
  });

  it("waits while another process fetches the same", () => {
    const { runner, task, findJob } = scripted();
    const { id } = runner.start(pull("a"));
    task("a").report("waiting", 5, 10);
    expect(findJob(id)).toMatchObject({ status: "waiting", phase: null, bytes: 5, can_pause: true });
    task("a").report("download", 6, 10);
    expect(findJob(id)).toMatchObject({ status: "running", phase: "download", bytes: 6 });
  });

  it("is paused, keeps what has come, and goes on", async () => {
    const { runner, task, begun, findJob, becomes } = scripted();
    const { id } = runner.start(pull("a"));
    task("a").report("download", 6, 10);
    expect(await runner.pause(id)).toMatchObject({
      status: "paused",
      phase: null,
      bytes: 6,
      can_pause: false,
    });
    expect(task("a").signal.aborted).toBe(true);
    expect(await runner.pause(id)).toMatchObject({ status: "paused" });
    expect(runner.resume(id)).toMatchObject({ status: "running", can_pause: true });
    expect(runner.resume(id)).toMatchObject({ status: "running" });
    expect(begun).toEqual(["a", "a"]);
    task("a").report("download", 7, 10);
    expect(findJob(id)).toMatchObject({ status: "running", bytes: 7 });
    task("a").finish();
    await becomes(id, "done");
  });

  it("that fails says why, and can be tried again", async () => {
    const { runner, task, failures, becomes } = scripted();
    const { id } = runner.start(pull("a"));
    const error = new EngineError("download_failed", "The hub does not answer.");
    task("a").fail(error);
    expect(await becomes(id, "failed")).toMatchObject({
      error: "The hub does not answer.",
      error_code: "engine_failed",
    });
    expect(failures).toEqual([error]);
    expect(runner.resume(id)).toMatchObject({ status: "running", error: null, error_code: null });
    task("a").fail(new TypeError("a secret of the program"));
    expect(await becomes(id, "failed")).toMatchObject({
      error: "The server's log has the reason.",
      error_code: "internal",
    });
  });

  it("is cancelled in whatever state it is, and stays so", async () => {
    const { runner, task } = scripted();
    const running = runner.start(pull("a"));
    expect(await runner.cancel(running.id)).toMatchObject({ status: "cancelled", error: null });
    expect(task("a").signal.aborted).toBe(true);
    expect(await runner.cancel(running.id)).toMatchObject({ status: "cancelled" });
    const paused = runner.start(pull("b"));
    await runner.pause(paused.id);
    expect(await runner.cancel(paused.id)).toMatchObject({ status: "cancelled" });
    for (const order of [() => runner.resume(paused.id), () => runner.pause(paused.id)])
      await expect(async () => await order()).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("that is whole before it hears of the pause is done", async () => {
    const { runner, task, becomes } = scripted();
    const { id } = runner.start(pull("a"));
    task("a").finish();
    expect(await runner.pause(id)).toMatchObject({ status: "done" });
    await becomes(id, "done");
    await expect(runner.cancel(id)).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("that is being converted cannot be paused", async () => {
    const { runner, task } = scripted();
    const { id } = runner.start(pull("a"));
    task("a").report("convert", 1, 10);
    await expect(runner.pause(id)).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("of the same model is the same job, by what was asked for and by its id", async () => {
    const { runner, task, becomes } = scripted();
    const { id } = runner.start(pull("a"));
    task("a").report("download", 1, 10);
    expect(runner.start(pull("a")).id).toBe(id);
    expect(runner.start(pull("a:Q4_0")).id).toBe(id);
    await runner.pause(id);
    expect(runner.start(pull("a"))).toMatchObject({ id, status: "running" });
    task("a").finish();
    await becomes(id, "done");
    expect(runner.start(pull("a")).id).not.toBe(id);
  });
});

describe("following a job", () => {
  const never = new AbortController().signal;

  it("tells each change as it comes, and ends with the job", async () => {
    const { runner, task } = scripted();
    const { id } = runner.start(pull("a"));
    const following = runner.follow(id, never);
    const next = async () => (await following.next()).value;
    expect(await next()).toMatchObject({ status: "running", bytes: 0 });
    const change = next();
    task("a").report("download", 5, 10);
    expect(await change).toMatchObject({ status: "running", bytes: 5 });
    // Two changes while nobody waits are one.
    task("a").report("download", 6, 10);
    task("a").report("download", 7, 10);
    expect(await next()).toMatchObject({ bytes: 7 });
    const end = next();
    task("a").finish();
    expect(await end).toMatchObject({ status: "done", bytes: 10 });
    expect(await next()).toBeUndefined();
  });

  it("ends at a pause, and with the signal's reason", async () => {
    const { runner } = scripted();
    const { id } = runner.start(pull("a"));
    const leave = new AbortController();
    const left = runner.follow(id, leave.signal);
    await left.next();
    const waiting = left.next();
    leave.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    const seen: string[] = [];
    for await (const { status } of runner.follow(id, never)) {
      seen.push(status);
      if (status === "running") await runner.pause(id);
    }
    expect(seen).toEqual(["running", "paused"]);
    await expect(runner.follow("absent", never).next()).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("several jobs", () => {
  it("download at the same time, as many as may, and the others after them", async () => {
    const { runner, task, begun, findJob, becomes } = scripted();
    const names = Array.from({ length: pullsMax + 2 }, (_, index) => `m${index}`);
    const jobs = names.map((name) => runner.start(pull(name)));
    expect(begun).toEqual(names.slice(0, pullsMax));
    const [first, , , fourth, fifth] = jobs.map(({ id }) => id);
    expect(findJob(fourth ?? "")).toMatchObject({ status: "waiting", can_pause: true });
    await runner.pause(fourth ?? "");
    task("m0").finish();
    await becomes(first ?? "", "done");
    expect(findJob(fourth ?? "")?.status).toBe("paused");
    expect(findJob(fifth ?? "")?.status).toBe("running");
    runner.resume(fourth ?? "");
    expect(findJob(fourth ?? "")?.status).toBe("waiting");
    await runner.cancel(fifth ?? "");
    expect(findJob(fourth ?? "")?.status).toBe("running");
  });

  it("import and quantize one after the other, beside downloads", async () => {
    const { runner, task, begun, becomes, findJob } = scripted();
    runner.start(pull("a"));
    const first = runner.start(quantizing("b"));
    const second = runner.start(importing("/models"));
    expect(begun).toEqual(["a", "b to Q4_K_M"]);
    expect([first, second]).toMatchObject([
      { kind: "quantize", model: "b", quantization: "Q4_K_M", can_pause: false },
      { kind: "import", status: "waiting", model: "/models", source: "/models", can_pause: false },
    ]);
    task("b to Q4_K_M").report("download", 3, 9);
    expect(findJob(first.id)).toMatchObject({ phase: "quantize", bytes: 3, total_bytes: 9 });
    await expect(runner.pause(first.id)).rejects.toThrow(
      "Only downloads can be paused; this is a quantization.",
    );
    await expect(runner.pause(second.id)).rejects.toThrow("this is an import");
    task("b to Q4_K_M").finish();
    expect(await becomes(first.id, "done")).toMatchObject({ model: "b-Q4_K_M" });
    expect(begun).toEqual(["a", "b to Q4_K_M", "/models"]);
    task("/models").finish();
    expect(await becomes(second.id, "done")).toMatchObject({ model: "one, two", source: "/models" });
  });

  it("that do the same are one", () => {
    const { runner } = scripted();
    expect(runner.start(quantizing("b")).id).toBe(runner.start(quantizing("b")).id);
    expect(runner.start(quantizing("b", "Q8_0")).id).not.toBe(runner.start(quantizing("b")).id);
    expect(runner.start(importing("/a")).id).toBe(runner.start(importing("/a")).id);
    expect(runner.list()).toHaveLength(3);
  });

  it("are listed with the newest first; the oldest one that is over makes room", async () => {
    const { runner } = scripted();
    const first = runner.start(quantizing("first"));
    const second = runner.start(quantizing("second"));
    for (let count = 2; count < jobsMax; count += 1) runner.start(importing(`/${count}`));
    expect(() => runner.start(pull("a"))).toThrow(/There are 100 jobs/);
    await runner.cancel(second.id);
    const { id } = runner.start(pull("a"));
    const ids = runner.list().map((job) => job.id);
    expect([ids[0], ids.at(-1), ids.length]).toEqual([id, first.id, jobsMax]);
    expect(ids).not.toContain(second.id);
  });

  it("end with the server: those that wait never begin", async () => {
    const { runner, begun } = scripted();
    runner.start(quantizing("a"));
    runner.start(quantizing("b"));
    const paused = runner.start(pull("c"));
    await runner.pause(paused.id);
    await runner[Symbol.asyncDispose]();
    expect(runner.list().map(({ status }) => status)).toEqual(["paused", "cancelled", "cancelled"]);
    expect(begun).toEqual(["a to Q4_K_M", "c"]);
    expect(() => runner.start(pull("d"))).toThrow(/stopping/);
    expect(() => runner.resume(paused.id)).toThrow(/stopping/);
    await runner[Symbol.asyncDispose]();
  });

  it("are found by their ids alone", async () => {
    const { runner } = scripted();
    for (const order of [() => runner.pause("x"), async () => runner.resume("x"), () => runner.cancel("x")])
      await expect(order()).rejects.toMatchObject({ code: "not_found" });
  });
});

it("all that is told is what the protocol says", () => {
  const { runner, task, clock } = scripted();
  runner.start(pull("a"));
  for (let at = 0; at < 20; at += 1) {
    clock.ms = at * 700;
    task("a").report("download", at * 7, 1000);
  }
  runner.start(quantizing("b"));
  for (const job of runner.list()) expect(Job.parse(job)).toEqual(job);
  expect(runner.list().at(-1)?.bytes_per_second).toBeCloseTo(10);
});
