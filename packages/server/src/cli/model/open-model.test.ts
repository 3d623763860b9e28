import { EngineError, starterModel, type LibraryProgress } from "@ingle/engine";
import { describe, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import type { Engine } from "../context.ts";
import { knownModel, openModel } from "./open-model.ts";

const starter = { kind: "npm", id: "tiny", model: starterModel } as const;

describe("openModel", () => {
  it("prints nothing for a downloaded starter model", async () => {
    const { context, err } = testWorld({ engine: scriptedEngine() });
    await using loaded = await openModel(starter, context, { engine: {} });
    expect(loaded.model.info.architecture).toBe("scripted");
    expect(err()).toBe("Loading tiny …\n");
  });

  it("shows each phase of a download and its duration", async () => {
    const world = testWorld({
      engine: scriptedEngine(
        {},
        {
          fetchModel: async (_located, options) => {
            const report = (news: LibraryProgress): void => options?.onProgress?.(news);
            report({ phase: "download", bytes: 0, totalBytes: 1024 ** 2 });
            world.clock.ms += 2000;
            report({ phase: "download", bytes: 512 * 1024, totalBytes: 1024 ** 2 });
            world.clock.ms += 2000;
            report({ phase: "unpack", bytes: 0, totalBytes: 1024 ** 2 });
            return "/models/starter.gguf";
          },
        },
      ),
    });
    await using _loaded = await openModel(starter, world.context, { engine: {} });
    const lines = world.err().split("\n");
    expect(lines[0]).toMatch(/^TinyLlama .* is not downloaded yet; this is done once\.$/);
    expect(lines.slice(1, 5)).toEqual([
      expect.stringMatching(/^Downloading .* …$/),
      expect.stringMatching(/^Downloading .*: 50% \(512 KiB of 1 MiB\)$/),
      expect.stringMatching(/^Unpacking .* …$/),
      "Saved /models/starter.gguf after 4.0 s.",
    ]);
  });

  it("ends a download at a signal and says that the partial download is kept", async () => {
    const fetchModel: Engine["fetchModel"] = async (_located, options) => {
      options?.onProgress?.({ phase: "download", bytes: 1, totalBytes: 2 });
      return new Promise((_resolve, reject) => {
        options?.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error));
        world.signals.emit("SIGINT");
      });
    };
    const world = testWorld({ engine: scriptedEngine({}, { fetchModel }) });
    await expect(openModel(starter, world.context, { engine: {} })).rejects.toMatchObject({ exitCode: 130 });
    expect(world.err()).toContain("The partial download is kept");
  });

  it("downloads nothing for an engine that is not built", async () => {
    let downloads = 0;
    const engine = scriptedEngine(
      {},
      {
        buildInfo: () => Promise.reject(new EngineError("native_missing", "Not built.")),
        fetchModel: async () => {
          downloads += 1;
          return "/models/starter.gguf";
        },
      },
    );
    const { context } = testWorld({ engine });
    await expect(openModel(starter, context, { engine: {} })).rejects.toMatchObject({
      code: "native_missing",
    });
    expect(downloads).toBe(0);
  });

  it("passes settings, progress and the caller's signal to the engine", async () => {
    const controller = new AbortController();
    const seen: unknown[] = [];
    const engine = scriptedEngine();
    const load: Engine["load"] = (file, options) => {
      seen.push(file, options?.contextLength, options?.threads);
      return engine.load(file, options);
    };
    const { context } = testWorld({ engine: { ...engine, load } });
    const fractions: number[] = [];
    const options = { engine: { contextLength: 512, threads: 3 }, signal: controller.signal };
    const choice = { kind: "file", id: "mine", path: "/models/mine.gguf", isListed: false } as const;
    await using _loaded = await openModel(choice, context, {
      ...options,
      onProgress: (done) => fractions.push(done),
    });
    expect(seen).toEqual(["/models/mine.gguf", 512, 3]);
    expect(fractions).toEqual([1]);
    controller.abort(new Error("no more"));
    await expect(openModel(choice, context, options)).rejects.toThrow("no more");
  });
});

describe("a model for the registry", () => {
  const installed = { path: "/models/tiny-vl.gguf", projector: "/models/mmproj-tiny-vl.gguf" };
  const located = { kind: "file", id: "acme/tiny-VL-GGUF", path: installed.path, isListed: false } as const;
  const { signal } = new AbortController();

  it("reads no images if the projector beside it belongs to another model", async () => {
    const engine = scriptedEngine({}, { findInstalledProjector: async () => "/models/mmproj-other.gguf" });
    const load: Engine["load"] = (file, options) =>
      options?.mmproj === undefined
        ? engine.load(file, options)
        : Promise.reject(new EngineError("projector_mismatch", "It is the projector of another model."));
    const { context, err } = testWorld({ engine: { ...engine, load } });
    const { load: read } = await knownModel(located, context, { engine: {} }).prepare({ signal });
    await using _loaded = await read(() => {}, signal);
    expect(err()).toContain(`${located.id} cannot read images: It is the projector of another model.\n`);
    const asked = knownModel(located, context, { engine: { mmproj: "/models/mmproj-other.gguf" } });
    const { load: readAsAsked } = await asked.prepare({ signal });
    await expect(readAsAsked(() => {}, signal)).rejects.toMatchObject({ code: "projector_mismatch" });
  });

  /** The projector that a model at `path` is loaded with. */
  async function loadedProjector(
    path: string,
    given: string | undefined,
  ): Promise<string | null | undefined> {
    const engine = scriptedEngine(
      {},
      { findInstalledProjector: async (file) => (file === installed.path ? installed.projector : undefined) },
    );
    let projector: string | null | undefined;
    const load: Engine["load"] = (file, options) => {
      projector = options?.mmproj;
      return engine.load(file, options);
    };
    const { context } = testWorld({ engine: { ...engine, load } });
    const known = knownModel({ ...located, path }, context, { engine: { mmproj: given } });
    const { load: read } = await known.prepare({ signal });
    await using _loaded = await read(() => {}, signal);
    return projector;
  }

  it("is computed in the server's process if workers hold layers of it, which a line says", async () => {
    const engine = scriptedEngine();
    const places: unknown[] = [];
    const load: Engine["load"] = (file, options) => {
      places.push(options?.engine);
      return engine.load(file, options);
    };
    const { context, err } = testWorld({ engine: { ...engine, load } });
    for (const rpc of [undefined, { workers: ["10.0.0.2:50052"], keyFile: undefined }]) {
      const known = knownModel(located, context, { engine: { engine: "process", rpc } });
      const { load: read } = await known.prepare({ signal });
      await using _loaded = await read(() => {}, signal);
    }
    expect(places).toEqual(["process", "in-process"]);
    expect(err()).toContain(`Workers hold layers of ${located.id}, so its engine runs in this process.\n`);
  });

  it("reads images with the given projector, else with the one installed with it", async () => {
    expect(await loadedProjector(installed.path, undefined)).toBe(installed.projector);
    expect(await loadedProjector(installed.path, "/other.gguf")).toBe("/other.gguf");
    expect(await loadedProjector("/models/another.gguf", undefined)).toBeUndefined();
  });
});
