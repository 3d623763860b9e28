// The public names of @ingle/gguf.
export { GgufError } from "./errors.ts";
export type { GgufErrorCode } from "./errors.ts";
export {
  aligned,
  ARRAY_CODE,
  bigintCodecs,
  boolCodec,
  GGUF_MAGIC,
  GGUF_VERSION,
  numberCodecs,
  STRING_CODE,
  TENSOR_DIMENSIONS_MAX,
  TENSOR_NAME_BYTES_MAX,
  viewOf,
} from "./format.ts";
export type { Codec, GgufBigintType, GgufMetadata, GgufNumberType, GgufValue } from "./format.ts";
export { HEADER_BYTES_MAX, parseGguf, parseGgufBeginning, readGguf } from "./header.ts";
export type { GgufBeginning, GgufHeader, ParseOptions } from "./header.ts";
export type { GgufTensorInfo } from "./tensors.ts";
