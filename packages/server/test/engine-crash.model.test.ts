// The ways in which the process of one model's engine can end under sixteen streams over two models: only its running replies notice.
// A GPU that is lost is one more: engine-crash.gpu.test.ts.
import { isRunning, pidOf, until } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { isWhole, expectOnlyItsStreamsToNotice, stream, twoModels } from "./two-models.ts";

describe("under sixteen streams over two models", () => {
  it.each([
    ["is killed, as by the system when memory runs out", "SIGKILL"],
    ["fails an assertion", "SIGABRT"],
    ["reads memory that it does not have", "SIGSEGV"],
    ["hangs", "SIGSTOP"],
  ] as const)(
    "an engine's process that %s costs only its running replies",
    { timeout: 90_000 },
    async (_, signal) => {
      await using models = await twoModels();
      await expectOnlyItsStreamsToNotice(models, () => void process.kill(pidOf(models.a), signal));
    },
  );
});

it("is not ready while its only model's engine starts again", { timeout: 90_000 }, async () => {
  await using models = await twoModels();
  const { server, a } = models;
  await server.registry.unload("b");
  const pids = [pidOf(a)];
  for (const _ of [1, 2]) {
    process.kill(pidOf(a), "SIGKILL"); // the second restart waits for a second
    await until(() => a.process?.isRestarting === true);
    if (pids.length === 1) await until(() => a.process?.isRestarting === false);
    pids.push(a.process?.pid ?? 0);
  }
  const ready = await fetch(`${server.url}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ status: "restarting", model: "a" });
  const reply = stream(models, "a", 5); // waits for the engine
  await reply.ended;
  expect(isWhole(reply)).toBe(true);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

it("ends the processes of models that are unloaded, and of all models when the server closes", async () => {
  const models = await twoModels();
  const [a, b] = [pidOf(models.a), pidOf(models.b)];
  await models.server.registry.unload("a");
  expect([isRunning(a), isRunning(b)]).toEqual([false, true]);
  await models[Symbol.asyncDispose]();
  expect(isRunning(b)).toBe(false);
});
