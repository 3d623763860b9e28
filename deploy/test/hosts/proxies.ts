// nginx and HAProxy with the unchanged files of deploy/proxy, on a host of namespaces.ts. The files around them (nginx's main file, a
// certificate), which a real system provides, are written here.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { RunningProgram } from "@ingle/fixtures";
import type { Network, RunOptions } from "./namespaces.ts";

export type ProxyName = "nginx" | "haproxy";

/** The names and addresses in the files of deploy/proxy. */
export const publicName = "models.example";
export const replicaAddresses = ["10.77.0.11", "10.77.0.12", "10.77.0.13"] as const;
const httpsPort = 443;
/** A second port of nginx without session routing, for comparison. */
export const roundRobinPort = 8080;

const startLimitMs = 10_000;
/** How often to check whether a proxy is listening. */
const lookEveryMs = 20;

const folder = path.join(import.meta.dirname, "../../proxy");

export interface Certificate {
  /** PEM. */
  certificate: string;
  key: string;
}

/** A self-signed certificate for the public name. */
export async function makeCertificate(): Promise<Certificate> {
  const files = await mkdtemp(path.join(tmpdir(), "ingle-certificate-"));
  const [certificate, key] = [path.join(files, "certificate.pem"), path.join(files, "key.pem")];
  try {
    const command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(" ");
    const name = ["-subj", `/CN=${publicName}`, "-addext", `subjectAltName=DNS:${publicName}`];
    await promisify(execFile)("openssl", [...command, ...name, "-keyout", key, "-out", certificate]);
    return { certificate: await readFile(certificate, "utf8"), key: await readFile(key, "utf8") };
  } finally {
    await rm(files, { recursive: true });
  }
}

/** The files in /etc of a proxy's host. */
export async function proxyFiles(
  name: ProxyName,
  { certificate, key }: Certificate,
): Promise<Record<string, string>> {
  if (name === "haproxy") {
    return {
      "haproxy/haproxy.cfg": await readFile(path.join(folder, "haproxy.cfg"), "utf8"),
      "haproxy/ingle/ingle.pem": certificate + key,
    };
  }
  return {
    "nginx/nginx.conf": nginxMain,
    "nginx/conf.d/ingle.conf": await readFile(path.join(folder, "nginx.conf"), "utf8"),
    "nginx/ingle/certificate.pem": certificate,
    "nginx/ingle/key.pem": key,
  };
}

/** nginx's main file: in the foreground, the pid file beside the configuration, and the round-robin port for comparison. */
const nginxMain = `
user root;
pid /etc/nginx/nginx.pid;
worker_processes 2;
daemon off;
error_log stderr warn;
events { worker_connections 2048; }
http {
  access_log off;
  include /etc/nginx/conf.d/*.conf;
  upstream round_robin { zone round_robin 64k; ${replicaAddresses.map((address) => `server ${address}:1337;`).join(" ")} }
  server {
    listen ${roundRobinPort};
    location / {
      proxy_pass http://round_robin;
      proxy_http_version 1.1;
      proxy_buffering off;
      proxy_set_header Host ${publicName};
    }
  }
}
`;

/** Starts a proxy; resolves when it is listening. It ends with its network. */
export async function startProxy(
  network: Network,
  name: ProxyName,
  host: string,
  options: Pick<RunOptions, "processorShare"> = {},
): Promise<RunningProgram> {
  const args = { haproxy: ["-db", "-f", "/etc/haproxy/haproxy.cfg"], nginx: ["-c", "/etc/nginx/nginx.conf"] };
  const proxy = await network.run(host, name, args[name], options);
  const giveUpAt = Date.now() + startLimitMs;
  let hasEnded = false;
  void proxy.ended.then(() => {
    hasEnded = true;
  });
  while (!(await isListening(proxy.pid, httpsPort))) {
    if (hasEnded || Date.now() > giveUpAt) throw proxy.failure(hasEnded ? "ended" : "does not listen");
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return proxy;
}

/** Whether the port is open in the network namespace of the process. */
async function isListening(pid: number, port: number): Promise<boolean> {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((table) => readFile(`/proc/${pid}/net/${table}`, "utf8").catch(() => "")),
  );
  // Columns: number, local address and port, remote address and port, state (0A is listening).
  return tables.some((table) => new RegExp(`^ *\\d+: [0-9A-F]+:${hex} [0-9A-F:]+ 0A `, "m").test(table));
}
