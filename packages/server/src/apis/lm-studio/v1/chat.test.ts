// What a streamed chat tells while its model is loaded, and how it ends when something fails.
import { EngineError } from "@ingle/engine";
import { expect, it } from "vitest";
import { buildApp } from "../../../app.ts";
import { ModelRegistry } from "../../../models/registry.ts";
import { scriptedKnown } from "../../../../test/harness/scripted-models.ts";
import { scriptedApp, scriptedId, testConfig } from "../../../../test/harness/scripted-server.ts";

const url = "/api/v1/chat";

/** An app with one model that is loaded when the test says so. */
async function loadingApp(onLoading: "wait" | "reject-at-start") {
  const config = testConfig({ lmStudioApi: true });
  const registry = new ModelRegistry({ waitingMax: 9, onLoading });
  const known = scriptedKnown("acme/slow", { script: { pieces: ["Yes", "."] } });
  let open = (): void => {};
  let fail = (_error: Error): void => {};
  known.gate = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  known.gate.catch(() => {});
  registry.add(known);
  const app = await buildApp(config, { registry });
  const response = app.inject({
    method: "POST",
    url,
    payload: { model: "acme/slow", input: "Hi", stream: true },
  });
  return { app, known, registry, response, open, fail: (error: Error) => fail(error) };
}

function eventsIn(body: string) {
  return [...body.matchAll(/^data: (.*)$/gm)].map(([, json = ""]) => JSON.parse(json));
}

const typesIn = (body: string): string[] => eventsIn(body).map(({ type }) => type);

/** Longer than between two looks at the load. */
const aLook = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 250));

async function firstLook(registry: ModelRegistry): Promise<void> {
  await expect.poll(async () => (await registry.find("acme/slow"))?.state.kind).toBe("loading");
  await aLook();
}

it("a stream tells how far the load of its model is, from the start", async () => {
  const { app, known, registry, response, open } = await loadingApp("wait");
  await firstLook(registry);
  known.report(0.5);
  await aLook();
  open();
  const { body, statusCode } = await response;
  expect(statusCode).toBe(200);
  expect(typesIn(body)).toEqual([
    "chat.start",
    "model_load.start",
    "model_load.progress",
    "model_load.end",
    "prompt_processing.start",
    "prompt_processing.end",
    "message.start",
    "message.delta",
    "message.delta",
    "message.end",
    "chat.end",
  ]);
  const [start, , progress, end] = eventsIn(body);
  expect(start.model_instance_id).toBe("acme/slow");
  expect(progress.progress).toBe(0.5);
  expect(end.load_time_seconds).toBeGreaterThan(0.2);
  const { result } = eventsIn(body).at(-1);
  expect(result.output).toEqual([{ type: "message", content: "Yes." }]);
  expect(result.stats.model_load_time_seconds).toBeGreaterThanOrEqual(end.load_time_seconds);
  await app.close();
});

it("a load that fails ends the stream with the reason", async () => {
  const { app, registry, response, fail } = await loadingApp("wait");
  await firstLook(registry);
  fail(new EngineError("model_invalid", "The file is damaged."));
  const { body } = await response;
  expect(typesIn(body)).toEqual(["chat.start", "model_load.start", "error"]);
  expect(eventsIn(body).at(-1).error).toMatchObject({
    type: "internal_error",
    message: expect.stringContaining("The file is damaged."),
  });
  await app.close();
});

it("a request that does not wait for its model gets a status, no stream", async () => {
  const { app, response, open } = await loadingApp("reject-at-start");
  const { statusCode, headers } = await response;
  expect(statusCode).toBe(503);
  expect(headers["retry-after"]).toBeDefined();
  expect((await response).json().error).toMatchObject({ type: "unknown", code: "model_loading" });
  open();
  await app.close();
});

it("a stream that the engine cuts ends with the error, and with what was generated", async () => {
  const failure = { code: "engine_failed" as const, message: "The device is gone." };
  await using scripted = await scriptedApp({
    script: { pieces: ["a", "b"], failure },
    flags: { lmStudioApi: true },
  });
  const payload = { model: scriptedId, input: "Hi", stream: true };
  const { body } = await scripted.app.inject({ method: "POST", url, payload });
  expect(typesIn(body).slice(-3)).toEqual(["error", "message.end", "chat.end"]);
  const [error, , end] = eventsIn(body).slice(-3);
  expect(error.error).toMatchObject({ type: "internal_error", message: "The device is gone." });
  expect(end.result).toMatchObject({
    output: [{ type: "message", content: "ab" }],
    stats: { total_output_tokens: 2 },
  });
  expect(end.result).not.toHaveProperty("response_id");
});

it("a chat is continued by its key only", async () => {
  await using scripted = await scriptedApp({ flags: { lmStudioApi: true, apiKey: ["one", "other"] } });
  const chat = async (key: string, previous?: string) =>
    await scripted.app.inject({
      method: "POST",
      url,
      headers: { authorization: `Bearer ${key}` },
      payload: { model: scriptedId, input: "Hi", previous_response_id: previous },
    });
  const { response_id: id } = JSON.parse((await chat("one")).body) as { response_id: string };
  const [own, foreign, unknown] = [
    await chat("one", id),
    await chat("other", id),
    await chat("other", "resp_0"),
  ];
  expect([own.statusCode, foreign.statusCode]).toEqual([200, 400]);
  expect(foreign.body.replace(id, "resp_0")).toBe(unknown.body);
});
