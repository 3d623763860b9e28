import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { canLimitProcessors, createNetwork, removeLeftovers } from "./namespaces.ts";

const twoHosts = { left: { address: "10.77.9.1" }, right: { address: "10.77.9.2" } };
const server = `require("node:net").createServer((socket) => socket.end("hello")).listen(9000, () => console.log("listening"))`;
const client = `require("node:net").connect(9000, "10.77.9.1").on("data", (text) => console.log(String(text)))`;

const limitsProcessors = await canLimitProcessors();

/** Everything that this process has created and not removed. */
function remains(): string[] {
  const mine = new RegExp(`^ingle-hosts-${process.pid}-`);
  const folders = ["/var/run/netns", "/etc/netns", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup"];
  return folders.flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => mine.test(name)) : [],
  );
}

afterEach(() => {
  if (remains().length > 0) throw new Error(`A test has left ${remains().join(", ")} behind.`);
});

describe("a network of namespaces", () => {
  it("connects its hosts, but not this machine", async () => {
    await using network = await createNetwork(twoHosts);
    const listening = await network.run("left", process.execPath, ["-e", server]);
    await listening.written("listening", 10_000);
    const asking = await network.run("right", process.execPath, ["-e", client]);
    await asking.written("hello", 10_000);
    expect(await asking.ended).toBe(0);
    const links = await network.run("right", "ip", ["-brief", "link"]);
    await links.ended;
    expect(
      links.stdout
        .trim()
        .split("\n")
        .map((line) => line.split(/[@ ]/)[0]),
    ).toEqual(["lo", "eth0"]);
    expect(execFileSync("ip", ["-brief", "address"], { encoding: "utf8" })).not.toContain("10.77.9");
  });

  it("gives a host its own files in /etc", async () => {
    await using network = await createNetwork({
      left: { address: "10.77.9.1", etc: { hosts: "10.0.0.9 there\n" } },
    });
    const reading = await network.run("left", "cat", ["/etc/hosts"]);
    expect(await reading.ended).toBe(0);
    expect(reading.stdout).toBe("10.0.0.9 there\n");
  });

  it("ends what still runs when it is disposed of", async () => {
    const network = await createNetwork(twoHosts);
    const running = await network.run("left", process.execPath, ["-e", server]);
    await running.written("listening", 10_000);
    await network[Symbol.asyncDispose]();
    expect(await running.ended).toBe(null);
  });

  it("leaves nothing behind if it cannot be created", async () => {
    const broken = { left: { address: "10.77.9.1" }, right: { address: "no address" } };
    await expect(createNetwork(broken)).rejects.toThrow("no address");
  });

  it.runIf(limitsProcessors)("limits a program to a share of a core", async () => {
    await using network = await createNetwork(twoHosts);
    const burn = `const end = Date.now() + 1000; while (Date.now() < end); console.log(process.cpuUsage().user)`;
    const burning = await network.run("left", process.execPath, ["-e", burn], { processorShare: 0.3 });
    expect(await burning.ended).toBe(0);
    expect(Number(burning.stdout) / 1e6).toBeLessThan(0.5);
  });
});

describe("the leftovers of a dead process", () => {
  it("are removed with their processes, and those of a running process are not", async () => {
    await using living = await createNetwork(twoHosts);
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    const name = `ingle-hosts-${dead}-1-left`;
    execFileSync("ip", ["netns", "add", name]);
    mkdirSync(path.join("/etc/netns", name), { recursive: true });
    writeFileSync(path.join("/etc/netns", name, "hosts"), "");
    await removeLeftovers();
    expect(existsSync(path.join("/var/run/netns", name))).toBe(false);
    expect(existsSync(path.join("/etc/netns", name))).toBe(false);
    const still = await living.run("left", "true", []);
    expect(await still.ended).toBe(0);
  });
});
