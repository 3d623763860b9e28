// The chart as Helm renders it: every object is valid for Kubernetes, wrong values are refused, and the manifests are up to date.
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ingleProgram } from "../ingle-program.ts";
import { combinations } from "./combinations.ts";
import { consistencyProblems } from "./consistency.ts";
import { examples, toManifest } from "./examples.ts";
import { findHelm, renderChart, type KubernetesObject } from "./helm.ts";
import { allContainers, createdPods } from "./pods.ts";
import { refusals } from "./refusals.ts";
import { typeProblems, type NamedObject } from "./typed-objects.ts";

const helm = await findHelm();
const folder = path.join(import.meta.dirname, "../../kubernetes");

type Rendered = NamedObject & { object: KubernetesObject };

it.runIf(process.platform === "linux" && process.arch === "x64")("finds Helm if it is a dependency", () => {
  expect(helm).toBeDefined();
});

// The dependency contains Helm for Linux on x64; on other systems, these tests run if Helm is installed.
describe.runIf(helm !== undefined)("the chart", () => {
  const program = helm ?? "";
  const rendered = new Map<string, KubernetesObject[]>();

  beforeAll(async () => {
    for (const { name, values } of [...combinations, ...(await examples())])
      rendered.set(name, await renderChart(program, values));
  });

  const everyObject = (): Rendered[] =>
    [...rendered].flatMap(([from, objects]) => objects.map((object) => ({ from, object })));

  it("renders objects with valid fields, for every combination of settings", async () => {
    expect(await typeProblems([...everyObject(), ...everyObject().flatMap(pickerConfigs)])).toEqual([]);
  });

  it("would fail for an unknown field, a wrong type and an unknown kind", async () => {
    const metadata = { name: "wrong" };
    const spec = { containers: [{ name: "a", imagePullPolice: "Always" }] };
    const problems = await typeProblems(
      [
        { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { selector: {}, template: { spec } } },
        { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: "http" }] } },
        { apiVersion: "v2", kind: "Service", metadata },
      ].map((object) => ({ from: "a mistake", object })),
    );
    expect(problems).toEqual([
      expect.stringContaining("'\"imagePullPolice\"' does not exist"),
      expect.stringContaining("'string' is not assignable to type 'number'"),
      expect.stringContaining("'v2 Service' does not exist"),
    ]);
  });

  it("has no broken references, and gives no container more privileges than it needs", () => {
    const problems = [...rendered].flatMap(([from, objects]) =>
      consistencyProblems(objects).map((problem) => `${from}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  it("gives a pod more time than draining takes", async () => {
    const drain = { preStopSeconds: 20, timeoutSeconds: 90 };
    for (const workload of ["deployment", "llminferenceservice"]) {
      const objects = await renderChart(program, { workload, drain });
      const [pod] = objects.flatMap(createdPods);
      const [container] = pod?.spec.containers ?? [];
      expect(container?.args).toContain("--drain-timeout=90s");
      expect(container?.lifecycle?.preStop.exec.command).toEqual(["sleep", "20"]);
      expect(pod?.spec.terminationGracePeriodSeconds).toBeGreaterThan(20 + 90);
    }
    for (const [from, objects] of rendered) {
      for (const { spec } of objects.flatMap(createdPods)) {
        const [container] = spec.containers;
        const drainSeconds = flagSeconds(container?.args, "--drain-timeout");
        const preStop = Number(container?.lifecycle?.preStop.exec.command[1] ?? 0);
        // KServe in Knative mode derives the pod's grace period from its own timeout, like Knative.
        const grace = spec.terminationGracePeriodSeconds ?? spec.timeoutSeconds ?? Infinity;
        expect(grace, from).toBeGreaterThan(drainSeconds + preStop);
      }
    }
  });

  it("uses only commands and flags that the program has", async () => {
    const help = `${await output("--help")}\n${await output("serve", "--help")}\n${await output("worker", "--help")}`;
    const containers = [...rendered.values()].flat().flatMap(createdPods).flatMap(allContainers);
    const calls = containers.filter(({ command }) => command[0] === "ingle").map(({ args }) => args);
    const commands = new Set(calls.map(([command]) => command));
    const flags = new Set(
      calls
        .flat()
        .filter((arg) => arg.startsWith("--"))
        .map((arg) => arg.split("=")[0]),
    );
    expect([...commands]).toEqual(["pull", "serve", "worker"]);
    for (const name of [...commands, ...flags]) expect(help).toMatch(new RegExp(`^ +${name}[ ,]`, "m"));
  });

  it("requests enough memory and disk space for the default model", async () => {
    const defaults = await chartValues();
    const repository = defaults.model.name.split(":")[0] ?? "";
    const page = await readFile(path.join(folder, "../../docs/models.md"), "utf8");
    const row =
      page.split("\n").find((line) => line.includes(`\`${repository}\``) && line.includes(" GB |")) ?? "";
    const [memory = Infinity, download = Infinity] = [...row.matchAll(/([\d.]+) GB/g)].map((match) =>
      Number(match[1]),
    );
    expect(gibibytes(defaults.resources.limits.memory)).toBeGreaterThanOrEqual(memory);
    expect(gibibytes(defaults.resources.requests.memory)).toBeGreaterThanOrEqual(memory);
    expect(gibibytes(defaults.cache.size)).toBeGreaterThanOrEqual(2 * download);
  });

  it("has a default for each value of its schema", async () => {
    const schema: unknown = JSON.parse(await readFile(path.join(folder, "chart/values.schema.json"), "utf8"));
    expect(missingDefaults(schema, await chartValues())).toEqual([]);
  });

  it("has the same version as the server", async () => {
    const chart = parse(await readFile(path.join(folder, "chart/Chart.yaml"), "utf8")) as {
      appVersion: string;
    };
    const server = JSON.parse(
      await readFile(path.join(folder, "../../packages/server/package.json"), "utf8"),
    ) as { version: string };
    expect(chart.appVersion).toBe(server.version);
  });

  it("matches the manifests", async () => {
    for (const example of await examples()) {
      const file = path.join(folder, "manifests", `${example.name}.yaml`);
      expect(await readFile(file, "utf8"), `${file}: make it anew with manifests.ts`).toBe(
        toManifest(example, rendered.get(example.name) ?? []),
      );
    }
    const names = (await examples()).map(({ name }) => `${name}.yaml`);
    expect(await readdir(path.join(folder, "manifests"))).toEqual(names);
  });

  it.each(refusals)("refuses $name", async ({ values, says }) => {
    await expect(renderChart(program, values)).rejects.toThrow(says);
  });
});

