// Metrics of the process under the usual names, and the lag of its event loop, which delays tokens between the engine
// and the socket. prom-client's own collectors cannot be stopped and read /proc synchronously at each scrape.
import { readdir } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, type Registry } from "prom-client";

/** How often the event loop's lag is measured: fine enough for a stutter, and an idle process wakes rarely. */
const resolutionMs = 50;
const nanosecondsPerMs = 1e6;

/** Measures until it is disposed. */
export function addProcessMetrics(register: Registry): Disposable {
  register.registerMetric(
    new Counter({
      name: "process_cpu_seconds_total",
      help: "CPU time of this process, the engine's threads included.",
      registers: [],
      collect() {
        const { user, system } = process.cpuUsage();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    }),
  );
  const gauge = (name: string, help: string, value: () => number | Promise<number>): void => {
    register.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        async collect() {
          this.set(await value());
        },
      }),
    );
  };
  const startedAt = Date.now() / 1000 - process.uptime();
  gauge("process_start_time_seconds", "Unix time of the start.", () => startedAt);
  gauge("process_resident_memory_bytes", "Memory in RAM, mapped weights included.", () =>
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
  register.registerMetric(
    new Gauge({
      name: "ingle_event_loop_lag_seconds",
      help: "How late the event loop ran since the last scrape.",
      labelNames: ["stat"],
      registers: [],
      collect() {
        this.set({ stat: "mean" }, toSeconds(delay.mean));
        this.set({ stat: "p99" }, toSeconds(delay.percentile(99)));
        this.set({ stat: "max" }, toSeconds(delay.max));
        delay.reset();
      },
    }),
  );
  return { [Symbol.dispose]: () => void delay.disable() };
}
