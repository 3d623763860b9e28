// Computes the importance matrix of a model: the activations that each column of its matrices is multiplied by while the model
// reads a text. Quantizations with few bits per weight need it.
import { invalidRequest } from "../base/errors.ts";
import { checkThreads } from "../native/default-threads.ts";
import { openModelFiles } from "./model-files.ts";
import { runTask } from "./native-process.ts";
import { chooseOutput, writeAtomically, type OutputOptions } from "./output-file.ts";

export interface ImatrixProgress {
  /** Computed chunks of the text. */
  chunks: number;
  totalChunks: number;
}

export interface ImatrixOptions extends OutputOptions {
  /** Tokens of one chunk; chunks are computed independently. Default 512, or the model's limit. */
  contextLength?: number | undefined;
  /** Maximum number of chunks to read. Default: all complete ones of the text. */
  chunks?: number | undefined;
  /** The name of the text, stored in the file. Default: none. */
  dataset?: string | undefined;
  /** Layers on the GPU, if there is one. Default: all. */
  gpuLayers?: number | undefined;
  /** Default: one per performance core. */
  threads?: number | undefined;
  onProgress?: ((progress: ImatrixProgress) => void) | undefined;
}

export interface ComputedImatrix {
  path: string;
  /** Number of chunks, and tokens of each. */
  chunks: number;
  contextLength: number;
  /** Number of matrices in the file. */
  matrices: number;
}

const contextLengthDefault = 512;
/** llama.cpp ignores products of fewer vectors. */
const contextLengthMin = 16;

/**
 * Runs `model` (a path, or any name for `locateModel`) over `text`, and writes an importance matrix for `quantizeModel` and
 * llama.cpp's own tools. An abort ends the work at once and leaves nothing behind.
 *
 * Throws `invalid_request` (a text shorter than a chunk, invalid options, an output that exists), `model_invalid`,
 * `model_unsupported`, `generation_not_supported`, `out_of_memory`, `disk_full`, `engine_failed`, as `locateModel` and
 * `fetchModel`, or the signal's reason.
 */
export async function computeImatrix(
  model: string,
  text: string,
  options: ImatrixOptions = {},
): Promise<ComputedImatrix> {
  const { signal, onProgress, chunks = 0, dataset = "", gpuLayers = -1 } = options;
  signal?.throwIfAborted();
  const threads = await checkThreads(options.threads);
  const { files, stem, facts } = await openModelFiles(model, options);
  const contextLength = chunkLength(options.contextLength, facts.contextLength);
  const output = await chooseOutput(files, `${stem}.imatrix.gguf`, options);
  const native = {
    model: {
      path: files[0],
      gpuLayers,
      mmap: true,
      mlock: false,
      mtp: false,
      placement: null,
      projector: null,
      adapters: [],
      chatTemplate: "",
      workers: [],
    },
    text,
    dataset,
    chunkTokens: contextLength,
    chunksMax: chunks,
    threads,
  };
  const onTaskProgress = ({ done, total }: { done: number; total: number }): void =>
    onProgress?.({ chunks: done, totalChunks: total });
  const result = await writeAtomically(
    output,
    async (unfinished) =>
      await runTask(
        "imatrix",
        { ...native, output: unfinished },
        { file: files[0], signal, onProgress: onTaskProgress },
      ),
    options,
  );
  return { path: output, contextLength, ...result };
}

function chunkLength(wanted: number | undefined, trainedFor: number | undefined): number {
  const max = trainedFor ?? contextLengthDefault;
  if (wanted === undefined) return Math.min(contextLengthDefault, max);
  if (Number.isInteger(wanted) && wanted >= contextLengthMin && wanted <= max) return wanted;
  throw invalidRequest(
    "contextLength",
    `${wanted} must be from ${contextLengthMin} to ${max}, the training context of this model.`,
  );
}
