// Brings a located model to disk and shows how far it is on stderr. Silent when the model is there. Used by serve, run and
// chat before they load it, by pull, and of the bars alone by import.
import type { ConversionReport, LibraryProgress, LocatedModel } from "@ingle/engine";
import type { CommandContext } from "../context.ts";
import { conversionText } from "./conversion-text.ts";
import { formatBytes } from "../../format-bytes.ts";
import { formatDuration } from "../text.ts";
import { startProgress, type Progress } from "../progress.ts";

/** Returns the path of the file to load. Throws the engine's errors, or the signal's reason. */
export async function fetchWithBars(
  located: LocatedModel,
  context: CommandContext,
  options: { offline: boolean; exact?: boolean | undefined; signal: AbortSignal },
): Promise<string> {
  const { fetchModel } = await context.engine();
  const { stderr, env, now } = context;
  const { signal, offline, exact } = options;
  const startedAt = now();
  let isFetching = false;
  const conversions: string[] = [];
  const fetch = async (): Promise<string> => {
    using bars = new PhaseBars(located.id, context);
    const onProgress = (news: LibraryProgress): void => {
      const what = located.kind === "mlx" ? "Converting" : "Fetching";
      if (!isFetching) stderr.write(`${what} ${titleOf(located)}; this happens once.\n`);
      isFetching = true;
      bars.update(news);
    };
    const onConverted = (report: ConversionReport): void => {
      conversions.push(conversionText(report));
    };
    return await fetchModel(located, { signal, env, isOffline: offline, exact, onProgress, onConverted });
  };
  try {
    const file = await fetch();
    for (const text of conversions) stderr.write(text);
    if (isFetching) stderr.write(`Saved ${file} after ${formatDuration(now() - startedAt)}.\n`);
    return file;
  } catch (error) {
    if (isFetching && signal.aborted && located.kind !== "mlx") {
      stderr.write("What was downloaded so far is kept; the next start goes on from there.\n");
    }
    throw error;
  }
}

function titleOf(located: LocatedModel): string {
  if (located.kind === "hub") return `${located.id} (${formatBytes(located.found.group.sizeBytes)})`;
  if (located.kind === "mlx-hub") return `${located.id} (${formatBytes(located.found.sizeBytes)})`;
  if (located.kind === "file" || located.kind === "mlx") return located.id;
  const { title, license } = located.model;
  return license === undefined ? title : `${title} (${license})`;
}

const phaseTitles: Record<LibraryProgress["phase"], string> = {
  waiting: "Waiting for another process that works on",
  verify: "Checking what is there of",
  download: "Downloading",
  unpack: "Unpacking",
  convert: "Converting",
};

/** One bar after the other, a phase each; none before the first news. */
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
