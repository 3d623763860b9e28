// The lock, within this process and against others that died or were suspended.
import { mkdir, mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockFile } from "./library-lock.ts";

let folder: string;
let lockPath: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-lock-"));
  lockPath = path.join(folder, "model.lock");
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const wait = async (): Promise<void> => await sleep(1);

test("the second waits until the first is done", async () => {
  const order: string[] = [];
  const first = await lockFile(lockPath);
  const onWait = async (): Promise<void> => {
    order.push("waited");
    await first[Symbol.asyncDispose]();
  };
  await using second = await lockFile(lockPath, { onWait, wait });
  expect(order).toEqual(["waited"]);
  expect(second.signal.aborted).toBe(false);
});

test("a killed process's lock is taken over", async () => {
  await mkdir(lockPath);
  const aMinuteAgo = Date.now() / 1000 - 60;
  await utimes(lockPath, aMinuteAgo, aMinuteAgo);
  await using lock = await lockFile(lockPath, { onWait: () => expect.fail("nobody holds it") });
  expect(lock.signal.aborted).toBe(false);
});

test("waiting ends with the signal's reason", async () => {
  await using _first = await lockFile(lockPath);
  const controller = new AbortController();
  const second = lockFile(lockPath, {
    onWait: () => controller.abort("bored"),
    wait,
    signal: controller.signal,
  });
  await expect(second).rejects.toBe("bored");
});

test("a holder whose lock was taken over is notified within seconds", async () => {
  await using lock = await lockFile(lockPath);
  await rm(lockPath, { recursive: true });
  const aborted = new Promise<void>((done) =>
    lock.signal.addEventListener("abort", () => done(), { once: true }),
  );
  await Promise.race([aborted, sleep(5000)]);
  expect(lock.signal.reason).toMatchObject({ code: "library_locked" });
});
