// Two models on one GPU under sixteen streams, and a process that is killed or loses the GPU, as by a driver's reset: only its running
// replies notice, and the next process computes on the GPU again.
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { enginePid } from "@ingle/fixtures";
import { describe, expect, it, vi } from "vitest";
import { expectOnlyItsStreamsToNotice, twoModels, type TwoModels } from "./two-models.ts";

const faults = process.env["INGLE_VULKAN_FAULTS"];

/** A software device takes a tenth of a second for a step, and compiles its shaders in some. */
const otherTokens = 60;
const twoOnGpu = async (): Promise<TwoModels> => twoModels({ gpuLayers: "all", stepTimeoutMs: 60_000 });

describe("under sixteen streams over two models on a GPU, an engine's process", () => {
  it("that is killed costs only its running replies", async () => {
    await using models = await twoOnGpu();
    const kill = (): void => void process.kill(enginePid(models.a), "SIGKILL");
    await expectOnlyItsStreamsToNotice(models, kill, otherTokens);
  });

  it.runIf(faults !== undefined)("that loses the GPU costs only its running replies", async () => {
    const folder = await mkdtemp(path.join(faults ?? "", "two-models-"));
    vi.stubEnv("INGLE_VULKAN_FAULTS", folder);
    await using models = await twoOnGpu();
    const { a, home } = models;
    const lose = async (): Promise<void> => writeFile(path.join(folder, "lost"), `3 ${enginePid(a)}`);
    await expectOnlyItsStreamsToNotice(models, lose, otherTokens);
    const reports = path.join(home, "crash-reports");
    const [report = ""] = await readdir(reports);
    expect(JSON.parse(await readFile(path.join(reports, report), "utf8"))).toMatchObject({
      ending: { signal: "SIGABRT", stderr: expect.stringContaining("The GPU was lost") },
    });
  });
});
