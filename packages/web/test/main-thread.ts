// Measures the tasks on the main thread of a page in processor time, which other work on the machine does not change.
// Left out is what only a page that is watched does. At the end of a response, Chromium's network inspector, which Playwright
// always enables, decodes its whole body (about 100 ms for a streamed reply of 7 MB; 0.2 ms where nothing watches). And the
// inspector's commands run on that thread too: Playwright's own script is compiled there (330 KB, 16 ms on an idle machine), and
// looking for an element by its role reads all elements (28 ms beside a long reply).
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
  /** The beginning, and how long it took, in microseconds. */
  ts: number;
  dur?: number;
  /** Thread time in microseconds. */
  tdur?: number;
  args?: { name?: string; chrome_mojo_event_info?: { mojo_interface_tag?: string } };
}

const taskName = "ThreadControllerImpl::RunTask";
const inspectedName = "ResponseBodyLoader::DidFinishLoadingBody";
const inspectorTag = "blink.mojom.DevToolsSession";

/** The tasks of the page's main thread while `work` runs. */
export async function tasksDuring(page: Page, work: () => Promise<void>): Promise<MainThreadTask[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("The page has no browser of its own.");
  await browser.startTracing(page, { categories: ["toplevel", "blink"] });
  await work();
  const trace: { traceEvents: TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString());
  return readTasks(trace.traceEvents);
}

function readTasks(events: readonly TraceEvent[]): MainThreadTask[] {
  const threads = events.filter(
    ({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain",
  );
  const ofThreads = threads.map(({ pid, tid }) =>
    events.filter(
      (event) =>
        event.pid === pid && event.tid === tid && (event.name === taskName || belongsToInspector(event)),
    ),
  );
  // The browser keeps a spare renderer that does nothing.
  const busiest = ofThreads.toSorted((a, b) => b.length - a.length)[0] ?? [];
  const inspected = busiest.filter(belongsToInspector);
  return busiest
    .filter(({ name }) => name === taskName)
    .flatMap((task) =>
      task.tdur === undefined ? [] : [{ cpuMs: (task.tdur - spentIn(task, inspected)) / 1_000 }],
    );
}

function belongsToInspector({ name, args }: TraceEvent): boolean {
  return name === inspectedName || args?.chrome_mojo_event_info?.mojo_interface_tag === inspectorTag;
}

/** Processor time of the events within a task, in microseconds. */
function spentIn(task: TraceEvent, events: readonly TraceEvent[]): number {
  const end = task.ts + (task.dur ?? 0);
  const within = events.filter(({ ts }) => ts >= task.ts && ts < end);
  return within.reduce((sum, { tdur = 0 }) => sum + tdur, 0);
}
