// The engine's form of an image: decoded pixels.
import { z } from "zod";

/** The native engine's limits of an image's longer side and of its pixels. */
export const imageSideMax = 16_384;
export const imagePixelsMax = 2 ** 26;

/** Images in one conversation: each may become a dozen tiles, and few of these fit into the context. */
export const imagesMax = 64;

export const RgbImage = z
  .object({
    width: z.int().min(1).max(imageSideMax),
    height: z.int().min(1).max(imageSideMax),
    /** Rows from top to bottom, three bytes per pixel: red, green, blue. */
    data: z.custom<Uint8Array>((data) => data instanceof Uint8Array, "bytes"),
  })
  .refine(({ width, height }) => width * height <= imagePixelsMax, `at most ${imagePixelsMax} pixels`)
  .refine(({ width, height, data }) => data.length === width * height * 3, {
    message: "three bytes for each pixel",
    path: ["data"],
  })
  .meta({ id: "RgbImage" });
export type RgbImage = z.infer<typeof RgbImage>;
