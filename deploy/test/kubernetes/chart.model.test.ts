// Simulates a pod of the chart with local processes: they get the container's arguments, temporary folders instead of its volumes, and
// probes like those of the kubelet.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { tinyModel, until } from "@ingle/fixtures";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ingleProgram } from "../ingle-program.ts";
import { findHelm, renderChart } from "./helm.ts";
import { createdPods, type Container } from "./pods.ts";

const helm = await findHelm();
const key = "0123456789abcdef0123456789abcdef";
const adminKey = "an-admin-key-of-this-test";
/** The model's file in the cache volume. */
const modelFile = "/models/tiny.gguf";
const inCluster = "ingle.ingle.svc.cluster.local";

/** A container's process and its output so far. */
interface Played {
  readonly process: ChildProcess;
  output(): string;
}

interface Pod extends Played {
  readonly container: Container;
  readonly port: number;
}

interface ApiResponse {
  readonly status: number;
  readonly body: string;
}

let folder = "";
const processes: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-pod-"));
  await mkdir(path.join(folder, "home"));
  await mkdir(path.join(folder, "keys"));
  await copyFile(await tinyModel(), path.join(folder, "home/tiny.gguf"));
  await writeFile(path.join(folder, "keys/api-keys"), `${key}\n`, { mode: 0o600 });
  await writeFile(path.join(folder, "keys/admin-keys"), `${adminKey}\n`, { mode: 0o600 });
});
afterEach(() => {
  for (const child of processes.splice(0)) child.kill("SIGKILL");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Replaces the mount points of the pod's volumes. */
function onThisMachine(text: string): string {
  return text
    .replace(/(?<=^|=)\/models(?=\/|$)/, path.join(folder, "home"))
    .replaceAll("/var/run/secrets/ingle", path.join(folder, "keys"));
}

/** Runs a container's command; `change` replaces values that only exist in a cluster. */
function play(container: Container, change: (arg: string) => string = (arg) => arg): Played {
  // Any free port, because several tests run at once.
  const args = container.args.map((arg) => change(onThisMachine(arg.replace(/^--port=.*/, "--port=0"))));
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, onThisMachine(value ?? "")]));
  return start(args, env);
}

