// Regenerates the manifests: `npx --yes pnpm@12 exec tsx deploy/test/kubernetes/write-manifests.ts`. The chart's test compares them.
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { examples, toManifest } from "./examples.ts";
import { findHelm, renderChart } from "./helm.ts";

const folder = path.join(import.meta.dirname, "../../kubernetes/manifests");

async function main(): Promise<void> {
  const helm = await findHelm();
  if (helm === undefined) throw new Error("Helm is missing: install it so that `helm version` works.");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const example of await examples()) {
    const objects = await renderChart(helm, example.values);
    await writeFile(path.join(folder, `${example.name}.yaml`), toManifest(example, objects));
  }
}

await main();
