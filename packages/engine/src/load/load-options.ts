// The options of load() and their rules.
import { z } from "zod";
import { deviceBounds, deviceChoices } from "../machine/device-bounds.ts";
import { ThreadCount } from "../machine/threads.ts";
import { parallelDefault } from "../base/context-size.ts";
import { invalidRequest, EngineError } from "../base/errors.ts";
import { invalidOption } from "../base/issue-message.ts";
import { AdapterLayers, AdapterOptions } from "../generate/adapter-options.ts";
import { RpcOptions } from "../native/workers/worker-pool.ts";
import { chatTemplateOptions } from "./chat-template.ts";
import { deviceOptions } from "./device-options.ts";
import { KvBits } from "./kv-cache.ts";
import { findInstalled } from "../library/installed.ts";
import type { LibraryOptions } from "../library/library-options.ts";
import { findLocalPath } from "../library/locate.ts";

/** The maximum number of sequences in one context: llama.cpp's own limit. */
export const parallelMax = 256;
export const LoadOptions = z
  .object({
    /** The maximum number of tokens of one request, prompt and reply together. Default: the length the model was trained for, at most 8,192. */
    contextLength: z.int().min(16).optional(),
    /**
     * KV cells: the tokens that all requests together may hold. Default: `contextLength` for each parallel request, at most 32,768;
     * with `kvUnified: false`, without that limit and with a quarter more.
     */
    cells: z.int().min(16).optional(),
    /** The maximum number of requests that are computed at the same time. Default 8. */
    parallel: z.int().min(1).max(parallelMax).default(parallelDefault),
    /** Threads for computation. Default: one per performance core of this machine, within the quota of its container. */
    threads: ThreadCount.optional(),
    /**
     * Bits per value of the KV cache: with fewer, more tokens fit into the same memory, but results are less exact. Default 16.
     */
    kvBits: KvBits.optional(),
    /** Bits for keys only and for values only. Default: `kvBits`. */
    kvBitsK: KvBits.optional(),
    kvBitsV: KvBits.optional(),
    /** ggml types by name (`buildInfo().kvTypes`) for keys and for values; they take precedence over the bits. */
    kvTypeK: z.string().optional(),
    kvTypeV: z.string().optional(),
    /** Flash attention needs less memory and is nearly always faster; `auto` lets the backend choose. */
    flashAttention: z.enum(deviceChoices.flashAttention).default("auto"),
    /**
     * Whether all requests share one pool of KV cells. False gives each `contextLength` cells of its own: a GPU then computes many
     * requests without reading the cells of the others, but copies shared prefixes, and the host KV tier is not used. `cells` must hold
     * one context more than `parallel`; not for models with recurrent state or over workers. Default: true, unless GPUs compute all
     * layers and `cells` hold that many contexts.
     */
    kvUnified: z.boolean().optional(),
    /**
     * The maximum number of tokens in one step of the engine. Default: 512; where GPUs compute everything, 1,024 with 12 GiB of their
     * memory and 2,048 with 40 GiB.
     */
    batchTokens: z.int().min(deviceBounds.batchTokens.min).max(deviceBounds.batchTokens.max).optional(),
    /**
     * The step budget: the maximum number of prompt tokens that a step computes beside decoding sequences. A small budget keeps running
     * replies smooth; a large one computes prompts faster. Default: the engine measures its steps and adapts the budget.
     */
    batchTokensBusy: z.int().min(1).max(16_384).optional(),
    /** The maximum length of the waiting queue; a further request fails with `overloaded`. Default 256. */
    waitingMax: z.int().min(0).max(100_000).default(256),
    /**
     * What happens when a chat is too long for the context. `length`: the reply ends, and a prompt that is too long fails with
     * `context_length_exceeded`. `shift`: the system message stays, the oldest turns are dropped, and the reply continues.
     * Default `length`.
     */
    contextOverflow: z.enum(["length", "shift"]).default("length"),
    /**
     * Drafts several tokens and verifies them in one step, where that is faster. The distribution of generated texts stays the same.
     * `ngram` drafts from the preceding text and from earlier replies. Requests with `cachePrompt: false` neither draft from earlier
     * replies nor are drafted from. Some recurrent models do not support it (`info.rollsBack`). `mtp` drafts with the layers for
     * multi-token prediction that some files have (`info.mtpLayers`). Default: `mtp` for a file with such layers, otherwise `off`;
     * recurrent models use them by default only if rolling back their state takes little memory.
     */
    speculation: z.enum(["off", "ngram", "mtp"]).optional(),
    /**
     * The size in MiB of the host KV tier, which holds the state of conversations that were evicted from the context: when they
     * continue, the state is copied back instead of being computed again. 0 disables it. Default: an eighth of the machine's memory,
     * at most 2,048.
     */
    cacheRamMiB: z.int().min(0).max(1_048_576).optional(),
    /**
     * A folder that keeps the host KV tier across restarts: it is written when the model is freed and read when the model is loaded.
     * Its files contain conversations, so only their owner can read them. Default: nothing is kept.
     */
    cacheDir: z.string().min(1).optional(),
    /**
     * A folder for the files of `model.slots.save()` and `restore()`, which is created. They contain conversations, so only their owner
     * can read them. Default: there are no such files.
     */
    slotDir: z.string().min(1).optional(),
    /**
     * The GGUF file of a draft model, or the name of an installed one. Either a smaller model with the same vocabulary, which drafts
     * while a single reply is running: it pays if the model needs far longer per token. Or a speculator that was trained for this
     * model (EAGLE-3, DFlash, DSpark): its layers read the model's hidden states and draft for all replies together. Cannot be
     * combined with `ngram` or `mtp`.
     */
    draftModel: z.string().min(1).optional(),
    /**
     * The maximum number of tokens that the draft model drafts in one step. Default 4, or the size of the blocks that a DFlash or DSpark
     * speculator drafts.
     */
    draftTokens: z.int().min(1).max(16).optional(),
    /**
     * The GGUF file of the model's projector, which lets it read images; null for none. Default: for a model given by name, the
     * projector that was installed with it.
     */
    mmproj: z.string().min(1).nullable().optional(),
    /**
     * LoRA adapters and control vectors that requests may use by their names (`adapters` of a request): at most 32, each of a rank of
     * at most 1,024. They take memory beside the weights. Requests with different adapters are computed in different steps, which take turns.
     * Cannot be combined with `rpc`. Default: none.
     */
    adapters: AdapterOptions.default([]),
    /** The layers that control vectors change. Default: those that their files name. */
    controlVectorLayers: AdapterLayers.optional(),
    /**
     * The minimum and maximum number of tokens of an image, for models with a variable number: more tokens show finer details, fewer
     * are faster. Default: the values in the projector's file.
     */
    imageMinTokens: z.int().min(1).max(16_384).optional(),
    imageMaxTokens: z.int().min(1).max(16_384).optional(),
    /**
     * Enables reports of the KV cache's reusable blocks (`model.followKvBlocks()`). The salt is part of every block's hash: use the
     * model's name, so that equal tokens of two models are different blocks. Default: no reports, at no cost.
     */
    kvBlockSalt: z.string().min(1).optional(),
    /**
     * Machines that run `ingle worker`: each holds as many layers of the model as fit into its memory; this machine's GPUs come after
     * them. Default: none.
     */
    rpc: RpcOptions.optional(),
    /**
     * Where the engine computes: in this process, or in one of its own. A process of its own costs a little time and memory, but a
     * crash ends only the model's running generations: those that have produced nothing yet start again, the others fail with
     * `engine_crashed`. Cannot be combined with `rpc`. Default `in-process`.
     */
    engine: z.enum(["process", "in-process"]).default("in-process"),
    /**
     * The milliseconds that one step of an engine in a process of its own may take: a process that makes no step for longer counts as
     * hung, and is ended like one that crashed. Default 10 minutes.
     */
    stepTimeoutMs: z.int().min(100).max(86_400_000).default(600_000),
    ...chatTemplateOptions,
    /** `off`: the model does not reason in chats that do not say whether it may (`thinking`). Default `auto`: it reasons if it can, as with `on`. */
    reasoning: z.enum(["on", "off", "auto"]).default("auto"),
    /**
     * Whether special tokens that are spelled in a message, such as `<|im_end|>`, become these tokens. By default only those that the chat
     * template writes itself do, and a text that somebody types, pastes or fetches is always text. Prompts without a template are not
     * concerned. Default false.
     */
    specialTokensInContent: z.boolean().default(false),
    ...deviceOptions,
  })
  .meta({ id: "LoadOptions" });
