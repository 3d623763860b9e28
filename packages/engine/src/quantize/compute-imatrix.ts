// Makes the importance matrix of a model: what each column of its matrices is multiplied by while it reads a text. Used to
// quantize it where few bits are left for each weight.
import { EngineError } from "../errors.ts";
import { checkThreads } from "../threads.ts";
import { openModelFiles } from "./model-files.ts";
import { runTask } from "./native-process.ts";
import { chooseOutput, writeWhole, type OutputOptions } from "./output-file.ts";

export interface ImatrixProgress {
  /** Chunks of the text that are computed, of how many. */
  chunks: number;
  totalChunks: number;
}

export interface ImatrixOptions extends OutputOptions {
  /** Tokens of one chunk: they are read together, and nothing before them. Default 512, or all the model can. */
  contextLength?: number | undefined;
  /** Most chunks to read. Default: as many whole ones as the text has. */
  chunks?: number | undefined;
  /** What the file says that the text was. Default: nothing. */
  dataset?: string | undefined;
  /** Layers on the GPU, where there is one. Default: all. */
  gpuLayers?: number | undefined;
  /** Default: one for each core. */
  threads?: number | undefined;
  onProgress?: ((progress: ImatrixProgress) => void) | undefined;
}

export interface ComputedImatrix {
  path: string;
  /** Chunks that were read, and tokens in each. */
  chunks: number;
  contextLength: number;
  /** Matrices of which the file tells. */
  matrices: number;
}

const contextLengthDefault = 512;
/** Products of fewer vectors are not looked at. */
const contextLengthMin = 16;

/**
 * Runs `model` (a path, or any name that `locateModel` knows) over `text`, and writes what `quantizeModel` and llama.cpp's
 * own tools take as an importance matrix. An abort ends the work at once and leaves nothing behind.
 *
 * Throws `invalid_request` (a text shorter than a chunk, options, an output that is taken), `model_invalid`,
 * `model_unsupported`, `generation_not_supported`, `out_of_memory`, `disk_full`, `engine_failed`, what `locateModel` and
 * `fetchModel` throw, or the signal's reason.
 */
export async function computeImatrix(
  model: string,
  text: string,
  options: ImatrixOptions = {},
): Promise<ComputedImatrix> {
  const { signal, onProgress, chunks = 0, dataset = "", gpuLayers = -1 } = options;
  signal?.throwIfAborted();
  const threads = checkThreads(options.threads);
  const { files, stem, facts } = await openModelFiles(model, options);
  const contextLength = chunkLength(options.contextLength, facts.contextLength);
  const output = await chooseOutput(files, `${stem}.imatrix.gguf`, options);
  const native = {
    model: { path: files[0], gpuLayers, mmap: true, mlock: false, projector: null },
    text,
    dataset,
    chunkTokens: contextLength,
    chunksMax: chunks,
    threads,
  };
  const onNews = ({ done, total }: { done: number; total: number }): void =>
    onProgress?.({ chunks: done, totalChunks: total });
  const result = await writeWhole(
    output,
    async (unfinished) =>
      await runTask("imatrix", { ...native, output: unfinished }, { file: files[0], signal, onNews }),
    options,
  );
  return { path: output, contextLength, ...result };
}

function chunkLength(wanted: number | undefined, trainedFor: number | undefined): number {
  const max = trainedFor ?? contextLengthDefault;
  if (wanted === undefined) return Math.min(contextLengthDefault, max);
  if (Number.isInteger(wanted) && wanted >= contextLengthMin && wanted <= max) return wanted;
  throw new EngineError(
    "invalid_request",
    `contextLength: ${wanted} is not from ${contextLengthMin} to the ${max} tokens that this model was trained for.`,
    { details: { param: "contextLength" } },
  );
}
