// Pictures as the engine takes them: pixels, already decoded. Whoever has a file or a data URL decodes it before.
import { z } from "zod";

/** Longest side and most pixels of a picture; the native engine computes with no more. */
export const imageSideMax = 16_384;
export const imagePixelsMax = 2 ** 26;

/** Pictures in one conversation: each may become a dozen tiles, and the context has room for few. */
export const imagesMax = 64;

export const RgbImage = z
  .object({
    width: z.int().min(1).max(imageSideMax),
    height: z.int().min(1).max(imageSideMax),
    /** Rows from top to bottom, three bytes a pixel: red, green, blue. */
    data: z.custom<Uint8Array>((data) => data instanceof Uint8Array, "bytes"),
  })
  .refine(({ width, height }) => width * height <= imagePixelsMax, `at most ${imagePixelsMax} pixels`)
  .refine(({ width, height, data }) => data.length === width * height * 3, {
    message: "three bytes for each pixel",
    path: ["data"],
  })
  .meta({ id: "RgbImage" });
export type RgbImage = z.infer<typeof RgbImage>;
