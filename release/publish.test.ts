// A release as a user gets it: the packages are published to a registry on loopback, and `npx ingle` installs and runs them.
import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { EmptyFolder } from "./empty-folder.ts";
import { packageProblems } from "./package-problems.ts";
import { publishRelease, type PublishedRelease } from "./release-files.ts";

const installMaxMs = 300_000;
/** On Linux with x64: ours, those of sharp, and what sharp needs. */
const packagesMax = 10;

const Names = z.array(z.string());
const Verified = z.array(
  z.object({ package: z.string(), files: z.number(), changed: Names, missing: Names, added: Names }),
);

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

    it(
      "is installed as published, or doctor --verify names what differs",
      async () => {
        await using user = await EmptyFolder.make(release.registry);
        await user.run("npm", "install", "--ignore-scripts", "ingle");
        const whole = Verified.parse(
          JSON.parse(await user.run("npx", "ingle", "doctor", "--verify", "--json")),
        );
        expect(whole.map((each) => each.package)).toEqual(
          expect.arrayContaining(["ingle", "@ingle/engine-native", "@ingle/web"]),
        );
        for (const { files, changed, missing, added } of whole) {
          expect(files).toBeGreaterThan(2);
          expect({ changed, missing, added }).toEqual({ changed: [], missing: [], added: [] });
        }
        const folder = path.join(user.path, "node_modules", "@ingle", "engine-native");
        await appendFile(path.join(folder, "index.js"), "// changed\n");
        await rm(path.join(folder, "README.md"));
        await writeFile(path.join(folder, "new.js"), "");
        const refused = user.run("npx", "ingle", "doctor", "--verify");
        await expect(refused).rejects.toThrow(
          /@ingle\/engine-native:\n {2}changed {2}index.js\n {2}missing {2}README.md\n {2}added {4}new.js\n/,
        );
      },
      installMaxMs,
    );
  },
);
