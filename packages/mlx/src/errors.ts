// The one error class of this package.

export const mlxErrorCodes = [
  "mlx_missing",
  "mlx_truncated",
  "mlx_malformed",
  "mlx_limit",
  "mlx_unsupported",
] as const;

/**
 * What is wrong with a folder: `mlx_missing` lacks a file or a tensor, `mlx_truncated` has a file that ends too early,
 * `mlx_malformed` contradicts the format or itself, `mlx_limit` claims more than any real model has, `mlx_unsupported` is a
 * model or a way of storing it that cannot be converted.
 */
export type MlxErrorCode = (typeof mlxErrorCodes)[number];

/** An error of this package; tell them apart by `code`. */
export class MlxError extends Error {
  override readonly name = "MlxError";
  readonly code: MlxErrorCode;

  constructor(code: MlxErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
  }
}
