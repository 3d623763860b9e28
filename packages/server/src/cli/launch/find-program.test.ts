import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findProgram } from "./find-program.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), "ingle-path-"))));
afterEach(() => rm(folder, { recursive: true }));

async function addFile(name: string, mode = 0o755): Promise<string> {
  const full = path.join(folder, name);
  await mkdir(path.dirname(full), { recursive: true });
  await writeFile(full, "");
  await chmod(full, mode);
  return full;
}

describe.runIf(process.platform !== "win32")("a program", () => {
  const find = (...commands: string[]) =>
    findProgram(commands, { env: { PATH: `${folder}/a::${folder}/b` }, platform: "linux" });

  it("is the first one in the order of PATH", async () => {
    const [first] = [await addFile("a/tool"), await addFile("b/tool")];
    expect(await find("tool")).toBe(first);
  });

  it("can be executed, and is no folder", async () => {
    await addFile("a/tool", 0o644);
    await mkdir(path.join(folder, "b/tool"), { recursive: true });
    expect(await find("tool")).toBeUndefined();
  });

  it("may have several names, the first of which is preferred", async () => {
    await addFile("a/second");
    const first = await addFile("b/first");
    expect(await find("first", "second")).toBe(first);
  });

  it("is not found without PATH", async () => {
    expect(await findProgram(["sh"], { env: {}, platform: "linux" })).toBeUndefined();
  });
});

describe("on Windows, a program", () => {
  const find = async (env: NodeJS.ProcessEnv, files: readonly string[]) =>
    await findProgram(["tool"], {
      env,
      platform: "win32",
      isProgram: async (file) => files.includes(file),
    });
  const folders = { Path: "C:\\a;C:\\b" };

  it("has an extension that can be started, in the order of PATHEXT", async () => {
    const files = ["C:\\a\\tool", "C:\\a\\tool.js", "C:\\a\\tool.cmd", "C:\\a\\tool.exe"];
    expect(await find(folders, files)).toBe("C:\\a\\tool.exe");
    expect(await find({ ...folders, PATHEXT: ".JS;.CMD;.EXE" }, files)).toBe("C:\\a\\tool.cmd");
    expect(await find(folders, files.slice(0, 2))).toBeUndefined();
  });

  it("is the first one in the order of PATH", async () => {
    expect(await find(folders, ["C:\\b\\tool.exe", "C:\\a\\tool.cmd"])).toBe("C:\\a\\tool.cmd");
  });
});
