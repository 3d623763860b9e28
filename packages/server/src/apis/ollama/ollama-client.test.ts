// The ollama package and replies that end early: the client leaves, or the engine fails.
import { Ollama } from "ollama";
import { expect, it } from "vitest";
import { scriptedId, scriptedServer } from "../../../test/harness/scripted-server.ts";

const flags = { ollamaApi: true };
const request = { model: scriptedId, messages: [{ role: "user", content: "Hi" }], stream: true as const };

it("aborting a stream cancels the work", async () => {
  const pieces = Array.from({ length: 1000 }, () => "x");
  await using scripted = await scriptedServer({ script: { pieces, delayMs: 5 }, flags });
  const stream = await new Ollama({ host: scripted.server.url }).chat(request);
  const read = async (): Promise<void> => {
    for await (const { done } of stream) {
      expect(done).toBe(false);
      stream.abort();
    }
  };
  await expect(read()).rejects.toMatchObject({ name: "AbortError" });
  await expect.poll(() => scripted.log.cancelled).toEqual([1]);
});

it("a stream that the engine cuts ends with the error", async () => {
  const failure = { code: "engine_failed" as const, message: "The device is gone." };
  await using scripted = await scriptedServer({ script: { pieces: ["a"], failure }, flags });
  const texts: string[] = [];
  const read = async (): Promise<void> => {
    for await (const { message } of await new Ollama({ host: scripted.server.url }).chat(request))
      texts.push(message.content);
  };
  await expect(read()).rejects.toThrow("The device is gone.");
  expect(texts).toEqual(["a"]);
});

it("an unknown route is an error that the client can read, even where Ollama's API is not enabled", async () => {
  for (const ollamaApi of [true, false]) {
    await using scripted = await scriptedServer({ flags: { ollamaApi } });
    const client = new Ollama({ host: scripted.server.url });
    await expect(client.copy({ source: "a", destination: "b" })).rejects.toThrow("Unknown route: /api/copy.");
  }
});

it("the version is at least that of the first Ollama with /v1/responses, which Codex requires", async () => {
  await using scripted = await scriptedServer({ flags });
  const { version } = await new Ollama({ host: scripted.server.url }).version();
  const [major = 0, minor = 0] = version.split(".").map(Number);
  expect(major * 1000 + minor).toBeGreaterThan(13);
});
