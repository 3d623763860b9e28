import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testWorld } from "../../../test/cli-context.ts";
import { ingleVersion } from "../../this-package.ts";
import { findInstallation, type Files } from "./installation.ts";
import { upgradeCommand } from "./upgrade-command.ts";

const script = fileURLToPath(new URL("../../../bin/ingle.js", import.meta.url));

/** A disk with these files, of which those with a target are links. */
function makeDisk(names: readonly string[], links: Readonly<Record<string, string>> = {}): Files {
  return {
    exists: (file) => names.includes(file),
    realPath: (file) => links[file] ?? file,
    read: () => '{ "name": "ingle" }',
  };
}

// The paths are those of Linux and macOS.
describe.skipIf(process.platform === "win32")("findInstallation", () => {
  it.each([
    ["npx", "/home/mia/.npm/_npx/1f/node_modules/ingle", "npx --yes ingle@latest"],
    ["pnpm dlx", "/home/mia/.cache/pnpm/dlx/1f/node_modules/ingle", "pnpm dlx ingle@latest"],
    ["bunx", "/tmp/bunx-0-ingle@latest/node_modules/ingle", "bunx ingle@latest"],
    ["Homebrew", "/opt/homebrew/Cellar/ingle/0.1.0/libexec/lib/node_modules/ingle", "brew upgrade ingle"],
    [
      "winget",
      "C:/Users/Mia/AppData/Local/Microsoft/WinGet/Packages/Ingle.Ingle_x/ingle",
      "winget upgrade --id Ingle.Ingle",
    ],
    ["bun", "/home/mia/.bun/install/global/node_modules/ingle", "bun add --global ingle@latest"],
    ["pnpm", "/home/mia/.local/share/pnpm/global/5/node_modules/ingle", "pnpm add --global ingle@latest"],
    ["yarn", "/home/mia/.config/yarn/global/node_modules/ingle", "yarn global add ingle@latest"],
    ["npm", "/usr/local/lib/node_modules/ingle", "npm install --global ingle@latest"],
  ])("knows %s by its folder", (by, folder, command) => {
    const files = makeDisk([`${folder}/package.json`]);
    expect(findInstallation(`${folder}/bin/ingle.js`, files)).toMatchObject({
      by,
      packageName: "ingle",
      command,
    });
  });

  it("follows the link that a shell runs", () => {
    const real = "/usr/local/lib/node_modules/ingle/bin/ingle.js";
    const files = makeDisk(["/usr/local/lib/node_modules/ingle/package.json"], {
      "/usr/local/bin/ingle": real,
    });
    expect(findInstallation("/usr/local/bin/ingle", files).by).toBe("npm");
  });

  it("looks at the path before a link as well, because pnpm's lead into its store", () => {
    const global = "/home/mia/.local/share/pnpm/global/5/node_modules/ingle/bin/ingle.js";
    const store = "/home/mia/.local/share/pnpm/store/v10/links/ingle/0.1.0/1f/node_modules/ingle";
    const files = makeDisk([`${store}/package.json`], { [global]: `${store}/bin/ingle.js` });
    expect(findInstallation(global, files).by).toBe("pnpm");
  });

  it.each([
    ["pnpm-lock.yaml", "pnpm add ingle@latest"],
    ["yarn.lock", "yarn add ingle@latest"],
    ["bun.lock", "bun add ingle@latest"],
    ["package-lock.json", "npm install ingle@latest"],
  ])("is a dependency of a project with %s", (lock, command) => {
    const package_ = "/srv/app/node_modules/ingle";
    const files = makeDisk([`${package_}/package.json`, "/srv/app/package.json", `/srv/app/${lock}`]);
    const found = findInstallation(`${package_}/bin/ingle.js`, files);
    expect(found).toMatchObject({ by: expect.stringMatching(/ in the project \/srv\/app$/), command });
  });

  it("is a container's image, or unknown, outside of any node_modules", () => {
    const image = ["/opt/ingle/packages/server/package.json"];
    const inImage = findInstallation(
      "/opt/ingle/packages/server/bin/ingle.js",
      makeDisk([...image, "/.dockerenv"]),
    );
    expect(inImage).toMatchObject({
      by: "a container's image",
      advice: expect.stringContaining("newer image"),
    });
    const unknown = findInstallation("/opt/ingle/packages/server/bin/ingle.js", makeDisk(image));
    expect(unknown).not.toHaveProperty("command");
  });
});

describe("ingle upgrade", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "ingle-upgrade-"));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  async function worldWithNpm(body: string) {
    const npm = path.join(folder, "npm");
    await writeFile(npm, `#!/bin/sh\necho "$*" >> '${folder}/calls'\n${body}\n`);
    await chmod(npm, 0o755);
    return testWorld({ env: { PATH: `${folder}:/usr/bin:/bin` } });
  }

  it("prints the command, and asks nobody", async () => {
    const world = await worldWithNpm("echo 9.9.9");
    expect(await upgradeCommand({}, world.context, script)).toBe(0);
    expect(world.out()).toMatch(
      new RegExp(
        `^Ingle ${ingleVersion()} comes from a clone of the repository, .*\nTo upgrade it: git pull && npx `,
      ),
    );
    await expect(readFile(path.join(folder, "calls"))).rejects.toThrow("ENOENT");
  });

  it.skipIf(process.platform === "win32").each([
    ["9.9.9", "The newest version is 9.9.9.\nTo upgrade it: "],
    [ingleVersion(), "It is the newest version.\n"],
  ])("asks the registry with --check: %s", async (newest, text) => {
    const world = await worldWithNpm(`echo ${newest}`);
    expect(await upgradeCommand({ check: true }, world.context, script)).toBe(0);
    expect(world.out()).toContain(text);
    expect(await readFile(path.join(folder, "calls"), "utf8")).toBe("view @ingle/server version\n");
  });

  it.skipIf(process.platform === "win32")("says why npm could not tell", async () => {
    const world = await worldWithNpm(
      'echo "npm error code E404" >&2; echo "npm error 404 Not Found" >&2; exit 1',
    );
    await expect(upgradeCommand({ check: true }, world.context, script)).rejects.toThrow(
      "npm could not find the newest version of @ingle/server: 404 Not Found.",
    );
  });
});
