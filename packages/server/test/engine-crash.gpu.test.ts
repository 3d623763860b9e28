// Two models on one GPU under sixteen streams, and a process that loses the GPU, as by a driver's reset: only its running replies notice.
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pidOf } from "@ingle/fixtures";
import { describe, expect, it, vi } from "vitest";
import { expectOnlyItsStreamsToNotice, twoModels } from "./two-models.ts";

const faults = process.env["INGLE_VULKAN_FAULTS"];

describe.runIf(faults !== undefined)("under sixteen streams over two models on a GPU", () => {
  it("an engine's process that loses the GPU costs only its running replies, and the next one has it back", async () => {
    const folder = await mkdtemp(path.join(faults ?? "", "two-models-"));
    vi.stubEnv("INGLE_VULKAN_FAULTS", folder);
    // A software device compiles its shaders in some steps.
    await using models = await twoModels({ gpuLayers: "all", stepTimeoutMs: 60_000 });
    const { a, home } = models;
    const lose = async (): Promise<void> => writeFile(path.join(folder, "lost"), `3 ${pidOf(a)}`);
    await expectOnlyItsStreamsToNotice(models, lose, 60);
    const reports = path.join(home, "crash-reports");
    const [report = ""] = await readdir(reports);
    expect(JSON.parse(await readFile(path.join(reports, report), "utf8"))).toMatchObject({
      ending: { signal: "SIGABRT", stderr: expect.stringContaining("The GPU was lost") },
    });
  });
});
