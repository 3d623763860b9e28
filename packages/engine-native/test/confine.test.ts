// confineProcess() in a process of its own: what it can do afterwards, and what it cannot.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { hasLandlock } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const addon = new URL("../index.js", import.meta.url).href;

/** Its threads for file system calls run before it is confined: they are confined, too. */
const beginning = (stateFile: string, slotDir = ""): string => `
import { spawnSync } from "node:child_process";
import fs, { promises } from "node:fs";
import net from "node:net";
import { Worker } from "node:worker_threads";
import { confineProcess } from ${JSON.stringify(addon)};

const errorCode = (attempt) => {
  try {
    attempt();
    return "allowed";
  } catch ({ code }) {
    return code;
  }
};
const failure = (emitter) => new Promise((resolve) => emitter.once("error", ({ code }) => resolve(code)));
const onThreads = async (attempt) => {
  const attempts = await Promise.allSettled(Array.from({ length: 16 }, attempt));
  return [...new Set(attempts.map(({ reason }) => reason?.code ?? "allowed"))];
};

await onThreads(() => promises.readFile("/etc/passwd"));
const restricted = confineProcess(${JSON.stringify(stateFile)}, ${JSON.stringify(slotDir)});
`;

async function run(program: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  return JSON.parse(stdout);
}

let folder = "";
beforeAll(async () => (folder = await mkdtemp(path.join(tmpdir(), "ingle-confined-"))));
afterAll(async () => rm(folder, { recursive: true }));

describe.runIf(process.platform === "linux" && ["x64", "arm64"].includes(process.arch))(
  "a confined process",
  () => {
    it("computes, and reaches no program, process or network", async () => {
      const found = await run(`${beginning("")}
const worker = new Worker("require('worker_threads').parentPort.postMessage('works')", { eval: true, execArgv: [] });
const message = new Promise((resolve) => worker.once("message", resolve));
console.log(JSON.stringify({
  isFiltered: restricted.includes("system calls"),
  program: spawnSync("true").error?.code,
  connection: await failure(net.connect(9, "127.0.0.1")),
  local: await failure(net.connect("/nowhere.sock")),
  listening: await failure(net.createServer().listen(0)),
  otherProcess: errorCode(() => process.kill(process.ppid, 0)),
  itself: errorCode(() => process.kill(process.pid, 0)),
  privileges: fs.readFileSync("/proc/self/status", "utf8").match(/NoNewPrivs:\\s*(\\d)/)[1],
  thread: await message,
}));`);
      expect(found).toEqual({
        isFiltered: true,
        program: "EPERM",
        connection: "EPERM",
        local: "EPERM",
        listening: "EPERM",
        otherProcess: "EPERM",
        itself: "allowed",
        privileges: "1",
        thread: "works",
      });
    });

    it.runIf(hasLandlock())("opens no file that an engine does not need, on any thread", async () => {
      const file = path.join(folder, "model.gguf");
      await writeFile(file, "weights");
      const found = await run(`${beginning("")}
const file = ${JSON.stringify(file)};
console.log(JSON.stringify({
  isRestricted: restricted.includes("files"),
  read: errorCode(() => fs.readFileSync(file)),
  list: errorCode(() => fs.readdirSync("/")),
  write: errorCode(() => fs.writeFileSync(file, "")),
  create: errorCode(() => fs.writeFileSync(file + ".new", "")),
  truncate: errorCode(() => fs.truncateSync(file)),
  remove: errorCode(() => fs.rmSync(file)),
  rename: errorCode(() => fs.renameSync(file, file + ".moved")),
  link: errorCode(() => fs.symlinkSync(file, file + ".link")),
  folder: errorCode(() => fs.mkdirSync(file + ".folder")),
  mode: errorCode(() => fs.chmodSync(file, 0o777)),
  owner: errorCode(() => fs.chownSync(file, 1, 1)),
  otherProcess: errorCode(() => fs.openSync("/proc/" + process.ppid + "/mem")),
  readOnThreads: await onThreads(() => promises.readFile(file)),
  writeOnThreads: await onThreads(() => promises.writeFile(file, "")),
  freeMemory: errorCode(() => fs.readFileSync("/proc/meminfo")),
}));`);
      expect(found).toEqual({
        isRestricted: true,
        read: "EACCES",
        list: "EACCES",
        write: "EACCES",
        create: "EACCES",
        truncate: "EACCES",
        remove: "EACCES",
        rename: "EACCES",
        link: "EACCES",
        folder: "EACCES",
        mode: "EPERM",
        owner: "EPERM",
        otherProcess: "EACCES",
        readOnThreads: ["EACCES"],
        writeOnThreads: ["EACCES"],
        freeMemory: "allowed",
      });
      expect(await readdir(folder)).toEqual(["model.gguf"]);
    });

    it.runIf(hasLandlock())("writes in the folders of its state file and of its slots only", async () => {
      const state = path.join(folder, "state");
      const slots = path.join(folder, "slots");
      const found = await run(`
import { mkdirSync } from "node:fs";
mkdirSync(${JSON.stringify(state)});
mkdirSync(${JSON.stringify(slots)});
${beginning(path.join(state, "file"), slots)}
const results = [];
for (const folder of ${JSON.stringify([state, slots])})
  results.push([
    errorCode(() => fs.writeFileSync(folder + "/file.part", "state")),
    errorCode(() => fs.renameSync(folder + "/file.part", folder + "/file")),
    errorCode(() => fs.readFileSync(folder + "/file")),
    errorCode(() => fs.renameSync(folder + "/file", folder + "/../outside")),
    errorCode(() => fs.writeFileSync(folder + "/../outside", "")),
  ]);
console.log(JSON.stringify(results));`);
      const expected = ["allowed", "allowed", "allowed", "EACCES", "EACCES"];
      expect(found).toEqual([expected, expected]);
      expect(await readdir(state)).toEqual(["file"]);
      expect(await readdir(slots)).toEqual(["file"]);
    });
  },
);
