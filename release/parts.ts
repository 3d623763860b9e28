// The parts of a release, in CycloneDX: the npm packages that are installed with it or bundled into it, and the code that is compiled
// into the native engine.
import { readdir } from "node:fs/promises";
import path from "node:path";
import { compiledParts, type CompiledPart } from "@ingle/llama.cpp/compiled-parts";
import { z } from "zod";
import { publishedFolders, readManifest } from "./packages.ts";
import { runTool } from "./tool.ts";

const checkout = path.join(import.meta.dirname, "..");
const patches = "vendor/llama.cpp/patches";

/** The fields of CycloneDX 1.6 that are used here. */
const Component = z.looseObject({
  type: z.string(),
  name: z.string(),
  group: z.string().optional(),
  version: z.string().optional(),
});
const Sbom = z.looseObject({
  bomFormat: z.literal("CycloneDX"),
  specVersion: z.literal("1.6"),
  metadata: z.looseObject({ component: Component }),
  components: z.array(Component),
});
type Sbom = z.infer<typeof Sbom>;

/** The parts of the packages of this checkout, at this version. */
export async function listParts(version: string): Promise<Sbom> {
  const published = await Promise.all((await publishedFolders()).map(readManifest));
  const printed = await runTool(
    "npx",
    [
      "--yes",
      "pnpm@12",
      "sbom",
      "--prod",
      "--lockfile-only",
      "--sbom-format=cyclonedx",
      "--sbom-spec-version=1.6",
      "--sbom-type=application",
      ...published.flatMap(({ name }) => ["--filter", name]),
    ],
    { cwd: checkout },
  );
  const npm = Sbom.parse(JSON.parse(printed));
  const component = { type: "application", "bom-ref": `ingle@${version}`, name: "ingle", version };
  return {
    ...npm,
    metadata: { ...npm.metadata, component },
    components: [...npm.components, ...(await nativeParts())],
  };
}

async function nativeParts(): Promise<z.infer<typeof Component>[]> {
  const changes = (await readdir(path.join(checkout, patches))).toSorted();
  return compiledParts().map((part) => ({
    type: "library",
    "bom-ref": `native:${part.name}`,
    name: part.name,
    ...(part.version === undefined ? {} : { version: part.version }),
    licenses: [{ license: toLicense(part) }],
    ...(part.place === "." && {
      pedigree: {
        patches: changes.map((name) => ({ type: "unofficial", diff: { url: `${patches}/${name}` } })),
      },
    }),
  }));
}

function toLicense({ license, text }: CompiledPart): object {
  return { name: license ?? "Public domain", text: { contentType: "text/plain", content: text } };
}
