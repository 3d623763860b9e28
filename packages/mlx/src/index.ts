// The public names of @ingle/mlx.
export { isAdapterFolder, isMlxFolder, isModelFile, readFolderContents } from "./folder-contents.ts";
export type { FolderContents } from "./folder-contents.ts";
export { checkSettings } from "./convert-folder.ts";
export { MlxError } from "./errors.ts";
export type { MlxErrorCode } from "./errors.ts";
export { convertAdapterFolder, convertMlxFolder, digestFolder } from "./in-worker.ts";
export type { WorkerOptions } from "./in-worker.ts";
export type { StoredType } from "./storage.ts";
export type { ConversionReport, ConversionStep } from "./write-model.ts";
