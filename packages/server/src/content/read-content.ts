// Reads the images, documents and audios of a request, so that its messages are the engine's.
import type { ContentPart, Message, Model } from "@ingle/engine";
import { audioFiles } from "./audio-files.ts";
import { documentTexts } from "./document-texts.ts";
import type { ImageReading } from "./image-files.ts";
import { readImages } from "./read-images.ts";
import type { UnreadMessage, UnreadPart } from "./content-parts.ts";

/** Throws what `readImages`, `documentTexts` and `audioFiles` throw; each error names the field of what is wrong. */
export async function readParts<Request extends { messages: readonly UnreadMessage[] }>(
  request: Request,
  model: Pick<Model, "info">,
  reading: ImageReading,
): Promise<Omit<Request, "messages"> & { messages: Message[] }> {
  const { messages: given, ...rest } = request;
  if (given.every(isText)) return { ...rest, messages: [...given] };
  const messages = withoutUnreadableResults(given, model, reading);
  const parts = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const audios = audioFiles(
    parts.filter((part) => part.type === "audio"),
    model,
  );
  const images = await readImages(
    parts.filter((part) => part.type === "image"),
    model,
    reading,
  );
  const texts = await documentTexts(
    parts.filter((part) => part.type === "document"),
    reading.signal,
  );
  const toEngineContent = ({ content }: UnreadMessage): Message["content"] => {
    if (typeof content === "string") return content;
    return content.flatMap((part): ContentPart[] => {
      if (part.type === "text") return [part];
      if (part.type === "document") return [{ type: "text", text: texts.get(part) ?? "" }];
      if (part.type === "audio") {
        const audio = audios.get(part);
        return audio === undefined ? [] : [{ type: "audio", audio }];
      }
      const image = images.get(part);
      return image === undefined ? [] : [{ type: "image", image }];
    });
  };
  return {
    ...rest,
    messages: messages.map((message) => ({ ...message, content: toEngineContent(message) })),
  };
}

function isText(message: UnreadMessage): message is UnreadMessage & { content: string } {
  return typeof message.content === "string";
}

/**
 * Images and audios in tools' results that the model does not read become a note. An error would end an agent's conversation, which
 * has such a result in every later request, and neither the agent nor its user wrote it.
 */
function withoutUnreadableResults(
  messages: readonly UnreadMessage[],
  { info }: Pick<Model, "info">,
  { ignore }: ImageReading,
): readonly UnreadMessage[] {
  const noted = (part: UnreadPart): UnreadPart => {
    const isUnread =
      (part.type === "image" && !info.readsImages) || (part.type === "audio" && !info.readsAudio);
    if (!isUnread) return part;
    ignore([part.place]);
    return { type: "text", text: omitted[part.type] };
  };
  return messages.map((message) =>
    message.role === "tool" && typeof message.content !== "string"
      ? { ...message, content: message.content.map(noted) }
      : message,
  );
}

const omitted = {
  image: "[An image is left out here: this model reads only text.]",
  audio: "[An audio is left out here: this model takes no audio.]",
};
