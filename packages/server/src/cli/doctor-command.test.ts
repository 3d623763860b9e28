import { mkdtemp, mkdir, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { EngineError, starterModel } from "@ingle/engine";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../test/cli-context.ts";
import { main } from "./main.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-doctor-"));
});
afterEach(() => rm(home, { recursive: true }));

/** The value of a name in the doctor's table. */
const value = (table: string, name: string): string | undefined =>
  table
    .split("\n")
    .find((line) => line.startsWith(`${name}  `))
    ?.slice(name.length)
    .trim();

describe("ingle doctor", () => {
  it("prints what was built and what the machine offers", async () => {
    const { context, out } = testWorld({ engine: scriptedEngine(), env: { INGLE_HOME: home } });
    expect(await main("ingle", ["doctor"], context)).toBe(0);
    expect(value(out(), "node")).toBe(process.version);
    expect(value(out(), "llama.cpp")).toBe("v0.5.0 (de3ff815)");
    expect(value(out(), "GPU backend")).toBe("none (built for the CPU only)");
    expect(value(out(), "device")).toBe("CPU (CPU, cpu): A processor, 2 GiB, 1 GiB free");
    expect(value(out(), "CPU code")).toBe("for the processor it was built on");
    expect(value(out(), "CPU features")).toBe("AVX2 FMA");
    expect(value(out(), "KV cache types")).toBe("f16 q8_0");
    expect(value(out(), "models folder")).toBe(path.join(home, "models"));
  });

  it("prints what a model on this machine would get", async () => {
    const file = path.join(home, "some.gguf");
    await writeFile(file, "GGUF");
    const there = testWorld({ engine: scriptedEngine(), env: { INGLE_HOME: home } });
    expect(await main("ingle", ["doctor", file], there.context)).toBe(0);
    expect(value(there.out(), "the model gets")).toBe("on the processor");
  });

  it("distinguishes a downloaded starter model from a missing or incomplete one", async () => {
    const { context, out } = testWorld({ engine: scriptedEngine(), env: { INGLE_HOME: home } });
    const file = path.join(home, "models", starterModel.fileName);
    await mkdir(path.dirname(file));
    await writeFile(file, "GGUF");
    await main("ingle", ["doctor"], context);
    expect(value(out(), "starter model")).toContain("not downloaded yet");
    await truncate(file, starterModel.sizeBytes); // a sparse file of the right size
    const whole = testWorld({ engine: scriptedEngine(), env: { INGLE_HOME: home } });
    await main("ingle", ["doctor"], whole.context);
    expect(value(whole.out(), "starter model")).toMatch(/, downloaded$/);
  });

  it("prints the rest without a native engine, says what to do and ends with 1", async () => {
    const buildInfo = () => Promise.reject(new EngineError("native_missing", "Run the build."));
    const { context, out, err } = testWorld({
      engine: scriptedEngine({}, { buildInfo }),
      env: { INGLE_HOME: home },
    });
    expect(await main("ingle", ["doctor"], context)).toBe(1);
    expect(value(out(), "engine")).toBe("not built");
    expect(value(out(), "models folder")).toBe(path.join(home, "models"));
    expect(err()).toContain("Run the build.");
  });
});
