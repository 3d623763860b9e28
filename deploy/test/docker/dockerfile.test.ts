// Checks of the image's files that need no build.
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { imageConfig, readStages } from "./dockerfile.ts";

const read = (name: string): Promise<string> =>
  readFile(new URL(`../../docker/${name}`, import.meta.url), "utf8");

describe("the Dockerfile", () => {
  it.each(["cpu", "cuda"])(
    "has a build stage and a last stage for GPU=%s, and all stages that they are based on",
    async (GPU) => {
      const stages = readStages(await read("Dockerfile"), { GPU });
      const names = new Set(stages.map(({ name }) => name));
      const build = stages.find(({ name }) => name === "build");
      expect([build?.from, stages.at(-1)?.from]).toEqual([`tools-${GPU}`, `runtime-${GPU}`]);
      expect(names).toContain(`tools-${GPU}`);
      expect(names).toContain(`runtime-${GPU}`);
    },
  );

  it("uses only steps that image.sh has", async () => {
    const steps = readStages(await read("Dockerfile"), { GPU: "cpu" })
      .flatMap(({ instructions }) => instructions)
      .filter(({ word }) => word === "RUN")
      .map(({ text }) => /image\.sh (\w+)/.exec(text)?.[1] ?? text);
    const script = await read("image.sh");
    expect(steps).toEqual(["tools", "build", "assemble", "finish"]);
    for (const step of steps) expect(script).toContain(`\n${step})\n`);
  });

  it("runs the serverless variant as a numeric user, with its models on the volume", async () => {
    const last = readStages(await read("Dockerfile"), { GPU: "cpu" }).at(-1) ?? expect.fail();
    expect(imageConfig(last)).toEqual({
      env: { NODE_ENV: "production", INGLE_VARIANT: "serverless", INGLE_HOME: "/models" },
      user: "10001:10001",
      command: ["ingle", "serve"],
      healthCheck: ["node", "/opt/ingle/healthcheck.js"],
    });
  });
});

describe("compose.yaml", () => {
  it("builds this image, and runs it unprivileged, on a read-only root, with its models on a volume", async () => {
    const { services, volumes }: Record<string, unknown> = parse(await read("compose.yaml"));
    expect(services).toMatchObject({
      ingle: {
        build: { context: "../..", dockerfile: "deploy/docker/Dockerfile" },
        volumes: ["models:/models"],
        ports: ["127.0.0.1:${PORT:-8000}:8000"],
        read_only: true,
        cap_drop: ["ALL"],
        stop_grace_period: "40s",
      },
    });
    expect(volumes).toHaveProperty("models");
  });

  it("uses the CUDA build with the second file", async () => {
    const { services }: Record<string, unknown> = parse(await read("compose.cuda.yaml"));
    expect(services).toMatchObject({ ingle: { image: "ingle:cuda", build: { args: { GPU: "cuda" } } } });
    expect(await read("Dockerfile")).toContain("\nARG GPU=cpu\n");
  });

  it("sets only documented variables", async () => {
    const { services }: { services: { ingle: { environment: object } } } = parse(await read("compose.yaml"));
    const pages = (await read("../../docs/cli.md")) + (await read("../../docs/models.md"));
    for (const name of Object.keys(services.ingle.environment)) expect(pages).toContain(`\`${name}\``);
  });
});

describe("readStages", () => {
  it.each(["FROM a\nADD b c", "FROM a\nRUN one && \\\n  two", "FROM a\nrun b"])("refuses %j", (text) => {
    expect(() => readStages(text, {})).toThrow("an unsupported line");
  });

  it("rejects a missing argument", () => {
    expect(() => readStages("FROM a-${GPU}", {})).toThrow("asks for the argument GPU");
  });
});
