// Errors of paths and methods that no route has, in the form of the API whose client asks.
import { expect, it } from "vitest";
import { scriptedApp, type ScriptedOptions } from "../../test/harness/scripted-server.ts";

const message = (path: string) => `Unknown route: ${path}.`;

async function requestError(
  path: string,
  { flags, ...request }: Pick<ScriptedOptions, "flags"> & Requested = {},
) {
  await using scripted = await scriptedApp({ flags });
  const response = await scripted.app.inject({ url: path, ...request });
  return { status: response.statusCode, body: response.json<object>() };
}

interface Requested {
  method?: "GET" | "POST";
  headers?: Record<string, string>;
}

it.each(["/api/nothing", "/api", "/api/blobs/sha256:a"])("has Ollama's form for %s", async (path) => {
  expect(await requestError(path)).toEqual({ status: 404, body: { error: message(path) } });
});

it("has Anthropic's form under /v1/messages, and for requests with its header", async () => {
  const error = { type: "not_found_error", message: message("/v1/messages/batches") };
  const { status, body } = await requestError("/v1/messages/batches");
  expect(status).toBe(404);
  expect(body).toMatchObject({ type: "error", error });
  const headers = { "anthropic-version": "2023-06-01" };
  expect((await requestError("/v1/skills", { headers })).body).toMatchObject({
    type: "error",
    error: { ...error, message: message("/v1/skills") },
  });
});

it("has LM Studio's form under /api/v1 where its API is enabled, and ours elsewhere", async () => {
  const flags = { lmStudioApi: true };
  const path = "/api/v1/nothing";
  const theirs = { error: { type: "unknown", message: message(path), code: "not_found" } };
  expect((await requestError(path, { flags })).body).toEqual(theirs);
  const ours = { type: "not_found_error", message: message(path), code: "not_found" };
  expect((await requestError(path)).body).toMatchObject({ error: ours });
});

it("has llama-server's form outside /v1 where its API is enabled, and that of chat completions under it", async () => {
  const flags = { llamaServerApi: true };
  expect((await requestError("/nothing", { flags })).body).toMatchObject({
    error: { code: 404, type: "not_found_error", message: message("/nothing") },
  });
  for (const given of [{ flags }, {}])
    expect((await requestError("/v1/nothing", given)).body).toMatchObject({ error: { code: "not_found" } });
});

it("has the path's form for a method that it does not allow, and for a client without a key", async () => {
  const flags = { ollamaApi: true, apiKey: ["a-key-of-the-test"] };
  const wrong = await requestError("/api/tags", {
    method: "POST",
    headers: { authorization: "Bearer a-key-of-the-test" },
    flags,
  });
  expect(wrong).toEqual({ status: 405, body: { error: "/api/tags allows GET, HEAD, not POST." } });
  const unknown = await requestError("/api/nothing", { flags });
  expect(unknown).toEqual({ status: 401, body: { error: expect.any(String) } });
});