export type LoadOptions = z.input<typeof LoadOptions> & {
  signal?: AbortSignal | undefined;
  /** Called while the weights are read, with the fraction that was read, 0 … 1. */
  onProgress?: ((fraction: number) => void) | undefined;
};

/** Validated options with their defaults. */
export type CheckedLoadOptions = z.output<typeof LoadOptions>;

/** Validates options. Throws `invalid_request` with the name of the invalid option. */
export function checkLoadOptions(options: z.input<typeof LoadOptions>): CheckedLoadOptions {
  const result = LoadOptions.safeParse(options);
  if (!result.success) throw invalidOption(result.error, result.error.issues[0]);
  if (result.data.engine === "process" && result.data.rpc !== undefined)
    throw invalidRequest("engine", "models over workers (rpc) run in this process: use in-process.");
  return result.data;
}

/** The options with the path of their draft model, if there is one. Throws `model_not_found` for a name that is not installed. */
export async function withDraftFile<Options extends { draftModel?: string | undefined }>(
  options: Options,
  library: LibraryOptions = {},
): Promise<Options> {
  const { draftModel } = options;
  if (draftModel === undefined) return options;
  const file = await findLocalPath(draftModel);
  if (file !== undefined) return { ...options, draftModel: file };
  const installed = await findInstalled(draftModel, library);
  if (installed !== undefined) return { ...options, draftModel: installed.path };
  throw new EngineError(
    "model_not_found",
    `draftModel: there is no file ${draftModel}, and no such model is installed. Install it with \`ingle pull ${draftModel}\`, ` +
      "or give the path of a GGUF file.",
    { details: { param: "draftModel" } },
  );
}