/** The program's output. */
async function output(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [ingleProgram, ...args], {
    timeout: 20_000,
  });
  return stdout;
}

interface ChartValues {
  model: { name: string };
  cache: { size: string };
  resources: { limits: { memory: string }; requests: { memory: string } };
}

async function chartValues(): Promise<ChartValues> {
  return parse(await readFile(path.join(folder, "chart/values.yaml"), "utf8")) as ChartValues;
}

/** The picker's configuration in a ConfigMap, as a separate object. */
function pickerConfigs({ from, object }: Rendered): NamedObject[] {
  const text = object.data?.["picker.yaml"];
  return text === undefined ? [] : [{ from, object: parse(text) as NamedObject["object"] }];
}

/** `--drain-timeout=90s` is 90. */
function flagSeconds(args: readonly string[] = [], flag: string): number {
  const value = args.find((arg) => arg.startsWith(`${flag}=`))?.slice(flag.length + 1);
  return value === undefined ? 0 : Number(/^(\d+)s$/.exec(value)?.[1]);
}

/** `4Gi` is 4. */
function gibibytes(quantity: string): number {
  return Number(/^(\d+)Gi$/.exec(quantity)?.[1]);
}

interface Schema {
  properties?: Record<string, Schema>;
}

/** Paths of the schema that are missing in the values. `global` is Helm's. */
function missingDefaults(schema: unknown, values: unknown, at = ""): string[] {
  return Object.entries((schema as Schema).properties ?? {}).flatMap(([name, property]) => {
    const here = at === "" ? name : `${at}.${name}`;
    if (here === "global" || /\.(claims|requests|limits)$/.test(here)) return [];
    const value: unknown = (values as Record<string, unknown>)[name];
    return value === undefined ? [here] : missingDefaults(property, value, here);
  });
}
