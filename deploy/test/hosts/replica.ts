// `ingle serve` on one of the hosts of namespaces.ts, as a replica behind a proxy.
import { ingleProgram } from "../ingle-program.ts";
import type { HostClient } from "./client.ts";
import type { RunningProgram } from "@ingle/fixtures";
import type { Network, RunOptions } from "./namespaces.ts";

const replicaPort = 1337;
/** Metrics count the requests of all keys. */
const scraperKey = "the-scraper-of-this-test";
/** Time limit from the process's start to a loaded model, on a machine that is busy with the other replicas. */
const readyLimitMs = 60_000;
/** Time limit from the signal to the end, including the running replies of a tiny model. */
const stopLimitMs = 30_000;

interface ReplicaOptions extends Pick<RunOptions, "processorShare"> {
  network: Network;
  host: string;
  address: string;
  /** A separate folder for the server's files. */
  home: string;
  model: string;
  apiKey: string;
  flags: readonly string[];
}

/** One replica: a process that can be stopped and started again. */
export class Replica {
  readonly url: string;
  readonly #options: ReplicaOptions;
  #process: RunningProgram | undefined;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.url = `http://${options.address}:${replicaPort}`;
  }

  /** Resolves when the model is loaded and requests are served. */
  async start(): Promise<void> {
    const { network, host, model, home, apiKey, flags, processorShare } = this.#options;
    const isOther = (name: string): boolean => !/^(INGLE_|HF_|PORT$|HOST$|MODEL_NAME$)/.test(name);
    const env = {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => isOther(name))),
      INGLE_HOME: home,
      INGLE_API_KEYS: apiKey,
      INGLE_ADMIN_KEYS: scraperKey,
    };
    const place = `--host 0.0.0.0 --port ${replicaPort} --variant developer`.split(" ");
    const args = [
      ingleProgram,
      "serve",
      "--model",
      model,
      ...place,
      "--threads",
      "1",
      "--offline",
      "--no-ui",
      ...flags,
    ];
    this.#process = await network.run(host, process.execPath, args, {
      env,
      ...(processorShare === undefined ? {} : { processorShare }),
    });
    await this.#process.written("Ingle is ready.", readyLimitMs);
  }

  /** Sends SIGTERM and waits for the end. Resolves with the exit code. */
  async drain(): Promise<number | null> {
    return (await this.#process?.stop("SIGTERM", stopLimitMs)) ?? null;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.#process?.stop("SIGKILL", stopLimitMs);
  }

  /** The value of a metric without labels, or the sum of its lines that contain `having`. */
  async metric(client: HostClient, name: string, having = ""): Promise<number> {
    const headers = { authorization: `Bearer ${scraperKey}` };
    const { status, text } = await client.http({ url: `${this.url}/metrics`, headers });
    if (status !== 200) throw new Error(`/metrics of ${this.url} responded with ${status}: ${text}`);
    const lines = text
      .split("\n")
      .filter((line) => new RegExp(`^${name}[ {]`).test(line) && line.includes(having));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  }
}
