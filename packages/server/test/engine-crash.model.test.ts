// The ways in which the process of one model's engine can end under sixteen streams over two models: only its running replies notice.
// A GPU that is lost is one more: engine-crash.gpu.test.ts.
import {
  canLimit,
  ControlGroup,
  drawImage,
  encodePng,
  isRunning,
  enginePid,
  tinyVisionModel,
  until,
} from "@ingle/fixtures";
import type { ManagedModelList } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import {
  expectOnlyItsStreamsToNotice,
  hasCrashed,
  isWhole,
  onlyReport,
  stream,
  twoModels,
  type TwoModels,
} from "./two-models.ts";

/** Far less than the process has: for what it takes from now on. */
const memoryMax = 1024 * 1024;

/** For processes that do not hang, however slow the machine is. */
const stepTimeoutMs = 60_000;

/** A request of model `a` that ends its process. */
async function send({ server }: TwoModels, route: string, body: object): Promise<Response> {
  return await fetch(`${server.url}/v1/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "a", ...body }),
  });
}

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
      await expectOnlyItsStreamsToNotice(models, () => void process.kill(enginePid(models.a), signal));
    },
  );

  it.runIf(canLimit("memory"))(
    "an engine's process that the system kills because memory runs out costs only its running replies",
    { timeout: 90_000 },
    async () => {
      await using models = await twoModels({ stepTimeoutMs });
      using group = new ControlGroup("memory", memoryMax);
      let vectors: Promise<Response> | undefined;
      await expectOnlyItsStreamsToNotice(models, () => {
        group.add(enginePid(models.a));
        vectors = send(models, "embeddings", { input: "a text ".repeat(500) }); // in a context that needs memory
      });
      expect((await vectors)?.status).toBe(200); // from the next process
      expect(group.kills).toBe(1);
      expect(await onlyReport(models)).toMatchObject({ ending: { signal: "SIGKILL", isHung: false } });
    },
  );
});

it.runIf(canLimit("pids"))(
  "an assertion of ggml that fails costs only the running replies of its model",
  { timeout: 90_000 },
  async () => {
    const { model, projector } = await tinyVisionModel({ architecture: "gemma3" });
    await using models = await twoModels({ mmproj: projector, threads: 2, stepTimeoutMs }, model);
    using group = new ControlGroup("pids", 1);
    const seen = [1, 2, 3].map(() => stream(models, "a", 1_900));
    const others = [1, 2, 3, 4].map(() => stream(models, "b", 40));
    await until(() => seen.every(({ text }) => text.includes("content")), 30_000);
    group.add(enginePid(models.a));
    // ggml starts threads to encode an image, and asserts that it can.
    const image = (await encodePng(drawImage("gradient", 64, 64))).toString("base64");
    const part = { type: "image_url", image_url: { url: `data:image/png;base64,${image}` } };
    const response = await send(models, "chat/completions", {
      messages: [{ role: "user", content: [part] }],
      max_tokens: 3,
    });
    expect(response.status).toBe(200); // nobody had seen its reply: the next process computes it
    await Promise.all([...seen, ...others].map(({ ended }) => ended));
    expect([seen.every(hasCrashed), others.every(isWhole)]).toEqual([true, true]);
    expect(await onlyReport(models)).toMatchObject({
      ending: { signal: "SIGABRT", stderr: expect.stringMatching(/GGML_ASSERT\(rc == 0\) failed/) },
    });
  },
);

it("is not ready while its only model's engine starts again", { timeout: 90_000 }, async () => {
  await using models = await twoModels();
  const { server, a } = models;
  await server.registry.unload("b");
  const pids = [enginePid(a)];
  for (const _ of [1, 2]) {
    process.kill(enginePid(a), "SIGKILL"); // the second restart waits for a second
    await until(() => a.process?.isRestarting === true);
    if (pids.length === 1) await until(() => a.process?.isRestarting === false);
    pids.push(a.process?.pid ?? 0);
  }
  const [ready, listed] = await Promise.all([
    fetch(`${server.url}/readyz`),
    fetch(`${server.url}/api/v1/models`), // what `ingle ps` shows
  ]);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ status: "restarting", model: "a" });
  const { data } = (await listed.json()) as ManagedModelList;
  expect(data.find(({ id }) => id === "a")?.status).toBe("restarting");
  const reply = stream(models, "a", 5); // waits for the engine
  await reply.ended;
  expect(isWhole(reply)).toBe(true);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

it("ends the processes of models that are unloaded, and of all models when the server closes", async () => {
  const models = await twoModels();
  const [a, b] = [enginePid(models.a), enginePid(models.b)];
  await models.server.registry.unload("a");
  expect([isRunning(a), isRunning(b)]).toEqual([false, true]);
  await models[Symbol.asyncDispose]();
  expect(isRunning(b)).toBe(false);
});
