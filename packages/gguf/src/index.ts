// The public names of @ingle/gguf.
export type { GgufTensorHead } from "./encode-header.ts";
export { GgufError } from "./errors.ts";
export type { GgufErrorCode } from "./errors.ts";
export { aligned, viewOf } from "./format.ts";
export type { GgufMetadata, GgufValue } from "./format.ts";
export { halfBits } from "./half.ts";
export { HEADER_BYTES_MAX, parseGguf, parseGgufBeginning, readGguf, readGgufKeys } from "./header.ts";
export type { GgufBeginning, GgufHeader, ParseOptions } from "./header.ts";
export type { GgufTensorInfo } from "./tensors.ts";
export { tensorTypes } from "./tensor-types.ts";
export type { TensorType } from "./tensor-types.ts";
export { GgufWriter, writeGguf } from "./writer.ts";
export type { GgufPieces, GgufTensorData } from "./writer.ts";
