// The one error class of this package.

/**
 * What is wrong with a file: `not_gguf` is another kind of file, `gguf_version` another version, `gguf_truncated` ends too
 * early, `gguf_malformed` contradicts the format or itself, `gguf_limit` claims more than any real model has.
 * `gguf_unwritable`: a file cannot be written as asked, as with a value that does not fit its type.
 */
export type GgufErrorCode =
  | "not_gguf"
  | "gguf_version"
  | "gguf_truncated"
  | "gguf_malformed"
  | "gguf_limit"
  | "gguf_unwritable";

/** An error of this package; tell them apart by `code`. */
export class GgufError extends Error {
  override readonly name = "GgufError";
  readonly code: GgufErrorCode;

  constructor(code: GgufErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
