// llama-server's streams that end early: the client leaves, or the engine fails.
import { expect, it } from "vitest";
import { scriptedApp, scriptedId, scriptedServer } from "../../../test/harness/scripted-server.ts";

const flags = { llamaServerApi: true };
const payload = { model: scriptedId, prompt: "Once", stream: true };

it("leaving a stream cancels the work", async () => {
  const pieces = Array.from({ length: 1000 }, () => "x");
  await using scripted = await scriptedServer({ script: { pieces, delayMs: 5 }, flags });
  const response = await fetch(`${scripted.server.url}/completion`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(payload),
  });
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await expect.poll(() => scripted.log.cancelled).toEqual([1]);
});

it("a stream that the engine cuts ends with the error in llama-server's form", async () => {
  const failure = { code: "engine_failed" as const, message: "The device is gone." };
  await using scripted = await scriptedApp({ script: { pieces: ["a"], failure }, flags });
  const { body } = await scripted.app.inject({ method: "POST", url: "/completion", payload });
  const events = body.split("\n\n").filter((event) => event.startsWith("data: "));
  expect(events.map((event): unknown => JSON.parse(event.slice(6)))).toMatchObject([
    { content: "a", stop: false },
    { error: { code: 500, type: "server_error", message: "The device is gone." } },
  ]);
});

it("errors before the handler have the same form", async () => {
  await using scripted = await scriptedApp({ flags });
  const response = await scripted.app.inject({
    method: "POST",
    url: "/completion",
    headers: { "content-type": "application/json" },
    payload: "{",
  });
  expect([response.statusCode, response.json()]).toMatchObject([400, { error: { code: 400 } }]);
});
