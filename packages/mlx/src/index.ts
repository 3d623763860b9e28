// The public names of @ingle/mlx.
export { MlxError } from "./errors.ts";
export type { MlxErrorCode } from "./errors.ts";
