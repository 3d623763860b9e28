// The server's package as installed, without a checkout: its commands and the files that they need.
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const server = fileURLToPath(new URL("..", import.meta.url));
let folder: string;
let installed: string;

/** Packs the package as for a registry, and installs it with links to the packages that it needs. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-installed-"));
  installed = path.join(folder, "node_modules", "@ingle", "server");
  await mkdir(installed, { recursive: true });
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: server });
  await run("tar", ["-xzf", path.join(folder, stdout.trim()), "--strip-components=1", "-C", installed]);
  await linkAll(path.join(server, "node_modules"), path.join(folder, "node_modules"));
  await linkAll(path.join(server, "node_modules", "@ingle"), path.join(folder, "node_modules", "@ingle"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function linkAll(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (name !== "@ingle" && !name.startsWith(".")) await symlink(path.join(from, name), path.join(to, name));
  }
}

/** A fake `modal` program that records which script it is to deploy. */
async function playModal(): Promise<string> {
  const bin = path.join(folder, "bin");
  await mkdir(bin, { recursive: true });
  const modal = path.join(bin, "modal");
  await writeFile(modal, `#!/bin/sh\necho "script: $2"\nexit 3\n`);
  await chmod(modal, 0o755);
  return bin;
}

async function deploy(...flags: string[]): Promise<{ code: number; stderr: string }> {
  const env = { PATH: `${await playModal()}:/usr/bin:/bin`, MODAL_KEY: "wk-1", MODAL_SECRET: "ws-1" };
  const args = [path.join(installed, "bin", "ingle.js"), "deploy", "modal", ...flags];
  return await run(process.execPath, args, { env }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
}

// The program is a script with a #! line, which Windows does not run.
describe.runIf(process.platform !== "win32")("ingle deploy modal of an installed package", () => {
  it("deploys the package's own script, with a named image or checkout", async () => {
    const script = path.join(installed, "modal", "deploy.py");
    expect(await deploy("--image", "registry.example/ingle:cuda")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`script: ${script}\n`),
    });
    const checkout = new URL("../../../deploy/modal/deploy.py", import.meta.url);
    expect(await readFile(script, "utf8")).toBe(await readFile(checkout, "utf8"));
  });

  it("says that it has no sources to build an image from", async () => {
    const { code, stderr } = await deploy();
    expect(code).toBe(2);
    expect(stderr).toContain(
      "Use --source to name a checkout, or --image to name an image that contains Ingle.",
    );
    expect(stderr).not.toContain("script:");
  });
});
