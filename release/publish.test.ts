// A release as a user gets it: the packages are published to a registry on loopback, and `npx ingle` installs and runs them.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EmptyFolder } from "./empty-folder.ts";
import { packageProblems } from "./package-problems.ts";
import { publishRelease, type PublishedRelease } from "./release-files.ts";

const installMaxMs = 300_000;
/** On Linux with x64: ours, those of sharp, and what sharp needs. */
const packagesMax = 10;

// On Windows it runs only in the workflow of a release.
describe.skipIf(process.platform === "win32" && process.env["INGLE_PACKED"] === undefined)(
  "a release",
  () => {
    let release: PublishedRelease;
    beforeAll(async () => {
      release = await publishRelease();
    }, installMaxMs);
    afterAll(async () => {
      await release[Symbol.asyncDispose]();
    });

    it("has packages that are complete and that resolve, without install scripts", async () => {
      expect(await packageProblems(release.tarballs)).toEqual([]);
    });

    it("gives all its packages one version", async () => {
      const config = await readFile(path.join(import.meta.dirname, "../.changeset/config.json"), "utf8");
      const { fixed }: { fixed: string[][] } = JSON.parse(config);
      const names = release.tarballs.map(({ manifest }) => manifest.name);
      // Platform packages have the version of @ingle/engine-native.
      expect(fixed[0]).toEqual(names.filter((name) => !name.startsWith("@ingle/engine-native-")).toSorted());
      expect(new Set(release.tarballs.map(({ manifest }) => manifest.version)).size).toBe(1);
    });

    it(
      "replies through npx in an empty folder, without a compiler",
      async () => {
        await using user = await EmptyFolder.make(release.registry);
        const flags = ["--model", await tinyModel(), "--max-tokens", "8", "--ctx", "512"];
        const reply = await user.run(
          "npx",
          "--yes",
          "--ignore-scripts",
          "ingle",
          "run",
          ...flags,
          "What is the capital of France?",
        );
        expect(reply.trim()).not.toBe("");
        expect((await user.installedByNpx()).length).toBeLessThanOrEqual(packagesMax);
      },
      installMaxMs,
    );
  },
);
