// `ingle serve --engine in-process` on a GPU that is lost: requests end with an error, and the server still ends when it is told to.
// Models with processes of their own get the GPU back: engine-crash.gpu.test.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { tinyModel, until } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("../bin/ingle.js", import.meta.url));
const faults = process.env["INGLE_VULKAN_FAULTS"];

/** The server, with a device that is its own to lose (engine-native/test/vulkan_faults.cpp). */
async function startServer(folder: string) {
  const flags = ["--engine", "in-process", "--threads", "1", "--ctx", "2048", "--port", "0"];
  const child = spawn(process.execPath, [program, "serve", "--model", await tinyModel(), ...flags], {
    env: { ...process.env, INGLE_VULKAN_FAULTS: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (data: Buffer) => (output += data.toString()));
  child.stderr.on("data", (data: Buffer) => (output += data.toString()));
  const ended = once(child, "exit");
  await until(() => output.includes("curl ") || child.exitCode !== null, 60_000);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
  if (url === undefined) throw new Error(`The server did not start:\n${output}`);
  return { url, ended, child, [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

async function complete(
  url: string,
  maxTokens: number,
): Promise<{ status: number; code: string | undefined }> {
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: [{ id: string }] };
  const response = await fetch(`${url}/v1/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: data[0].id, prompt: "On and on", max_tokens: maxTokens, ignore_eos: true }),
    signal: AbortSignal.timeout(60_000),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: error?.code };
}

describe.runIf(faults !== undefined)("a server whose GPU is lost", () => {
  it("answers requests with `engine_failed`, and ends with 0 after SIGTERM", async () => {
    const folder = await mkdtemp(path.join(faults ?? "", "server-"));
    using server = await startServer(folder);
    expect((await complete(server.url, 4)).status).toBe(200);
    await writeFile(path.join(folder, "lost"), "3");
    const lost = { status: 500, code: "engine_failed" };
    expect(await Promise.all([complete(server.url, 200), complete(server.url, 200)])).toEqual([lost, lost]);
    expect(await complete(server.url, 200)).toEqual(lost);
    const late = AbortSignal.timeout(20_000);
    late.addEventListener("abort", () => server.child.kill("SIGKILL"));
    server.child.kill("SIGTERM");
    expect(await server.ended).toEqual([0, null]);
  });
});
