import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { frame } from "./frames.ts";
import { Tunnel, type KeepAlive } from "./tunnel.ts";

const patient: KeepAlive = { pingMs: 1_000, silenceMs: 60_000 };
/** Four times the credit of unread bytes. */
const manyBytes = 32 * 1024 * 1024;

/** Two connected sockets. */
async function socketPair(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>; // the event's arguments
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [[far]] = await Promise.all([accepted, once(near, "connect")]);
  server.close();
  return [near, far];
}

/** A tunnel whose sides carry a socket each; `near` and `far` are the outer ends of these sockets. */
async function tunnelPair(patience: KeepAlive = patient) {
  const [left, right] = await socketPair();
  const here = new Tunnel(left, () => {}, patience);
  const there = new Tunnel(right, () => {}, patience);
  const [near, nearLocal] = await socketPair();
  const [far, farLocal] = await socketPair();
  here.carry(nearLocal);
  there.carry(farLocal);
  return { here, there, near, far };
}

/** The digest of the first `bytes` bytes. The stream stays open, because the other direction may still be in use. */
async function readDigest(stream: Socket, bytes: number): Promise<string> {
  const hash = createHash("sha256");
  let count = 0;
  await new Promise<void>((resolve, reject) => {
    stream.on("close", () => reject(new Error(`closed after ${count} of ${bytes} bytes`)));
    stream.on("data", (chunk: Buffer) => {
      hash.update(chunk);
      count += chunk.length;
      if (count >= bytes) resolve();
    });
  });
  expect(count).toBe(bytes);
  return hash.digest("hex");
}

describe("a tunnel", () => {
  it("carries bytes in both directions, complete and in order", async () => {
    const { near, far, here } = await tunnelPair();
    const sent = Buffer.alloc(manyBytes);
    for (let at = 0; at < sent.length; at += 4) sent.writeUInt32LE(at, at);
    const expected = createHash("sha256").update(sent).digest("hex");
    const arrived = [readDigest(far, manyBytes), readDigest(near, manyBytes)];
    near.write(sent);
    far.write(sent);
    expect(await Promise.all(arrived)).toEqual([expected, expected]);
    here.close("done");
  });

  it("buffers no more unread bytes than its credit, and stays alive meanwhile", async () => {
    const { near, far, here, there } = await tunnelPair({ pingMs: 20, silenceMs: 400 });
    const sent = Buffer.alloc(manyBytes, 7);
    let written = 0;
    for (let at = 0; at < manyBytes; at += 65_536)
      near.write(sent.subarray(at, at + 65_536), () => (written += 65_536));
    // Longer than the silence that ends a tunnel: pings overtake waiting data.
    await sleep(1_200);
    expect([here.isClosed, there.isClosed]).toEqual([false, false]);
    expect(written).toBeLessThan(manyBytes / 2);
    expect(await readDigest(far, manyBytes)).toBe(createHash("sha256").update(sent).digest("hex"));
    here.close("done");
  });

  it("sends the reason for closing to the other side, and closes both sockets", async () => {
    const { here, there, near, far } = await tunnelPair();
    const ends = [once(near, "close"), once(far, "close")];
    near.resume();
    far.resume();
    here.close("enough");
    here.close("twice");
    expect(await Promise.all([here.closed, there.closed])).toEqual(["enough", "enough"]);
    await Promise.all(ends);
  });

  it("closes if the other side is silent, and if its local socket closes", async () => {
    const [left] = await socketPair();
    const alone = new Tunnel(left, () => {}, { pingMs: 10, silenceMs: 50 });
    expect(await alone.closed).toMatch(/no sign of life/);
    const { here, there, near } = await tunnelPair();
    near.destroy();
    expect(await Promise.all([here.closed, there.closed])).toEqual(
      Array(2).fill("the computing side closed the connection"),
    );
  });

  it("notices silence although the clock is set back by a day, and none when it is set forward", async () => {
    const now = Date.now();
    const clock = vi.spyOn(Date, "now").mockReturnValue(now);
    const [left] = await socketPair();
    const alone = new Tunnel(left, () => {}, { pingMs: 10, silenceMs: 100 });
    const { here, there } = await tunnelPair({ pingMs: 10, silenceMs: 100 });
    clock.mockReturnValue(now - 86_400_000);
    expect(await alone.closed).toMatch(/no sign of life/);
    clock.mockReturnValue(now + 86_400_000);
    await sleep(200);
    expect([here.isClosed, there.isClosed]).toEqual([false, false]);
    clock.mockRestore();
    here.close("done");
  });

  it.each([
    ["an invalid frame", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    ["data before the hello", frame("data", Buffer.from("x"))],
    ["a goodbye without a reason", frame("goodbye", Buffer.from("{}"))],
    ["a credit of the wrong length", frame("credit", Buffer.alloc(3))],
  ])("closes if the peer sends %s", async (_what, bytes) => {
    const [left, right] = await socketPair();
    const tunnel = new Tunnel(left, () => {}, patient);
    right.resume();
    right.write(bytes);
    expect(await tunnel.closed).not.toBe("");
    expect(tunnel.isClosed).toBe(true);
  });
});
