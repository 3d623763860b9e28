// The public names of @ingle/gguf.
export type { GgufTensorHead } from "./encode-header.ts";
export { GgufError } from "./errors.ts";
export type { GgufErrorCode } from "./errors.ts";
export { aligned, getBoolean, getNumber, getNumbers, getString, getStrings, toDataView } from "./format.ts";
export type { GgufMetadata, GgufValue } from "./format.ts";
export { halfBits } from "./half.ts";
export { HEADER_BYTES_MAX, parseGguf, parsePartialGguf, readGguf, readGgufKeys } from "./header.ts";
export type { GgufHeader, ParseOptions, PartialGguf } from "./header.ts";
export { tensorTypes } from "./tensors.ts";
export type { GgufTensorInfo, TensorType } from "./tensors.ts";
export { GgufWriter, writeGguf } from "./writer.ts";
export type { GgufPieces, GgufTensorData } from "./writer.ts";
