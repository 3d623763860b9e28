// Downloads or converts a located model, with progress on stderr. Silent when the model is already on disk.
import type {
  ConversionReport,
  ConversionStep,
  FetchOptions,
  LibraryProgress,
  LocatedModel,
} from "@ingle/engine";
import type { CommandContext } from "../context.ts";
import { formatBytes, formatColumns, formatDuration } from "../text.ts";
import { startProgress, type Progress } from "../progress.ts";

/** Returns the path of the file to load. Throws the engine's errors, or the signal's reason. */
export async function fetchWithBars(
  located: LocatedModel,
  context: CommandContext,
  options: { offline: boolean; signal: AbortSignal } & Pick<FetchOptions, "exact" | "adapter">,
): Promise<string> {
  const { fetchModel } = await context.engine();
  const { stderr, env, now } = context;
  const { signal, offline, exact, adapter } = options;
  const startedAt = now();
  let isFetching = false;
  const conversions: string[] = [];
  const fetch = async (): Promise<string> => {
    using bars = new PhaseBars(located.id, context);
    const onProgress = (progress: LibraryProgress): void => {
      const done = located.kind === "mlx" ? "converted" : "downloaded";
      if (!isFetching) stderr.write(`${modelTitle(located)} is not ${done} yet; this is done once.\n`);
      isFetching = true;
      bars.update(progress);
    };
    const onConverted = (report: ConversionReport): void => {
      conversions.push(conversionText(report));
    };
    return await fetchModel(located, {
      signal,
      env,
      isOffline: offline,
      exact,
      adapter,
      onProgress,
      onConverted,
    });
  };
  try {
    const file = await fetch();
    for (const text of conversions) stderr.write(text);
    if (isFetching) stderr.write(`Saved ${file} after ${formatDuration(now() - startedAt)}.\n`);
    return file;
  } catch (error) {
    if (isFetching && signal.aborted && located.kind !== "mlx") {
      stderr.write("The partial download is kept; the next start resumes it.\n");
    }
    throw error;
  }
}

function modelTitle(located: LocatedModel): string {
  if (located.kind === "hub") return `${located.id} (${formatBytes(located.found.group.sizeBytes)})`;
  if (located.kind === "mlx-hub") return `${located.id} (${formatBytes(located.found.sizeBytes)})`;
  if (located.kind === "file" || located.kind === "mlx" || located.kind === "adapter") return located.id;
  const { title, license } = located.model;
  return license === undefined ? title : `${title} (${license})`;
}

const phaseTitles: Record<LibraryProgress["phase"], string> = {
  waiting: "Waiting for another process that downloads",
  verify: "Verifying",
  download: "Downloading",
  unpack: "Unpacking",
  convert: "Converting",
};

/** One progress bar per phase, from the first progress on. */
export class PhaseBars implements Disposable {
  readonly #id: string;
  readonly #context: CommandContext;
  #current: { phase: LibraryProgress["phase"]; bar: Progress } | undefined;

  constructor(id: string, context: CommandContext) {
    this.#id = id;
    this.#context = context;
  }

  update({ phase, bytes, totalBytes }: LibraryProgress): void {
    if (this.#current?.phase !== phase) {
      this[Symbol.dispose]();
      this.#current = { phase, bar: startProgress(`${phaseTitles[phase]} ${this.#id}`, this.#context) };
    }
    const fraction = totalBytes > 0 ? bytes / totalBytes : 0;
    this.#current.bar.update(fraction, `${formatBytes(bytes)} of ${formatBytes(totalBytes)}`);
  }

  [Symbol.dispose](): void {
    this.#current?.bar[Symbol.dispose]();
    this.#current = undefined;
  }
}

/** Reports what a conversion did and how exact it is, one line for each pair of formats. */
export function conversionText(report: ConversionReport): string {
  const rows = report.steps.map((step): [string, string] => [
    `  ${step.from} → ${step.to}`,
    `${tensorCount(step)}, ${formatBytes(step.bytes)}, ${conversionLoss(step)}`,
  ]);
  const { length: unused } = report.unused;
  const left = unused === 0 ? "" : `  ${unused} tensors that the text model does not use were dropped.\n`;
  return `${formatColumns(rows)}${left}`;
}

function tensorCount({ tensors }: ConversionStep): string {
  return tensors === 1 ? "1 tensor" : `${tensors} tensors`;
}

function conversionLoss({ error }: ConversionStep): string {
  if (error.largest === 0) return "exact";
  const steps = error.inSteps.toPrecision(2);
  return `error ${steps} of the source's step (root mean square), at most ${error.largest.toPrecision(2)}`;
}
