// Measures the tasks on the main thread of a page in processor time, which other work on the machine does not change.
import type { Page } from "playwright-core";

export interface MainThreadTask {
  /** Processor time in milliseconds. */
  cpuMs: number;
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Thread time in microseconds. */
  tdur?: number;
  args?: { name?: string };
}

/** The tasks of the page's main thread while `work` runs. */
export async function tasksDuring(page: Page, work: () => Promise<void>): Promise<MainThreadTask[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("The page has no browser of its own.");
  await browser.startTracing(page, { categories: ["toplevel"] });
  await work();
  const trace: { traceEvents: TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString());
  return tasksOf(trace.traceEvents);
}

function tasksOf(events: readonly TraceEvent[]): MainThreadTask[] {
  const threads = events.filter(
    ({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain",
  );
  const ofThreads = threads.map(({ pid, tid }) =>
    events.filter(
      (event) => event.pid === pid && event.tid === tid && event.name === "ThreadControllerImpl::RunTask",
    ),
  );
  // The browser keeps a spare renderer that does nothing.
  const busiest = ofThreads.toSorted((a, b) => b.length - a.length)[0] ?? [];
  return busiest.flatMap(({ tdur }) => (tdur === undefined ? [] : [{ cpuMs: tdur / 1_000 }]));
}
