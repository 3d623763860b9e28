// confineProcess() in a process of its own: what it can do afterwards, and what it cannot.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const addon = new URL("../index.js", import.meta.url).href;

const program = `
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import net from "node:net";
import { Worker } from "node:worker_threads";
import { confineProcess } from ${JSON.stringify(addon)};

const codeOf = (attempt) => {
  try {
    attempt();
    return "allowed";
  } catch ({ code }) {
    return code;
  }
};
const failure = (emitter) => new Promise((resolve) => emitter.once("error", ({ code }) => resolve(code)));

const isConfined = confineProcess();
const worker = new Worker("require('worker_threads').parentPort.postMessage('works')", { eval: true, execArgv: [] });
const message = new Promise((resolve) => worker.once("message", resolve));
const found = {
  isConfined,
  program: spawnSync("true").error?.code,
  connection: await failure(net.connect(9, "127.0.0.1")),
  local: await failure(net.connect("/nowhere.sock")),
  listening: await failure(net.createServer().listen(0)),
  otherProcess: codeOf(() => process.kill(process.ppid, 0)),
  itself: codeOf(() => process.kill(process.pid, 0)),
  file: (await readFile("/proc/self/status", "utf8")).match(/NoNewPrivs:\\s*(\\d)/)[1],
  thread: await message,
};
console.log(JSON.stringify(found));
`;

it.runIf(process.platform === "linux" && ["x64", "arm64"].includes(process.arch))(
  "a confined process computes and reads files, and nothing else",
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    expect(JSON.parse(stdout)).toEqual({
      isConfined: true,
      program: "EPERM",
      connection: "EPERM",
      local: "EPERM",
      listening: "EPERM",
      otherProcess: "EPERM",
      itself: "allowed",
      file: "1",
      thread: "works",
    });
  },
);
