// The seam between the native engine and TypeScript, written by hand in seam. Only @ingle/engine imports it.
// Arguments are trusted: @ingle/engine has checked them. Errors have a `code`, and `details` with numbers or with the wrong
// option (`param`).
export type {
  NativeArgumentRule,
  NativeArgumentSkills,
  NativeAudio,
  NativeChat,
  NativeChatTemplate,
  NativeConstraint,
  NativeImage,
  NativeImageText,
  NativeImages,
  NativeMarkup,
  NativeMessage,
  NativePart,
  NativePreparation,
  NativePrompt,
  NativeReply,
  NativeReplyParser,
  NativeTemplateResult,
  NativeThoughtSyntax,
  NativeTool,
  NativeToolCall,
} from "./seam/chat.js";
export type {
  NativeContextOptions,
  NativeDraftOptions,
  NativeEngine,
  NativeEngineOptions,
  NativeEventPipe,
  NativeRequest,
  NativeSampling,
  NativeSlotChange,
  NativeSlotCommand,
  NativeSlotWork,
  NativeStats,
  NativeStepReport,
  NativeThoughtRules,
} from "./seam/engine.js";
export type {
  NativeBlockMedium,
  NativeBlocksEvent,
  NativeEmbeddingEvent,
  NativeErrorEvent,
  NativeEvent,
  NativeFinishEvent,
  NativeMemoryBytes,
  NativeMemoryLimits,
  NativePromptEvent,
  NativeStoredBlocks,
  NativeTextEvent,
  NativeTokenLogprob,
  NativeTokenLogprobs,
} from "./seam/events.js";
export type { NativeAdapter, NativeLoadOptions, NativePlacement, NativeProjector } from "./seam/load.js";
export type {
  AddonLoad,
  AddonModel,
  NativeLoad,
  NativeMeasure,
  NativeModel,
  NativeModelInfo,
  NativePieces,
} from "./seam/model.js";
export { loadModel, measureModel } from "./seam/model.js";
export type { BuildInfo, DeviceInfo, NativeErrorCode } from "./seam/process.js";
export {
  buildInfo,
  confineProcess,
  endWhenDeviceIsLost,
  keepMemoryTight,
  setLogSink,
} from "./seam/process.js";
export type { NativeImatrixOptions, NativeImatrixResult, NativeQuantizeOptions } from "./seam/quantize.js";
export { computeImatrix, planQuantization, quantizeModel } from "./seam/quantize.js";
export type { NativeConnectOptions, NativeServeOptions, NativeWorker } from "./seam/workers.js";
export { connectWorker, isWorkerLost, loseWorker, servePeer, workerDevices } from "./seam/workers.js";
