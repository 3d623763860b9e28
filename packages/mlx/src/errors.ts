// The error class of this package.

export const mlxErrorCodes = [
  "mlx_missing",
  "mlx_truncated",
  "mlx_malformed",
  "mlx_limit",
  "mlx_unsupported",
  "mlx_mismatch",
] as const;

/**
 * - `mlx_missing`: the folder lacks a file or a tensor.
 * - `mlx_truncated`: a file ends too early.
 * - `mlx_malformed`: the folder contradicts the format or itself.
 * - `mlx_limit`: the folder claims more than any real model has.
 * - `mlx_unsupported`: the model, or the way it is stored, cannot be converted.
 * - `mlx_mismatch`: an adapter is for another model.
 */
export type MlxErrorCode = (typeof mlxErrorCodes)[number];

/** Every error of this package; `code` tells them apart. */
export class MlxError extends Error {
  override readonly name = "MlxError";
  readonly code: MlxErrorCode;

  constructor(code: MlxErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
  }
}
