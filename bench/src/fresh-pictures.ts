// Pictures that nobody has seen before, all from one seed: discs of random places and colours under the grain of a camera,
// so that their files are as large as those of photographs. Used by the scenario `vision`.
import { encodeJpeg, encodePng, type DrawnImage } from "@ingle/fixtures";
import type { Prompts } from "./prompts.ts";

export interface PictureSize {
  format: "jpeg" | "png";
  width: number;
  height: number;
}

const discs = 12;
/** How far grain moves a colour, of 255. */
const grain = 24;

type Fractions = Pick<Prompts, "fraction">;

/** A `data:` URL of one more picture; prompts of equal seeds draw equal ones in the same order. */
export async function freshPicture(
  prompts: Fractions,
  { format, width, height }: PictureSize,
): Promise<string> {
  const picture = draw(prompts, width, height);
  const bytes = format === "jpeg" ? await encodeJpeg(picture) : await encodePng(picture);
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