function start(args: readonly string[], env: Record<string, string> = {}): Played {
  const child = spawn(process.execPath, [ingleProgram, ...args], {
    // Kubernetes would set INGLE_PORT like this for a Service named ingle, unless the pod disables it.
    env: { PATH: process.env["PATH"], INGLE_PORT: "tcp://10.96.0.10:80", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  processes.push(child);
  let output = "";
  child.stdout.on("data", (data: Buffer) => (output += data.toString()));
  child.stderr.on("data", (data: Buffer) => (output += data.toString()));
  return { process: child, output: () => output };
}

/** Waits until the pattern is printed; returns its first group. */
async function printed({ process: child, output }: Played, pattern: RegExp): Promise<string> {
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the program ended:\n${output()}`);
    return pattern.test(output());
  });
  return pattern.exec(output())?.[1] ?? "";
}

async function startPod(values: object, change?: (arg: string) => string): Promise<Pod> {
  const [container] = await containers(values);
  if (container === undefined) throw new Error("the chart made no container");
  const played = play(container, change);
  return { container, ...played, port: Number(await printed(played, /http:\/\/127\.0\.0\.1:(\d+)/)) };
}

/** The first container of each pod. */
async function containers(values: object): Promise<Container[]> {
  const settings = { model: { file: modelFile }, server: { host: "127.0.0.1" }, ...values };
  return (await renderChart(helm ?? "", settings))
    .flatMap(createdPods)
    .flatMap(({ spec }) => spec.containers.slice(0, 1));
}

/** Sends a request with any Host header; fetch cannot do this. */
function ask(
  { port }: Pick<Pod, "port">,
  route: string,
  options: { host?: string; key?: string; body?: object; onPiece?: (text: string) => void } = {},
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const headers = {
      host: options.host ?? `127.0.0.1:${port}`,
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(options.body === undefined ? {} : { "content-type": "application/json" }),
    };
    const method = options.body === undefined ? "GET" : "POST";
    const sent = request(
      { host: "127.0.0.1", port, path: route, method, headers },
      (reply: IncomingMessage) => {
        let body = "";
        reply.on("data", (piece: Buffer) => {
          body += piece.toString();
          options.onPiece?.(body);
        });
        reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body }));
        reply.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(options.body === undefined ? undefined : JSON.stringify(options.body));
  });
}

/** Probes like the kubelet: a refused connection is a normal failure. */
async function probe(pod: Pod, which: "startupProbe" | "readinessProbe" | "livenessProbe"): Promise<boolean> {
  const get = pod.container[which]?.httpGet;
  const response = await ask(pod, get?.path ?? "").catch(() => undefined);
  return response !== undefined && response.status >= 200 && response.status < 400;
}

const hello = { model: "tiny", max_tokens: 4, messages: [{ role: "user", content: "hi" }] };

/** The names of metrics in a text. */
function metricsIn(text: string): string[] {
  return [...new Set(text.match(/\b(?:ingle_[a-z_]+|vllm:[a-z_]+)/g) ?? [])];
}

describe.runIf(helm !== undefined)("a pod of the chart", () => {
  it("responds to its probes, and to the allowed clients and host names", async () => {
    const pod = await startPod({});
    await expect.poll(() => probe(pod, "livenessProbe")).toBe(true);
    await expect.poll(() => probe(pod, "startupProbe")).toBe(true);
    expect(await probe(pod, "readinessProbe")).toBe(true);
    const route = "/v1/chat/completions";
    expect(await ask(pod, route, { host: inCluster, key, body: hello })).toMatchObject({ status: 200 });
    expect(await ask(pod, route, { host: inCluster, body: hello })).toMatchObject({ status: 401 });
    expect(await ask(pod, route, { host: "other.example", key, body: hello })).toMatchObject({ status: 403 });
    expect(await ask(pod, "/", { key })).toMatchObject({ status: 404 });
  });

  it("has a sample of each metric that autoscalers and pickers read, before its model is used", async () => {
    const pod = await startPod({});
    await expect.poll(() => probe(pod, "readinessProbe")).toBe(true);
    const { body, status } = await ask(pod, "/metrics");
    expect(status).toBe(200);
    const shared = { accessMode: "ReadWriteMany" };
    const readers = [
      { autoscaling: { by: "hpa" }, cache: shared },
      { autoscaling: { by: "keda" }, cache: shared },
      { inferencePool: { enabled: true } },
      { workload: "llminferenceservice" },
    ];
    for (const values of readers) {
      const names = metricsIn(JSON.stringify(await renderChart(helm ?? "", values)));
      expect(names).toContain("ingle_requests_waiting");
      for (const name of names) expect(body).toMatch(new RegExp(`^${name}(\\{| )`, "m"));
    }
  });

  it("requires a key that may manage models for its metrics if they are not public", async () => {
    const pod = await startPod({
      auth: { adminKeysEntry: "admin-keys" },
      metrics: { public: false, vllmNames: false },
    });
    await expect.poll(() => probe(pod, "readinessProbe")).toBe(true);
    expect(await ask(pod, "/metrics")).toMatchObject({ status: 401 });
    expect(await ask(pod, "/metrics", { key })).toMatchObject({ status: 403 });
    const { body } = await ask(pod, "/metrics", { key: adminKey });
    expect(body).toContain("ingle_requests_waiting");
    expect(body).not.toContain("vllm:");
  });

  it("is not ready after the stop signal, finishes the running response, and exits", async () => {
    const pod = await startPod({ auth: { enabled: false } });
    await expect.poll(() => probe(pod, "readinessProbe")).toBe(true);
    let isStreaming = false;
    const stream = ask(pod, "/v1/chat/completions", {
      host: inCluster,
      body: { ...hello, max_tokens: 300, stream: true },
      onPiece: () => (isStreaming = true),
    });
    await until(() => isStreaming);
    pod.process.kill("SIGTERM");
    await expect.poll(() => probe(pod, "readinessProbe")).toBe(false);
    const { body } = await stream;
    expect(body.slice(-300)).toMatch(/data: \[DONE\]\n+$/);
    expect(pod.process.exitCode ?? (await once(pod.process, "exit"))[0]).toBe(0);
  });

  it.runIf(process.platform !== "win32")("computes with the workers of its group", async () => {
    const values = { workload: "leaderworkerset", auth: { enabled: false } };
    const [leader, worker] = await containers(values);
    if (worker === undefined) throw new Error("the chart made no worker");
    expect(leader?.args).toContain("--rpc=$(POD_NAME)-1.ingle-hosts:50052");
    const keyFile = worker.args.find((arg) => arg.startsWith("--key-file=")) ?? "";
    const paired = start(["worker", "--pair", "--port=0", onThisMachine(keyFile)]);
    await printed(paired, /(ingle-worker-\S+)/);
    paired.process.kill("SIGTERM");

    const running = play(worker);
    const port = await printed(running, /--rpc \S+:(\d+)/);
    const pod = await startPod(values, (arg) => arg.replace(/^--rpc=.*/, `--rpc=127.0.0.1:${port}`));
    await expect.poll(() => probe(pod, "readinessProbe")).toBe(true);
    expect(await ask(pod, "/v1/chat/completions", { body: hello })).toMatchObject({ status: 200 });
    expect(running.output()).toContain("computes for");
  });
});
