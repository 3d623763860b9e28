// The examples, and the manifests that are generated from them for users without Helm.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import type { Combination } from "./combinations.ts";
import type { KubernetesObject } from "./helm.ts";

const folder = path.join(import.meta.dirname, "../../kubernetes/examples");
/** Labels and annotations by which Helm recognizes its own objects: manifests for kubectl must not have them. */
const helmMarks = new Set(["helm.sh/chart", "helm.sh/resource-policy", "app.kubernetes.io/managed-by"]);
const lineWidth = 110;
const Values = z.record(z.string(), z.unknown());

/** Values with the comment at the top of their file. */
export interface Example extends Combination {
  readonly comment: string;
}

/** All examples, ordered by name. */
export async function examples(): Promise<Example[]> {
  const files = (await readdir(folder)).toSorted();
  return await Promise.all(
    files.map(async (file) => {
      const text = await readFile(path.join(folder, file), "utf8");
      const comment = /^(?:#.*\n)*/.exec(text)?.[0] ?? "";
      return { name: path.basename(file, ".yaml"), values: Values.parse(parse(text)), comment };
    }),
  );
}

/** The text of an example's manifest. */
export function toManifest({ name, comment }: Example, objects: readonly KubernetesObject[]): string {
  const origin = `# Generated from the chart and examples/${name}.yaml by write-manifests.ts: edit those instead.\n`;
  const texts = objects.map((object) =>
    stringify(withoutMarks(object), { version: "1.1", lineWidth, aliasDuplicateObjects: false }),
  );
  return `${comment}${origin}${texts.map((text) => `---\n${text}`).join("")}`;
}

function withoutMarks(object: KubernetesObject): KubernetesObject {
  const { labels, annotations, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: { ...metadata, ...left("labels", labels), ...left("annotations", annotations) },
  };
}

function left(name: string, values: Record<string, string> = {}): object {
  const rest = Object.entries(values).filter(([key]) => !helmMarks.has(key));
  return rest.length === 0 ? {} : { [name]: Object.fromEntries(rest) };
}
