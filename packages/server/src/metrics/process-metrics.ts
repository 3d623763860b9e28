// Metrics of the process under the usual names, and the lag of its event loop, which delays tokens between the engine
// and the socket. prom-client's own collectors cannot be stopped and read /proc synchronously at each scrape.
import { readdir } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Registry } from "prom-client";
import { addCollected } from "./collected.ts";

/** How often the event loop's lag is measured: fine enough for a stutter, and an idle process wakes rarely. */
const resolutionMs = 50;
const nanosecondsPerMs = 1e6;

/** Measures until it is disposed. */
export function addProcessMetrics(register: Registry): Disposable {
  const startedAt = Date.now() / 1000 - process.uptime();
  const gauge = (name: string, help: string, values: () => number | Promise<number>): void =>
    addCollected(register, { name, help, values });
  addCollected(register, {
    kind: "counter",
    name: "process_cpu_seconds_total",
    help: "CPU time of this process, including the engine's threads.",
    values: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  });
  gauge("process_start_time_seconds", "Unix time of the start.", () => startedAt);
  gauge("process_resident_memory_bytes", "Memory in RAM, including mapped weights.", () =>
    process.memoryUsage.rss(),
  );
  gauge("nodejs_heap_size_used_bytes", "JavaScript's heap in use.", () => process.memoryUsage().heapUsed);
  gauge("nodejs_external_memory_bytes", "Buffers beside the heap.", () => process.memoryUsage().external);
  if (process.platform === "linux")
    gauge("process_open_fds", "Open files and sockets.", async () => (await readdir("/proc/self/fd")).length);
  return addEventLoopLag(register);
}

function addEventLoopLag(register: Registry): Disposable {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  // The histogram holds whole intervals: what is longer than the resolution is the lag.
  const toSeconds = (nanoseconds: number): number =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / nanosecondsPerMs - resolutionMs) / 1000 : 0;
  addCollected(register, {
    name: "ingle_event_loop_lag_seconds",
    help: "How late the event loop ran since the last scrape.",
    labelNames: ["stat"],
    values: () => {
      const { mean, max } = delay;
      const p99 = delay.percentile(99);
      delay.reset();
      return Object.entries({ mean, p99, max }).map(([stat, lag]) => [{ stat }, toSeconds(lag)]);
    },
  });
  return { [Symbol.dispose]: () => void delay.disable() };
}
