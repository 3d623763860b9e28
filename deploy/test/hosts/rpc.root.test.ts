// A model over two hosts: a worker and a server in network namespaces, and a third host that forwards every byte between them. It records
// the traffic, and tries to connect to the worker.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { deflateSync } from "node:zlib";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ingleProgram } from "../ingle-program.ts";
import type { RunningProgram } from "@ingle/fixtures";
import { createNetwork, type Network } from "./namespaces.ts";

const addresses = { server: "10.77.12.1", wire: "10.77.12.2", worker: "10.77.12.3" };
const port = 50_052;
const startLimitMs = 60_000;
/** Forwards connections to the worker, and records the traffic in a file. */
const forwarder = `
const { createServer, connect } = require("node:net");
const file = require("node:fs").createWriteStream(process.argv[1]);
createServer((near) => {
  const far = connect(${port}, "${addresses.worker}");
  for (const [from, to] of [[near, far], [far, near]]) {
    from.on("data", (chunk) => file.write(chunk)).on("error", () => to.destroy());
    from.pipe(to);
  }
}).listen(${port}, () => console.log("listening"));`;
/** Sends the first message of a ggml RPC client to the worker, and prints its response. */
const intruder = `
const socket = require("node:net").connect(${port}, "${addresses.worker}");
socket.write(Buffer.concat([Buffer.from([14, 24, 0, 0, 0, 0, 0, 0, 0]), Buffer.alloc(24)]));
let response = "";
socket.on("data", (chunk) => (response += chunk.toString("hex"))).on("error", () => {});
socket.on("close", () => console.log("response:" + response + ":"));`;
/** Prints a reply as it streams. */
const asker = `
(async () => {
  const [url, prompt, tokens] = process.argv.slice(1);
  const { data: [{ id: model }] } = await (await fetch(url + "/v1/models")).json();
  const body = { model, prompt, max_tokens: Number(tokens), temperature: 0, ignore_eos: true, stream: true };
  const headers = { "content-type": "application/json" };
  const reply = await fetch(url + "/v1/completions", { method: "POST", headers, body: JSON.stringify(body) });
  for await (const chunk of reply.body) process.stdout.write(chunk);
})();`;

let folder = "";
beforeAll(async () => (folder = await mkdtemp(path.join(tmpdir(), "ingle-rpc-"))));
afterAll(async () => rm(folder, { recursive: true, force: true }));

function ingle(network: Network, host: keyof typeof addresses, args: string[]): Promise<RunningProgram> {
  const env = { PATH: process.env["PATH"], INGLE_HOME: path.join(folder, host) };
  return network.run(host, process.execPath, [ingleProgram, ...args], { env });
}

it(
  "computes over the network, reveals nothing to an eavesdropper, and survives a network failure",
  { timeout: 200_000 },
  async () => {
    const model = await tinyModel({ weights: "f32" });
    const captured = path.join(folder, "captured");
    await using network = await createNetwork(
      Object.fromEntries(Object.entries(addresses).map(([host, address]) => [host, { address }])),
    );
    const worker = await ingle(network, "worker", ["worker", "--pair", "--device", "CPU", "--memory", "256"]);
    await worker.written("Ctrl-C", startLimitMs);
    const [key = ""] = /ingle-worker-\S+/.exec(worker.stdout) ?? [];
    const paired = await ingle(network, "server", ["worker", "--pair", key]);
    expect(await paired.ended).toBe(0);
    const wire = await network.run("wire", process.execPath, ["-e", forwarder, captured]);
    await wire.written("listening", startLimitMs);
    const flags = ["--ctx", "512", "--threads", "1", "--offline", "--no-ui", "--port", "1337"];
    const server = await ingle(network, "server", [
      "serve",
      "--model",
      model,
      "--rpc",
      addresses.wire,
      ...flags,
    ]);
    await server.written("Ingle is ready.", startLimitMs);
    const ask = (tokens: number): Promise<RunningProgram> =>
      network.run("server", process.execPath, [
        "-e",
        asker,
        "http://127.0.0.1:1337",
        "A confidential question",
        String(tokens),
      ]);

    const first = await ask(24);
    expect(await first.ended).toBe(0);
    expect(first.stdout).toContain("[DONE]");

    const seen = await readFile(captured);
    const weights = await readFile(model);
    // The layers have crossed the network, and the traffic looks like noise.
    expect(seen.length).toBeGreaterThan(weights.length / 4);
    expect(deflateSync(seen).length).toBeGreaterThan(0.99 * seen.length);
    for (const text of ["blk.0.", "attn_norm", "confidential", "sources", "description", key])
      expect(seen.includes(text), text).toBe(false);
    for (let at = weights.length - 64; at > weights.length / 2; at -= 65_521)
      expect(seen.includes(weights.subarray(at, at + 16)) && !isBlank(weights.subarray(at, at + 16))).toBe(
        false,
      );

    const outsider = await network.run("wire", process.execPath, ["-e", intruder]);
    await outsider.written("response:", 20_000);
    expect(/response:([0-9a-f]*):/.exec(outsider.stdout)?.[1]?.length).toBeLessThan(2 * 16); // at most a TLS alert
    await worker.written(`refused ${addresses.wire}`, 5_000);

    const cut = await ask(400);
    await cut.written("data:", startLimitMs);
    await (
      await network.run("worker", "ip", ["link", "set", "eth0", "down"])
    ).ended;
    await cut.ended;
    expect(cut.stdout).toContain('"code":"worker_lost"');
    expect(cut.stdout).not.toContain("[DONE]");
    await (
      await network.run("worker", "ip", ["link", "set", "eth0", "up"])
    ).ended;
    await expect
      .poll(
        async () => {
          const again = await ask(24);
          await again.ended;
          return again.stdout.includes("[DONE]");
        },
        { timeout: 90_000, interval: 1_000 },
      )
      .toBe(true);
    expect(await server.stop("SIGTERM", 30_000)).toBe(0);
    expect(await worker.stop("SIGTERM", 30_000)).toBe(0);
  },
);

/** Whether all bytes are equal: such a sequence may occur in the traffic by chance. */
function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === bytes[0]);
}
