// `ingle worker`: how two machines are paired, and what the command prints.
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { makeWorkerKey, workerDevices } from "@ingle/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../src/cli/main.ts";
import { testWorld, type TestWorld } from "./cli-context.ts";

let home = "";
beforeAll(async () => (home = await mkdtemp(path.join(tmpdir(), "ingle-worker-"))));
afterAll(async () => rm(home, { recursive: true, force: true }));

/** The context of a machine with this name. */
const machine = (name: string): TestWorld => testWorld({ env: { INGLE_HOME: path.join(home, name) } });
const keyFilePath = (name: string): string => path.join(home, name, "config", "worker.key");

describe("ingle worker --pair", () => {
  it(
    "pairs two machines with one line, and the second one reaches the first",
    { timeout: 60_000 },
    async () => {
      const lender = machine("lender");
      const args = [
        "worker",
        "--pair",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--device",
        "cpu",
        "--memory",
        "100",
      ];
      const exit = main("ingle", args, lender.context);
      await Promise.race([lender.outHas("Ctrl-C"), exit]);
      expect(lender.out()).toMatch(/ {2}CPU +.+, 100 MiB\n/);
      const [, address = ""] = /ingle serve --rpc (\S+)/.exec(lender.out()) ?? [];
      const [, line = ""] = /(worker --pair \S+)\n/.exec(lender.out()) ?? [];
      expect((await stat(keyFilePath("lender"))).mode & 0o777).toBe(0o600);

      const server = machine("server");
      expect(await main("ingle", line.split(" "), server.context)).toBe(0);
      expect(server.out()).toContain(`The key is saved in ${keyFilePath("server")}.`);
      const devices = await workerDevices({ workers: [address], keyFile: keyFilePath("server") });
      expect(devices).toMatchObject([{ memoryTotal: 100 * 1024 ** 2 }]);
      await lender.outHas("computes for ");

      lender.signals.emit("SIGINT");
      expect(await exit).toBe(0);
      expect(await readFile(keyFilePath("server"), "utf8")).toBe(
        await readFile(keyFilePath("lender"), "utf8"),
      );
    },
  );

  it("keeps an existing key when it pairs again, and refuses to overwrite it with a different one", async () => {
    const key = makeWorkerKey();
    expect(await main("ingle", ["worker", "--pair", key], machine("kept").context)).toBe(0);
    expect(await main("ingle", ["worker", "--pair", key], machine("kept").context)).toBe(0);
    const other = machine("kept");
    expect(await main("ingle", ["worker", "--pair", makeWorkerKey()], other.context)).toBe(1);
    expect(other.err()).toContain("already holds a different key");
    expect(await readFile(keyFilePath("kept"), "utf8")).toBe(`${key}\n`);
  });

  it("reads the key from stdin, which keeps it out of the shell's history", async () => {
    const key = makeWorkerKey();
    const world = machine("quiet");
    world.stdin.end(`${key}\n`);
    expect(await main("ingle", ["worker", "--pair", "-"], world.context)).toBe(0);
    expect(await readFile(keyFilePath("quiet"), "utf8")).toBe(`${key}\n`);
  });

  it("does not repeat an invalid key", async () => {
    const world = machine("slip");
    expect(await main("ingle", ["worker", "--pair", "ingle-worker-secret"], world.context)).toBe(1);
    expect(world.err()).toContain("not a worker key");
    expect(world.err()).not.toContain("secret");
  });
});

describe("ingle worker", () => {
  it(
    "says what to do without a key, and warns about a key file that others can read",
    { timeout: 60_000 },
    async () => {
      const none = machine("none");
      expect(await main("ingle", ["worker"], none.context)).toBe(1);
      expect(none.err()).toContain("ingle worker --pair");
      const file = path.join(home, "open.key");
      await writeFile(file, `${makeWorkerKey()}\n`);
      await chmod(file, 0o644);
      const open = machine("open");
      const unknown = ["worker", "--key-file", file, "--port", "0", "--device", "CUDA9"];
      expect(await main("ingle", unknown, open.context)).toBe(2);
      expect(open.err()).toContain("chmod 600");
      expect(open.err()).toMatch(/--device: this machine has no CUDA9\. It has: .*CPU/);
    },
  );

  it.each([
    ["--port", "65536"],
    ["--memory", "0"],
    ["--threads", "513"],
  ])("refuses %s %s", async (flag, value) => {
    const world = machine("kept");
    expect(await main("ingle", ["worker", flag, value], world.context)).toBe(2);
    expect(world.err()).toContain(flag);
  });
});
