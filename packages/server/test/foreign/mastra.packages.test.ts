// Mastra's agents with a real server. Node 22 and the packages take about 320 MB: only `pnpm test:packages` installs
// them.
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, type RealServer } from "../real-server.ts";
import { agentServer, cities, expectCachedPrompts, question, toolTurns, weatherText } from "./desk.ts";

const run = promisify(execFile);
let server: RealServer;
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-mastra-"));
  await cp(path.join(import.meta.dirname, "mastra"), folder, { recursive: true });
  await run("npm", ["install", "--no-audit", "--no-fund"], { cwd: folder });
  server = await agentServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function start(api: string, task: string) {
  const desk = { baseUrl: server.baseUrl, modelId, api, question, cities, weatherText, toolTurns, task };
  const node = path.join(folder, "node_modules", ".bin", "node");
  return run(node, ["agent.js", JSON.stringify(desk)], { cwd: folder });
}

describe.each(["chat", "responses"])("an agent of Mastra over the API %s", (api) => {
  it("takes several tool turns, whole and streamed, each of which finds the previous prompt cached", async () => {
    const { stdout } = await start(api, "turns");
    const { text, streamed, steps } = JSON.parse(stdout);
    const ends = steps.map(({ finishReason }: { finishReason: string }) => finishReason);
    expect(ends).toEqual([...Array.from({ length: toolTurns }, () => "tool-calls"), "length"]);
    for (const { results } of steps.slice(0, -1)) expect(results).toEqual([weatherText]);
    expect(text).not.toBe("");
    expect(streamed).toBe(text);
    expectCachedPrompts(steps);
  });

  it("is cancelled", async () => {
    const running = start(api, "cancel");
    await expect.poll(() => server.model.stats().running, { timeout: 30_000 }).toBe(1);
    running.child.stdin?.write("cancel\n");
    await expect.poll(() => server.model.stats().running).toBe(0);
    running.child.stdin?.end();
    expect(JSON.parse((await running).stdout)).toEqual({ isCancelled: true });
  });
});
