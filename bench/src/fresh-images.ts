// New images from a seed: discs at random positions in random colours with camera grain, so that their files are as large as
// those of photographs.
import { encodeJpeg, encodePng, type DrawnImage } from "@ingle/fixtures";
import type { Prompts } from "./prompts.ts";

export interface ImageSize {
  format: "jpeg" | "png";
  width: number;
  height: number;
}

const discs = 12;
/** Maximum change of a colour by grain, of 255. */
const grain = 24;

type Fractions = Pick<Prompts, "fraction">;

/** The `data:` URL of the next image; equal seeds draw the same images in the same order. */
export async function freshImage(prompts: Fractions, { format, width, height }: ImageSize): Promise<string> {
  const image = draw(prompts, width, height);
  const bytes = format === "jpeg" ? await encodeJpeg(image) : await encodePng(image);
  return `data:image/${format};base64,${bytes.toString("base64")}`;
}

function draw(prompts: Fractions, width: number, height: number): DrawnImage {
  const colour = (): number[] =>
    Array.from({ length: 3 }, () => grain + prompts.fraction() * (255 - 2 * grain));
  const radiusMax = Math.min(width, height) / 3;
  const shapes = Array.from({ length: discs }, () => ({
    x: prompts.fraction() * width,
    y: prompts.fraction() * height,
    radius: prompts.fraction() * radiusMax,
    colour: colour(),
  }));
  const ground = colour();
  const data = new Uint8Array(3 * width * height);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const disc = shapes.find((shape) => (x - shape.x) ** 2 + (y - shape.y) ** 2 < shape.radius ** 2);
    const moved = (2 * prompts.fraction() - 1) * grain;
    for (const [channel, value] of (disc?.colour ?? ground).entries())
      data[3 * pixel + channel] = value + moved;
  }
  return { width, height, data };
}
