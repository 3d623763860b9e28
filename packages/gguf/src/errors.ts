// The error class of this package.

/**
 * - `not_gguf`: the file has another format.
 * - `gguf_version`: the file has an unsupported version of the format.
 * - `gguf_truncated`: the file ends too early.
 * - `gguf_malformed`: the file contradicts the format or itself.
 * - `gguf_limit`: the file claims more than any real model has.
 * - `gguf_unwritable`: the given contents cannot be written, for example a value that does not fit its type.
 */
export type GgufErrorCode =
  | "not_gguf"
  | "gguf_version"
  | "gguf_truncated"
  | "gguf_malformed"
  | "gguf_limit"
  | "gguf_unwritable";

/** Every error of this package; `code` tells them apart. */
export class GgufError extends Error {
  override readonly name = "GgufError";
  readonly code: GgufErrorCode;

  constructor(code: GgufErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
