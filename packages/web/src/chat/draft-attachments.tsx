// What is attached to the message that is being written: previews with what they cost, and a way to take them off.
import { useEffect, useState } from "preact/hooks";

import type { Attachment } from "../chats/conversation.ts";
import { client } from "../connection/client.ts";
import { modelOf } from "../connection/connection.ts";
import { IconButton } from "../design/button.tsx";
import { Icon } from "../design/icon.tsx";
import { bytesText, countText } from "../format/in-language.ts";
import { fileText } from "../replies/chat-request.ts";
import { strings } from "../strings/strings.ts";
import { currentChoice } from "./current-chat.ts";
import { changeDraft, draftOf } from "./drafts.ts";

export function DraftAttachments({ id }: { id: string }) {
  const { attachments, images } = draftOf(id);
  if (attachments.length === 0) return null;
  const removeOne = (gone: Attachment) => {
    const left = new Map(images);
    left.delete(gone.id);
    changeDraft(id, { attachments: attachments.filter((each) => each.id !== gone.id), images: left });
  };
  return (
    <ul class="attachments">
      {attachments.map((attachment) => (
        <li key={attachment.id} class="draft-attachment">
          {attachment.kind === "image" ? (
            <ImagePreview blob={images.get(attachment.id)} name={attachment.name} />
          ) : (
            <TextPreview attachment={attachment} />
          )}
          <IconButton
            icon="close"
            size="small"
            kind="plain"
            label={strings.value.chat.removeAttachment(attachment.name)}
            onClick={() => removeOne(attachment)}
          />
        </li>
      ))}
    </ul>
  );
}

function ImagePreview({ blob, name }: { blob: Blob | undefined; name: string }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (blob === undefined) return undefined;
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url === null ? null : (
    <span class="image-chip">
      <img src={url} alt={name} />
    </span>
  );
}

function TextPreview({ attachment }: { attachment: Extract<Attachment, { kind: "text" }> }) {
  const tokens = useTokens(attachment);
  return (
    <span class="file-chip" title={attachment.name}>
      <Icon name="file" size={18} />
      <span class="row-title">{attachment.name}</span>
      <span class="soft small figures">
        {tokens === null
          ? bytesText(attachment.bytes)
          : strings.value.chat.attachmentTokens(countText(tokens))}
      </span>
    </span>
  );
}

/** What the text costs the first of the models; null while that is not known, and while the model is not in memory. */
function useTokens({ name, text }: Extract<Attachment, { kind: "text" }>): number | null {
  const [tokens, setTokens] = useState<number | null>(null);
  const [model] = currentChoice.value.models;
  const isLoaded = model !== undefined && modelOf(model)?.status === "loaded";
  useEffect(() => {
    setTokens(null);
    // Counting would load it, which the person has not asked for.
    if (model === undefined || !isLoaded) return undefined;
    const stop = new AbortController();
    const count = async () => {
      try {
        const body = { model, content: fileText(name, text), add_special: false };
        setTokens((await client.tokenize(body, { signal: stop.signal })).count);
      } catch {
        // Its size stands there instead.
        if (!stop.signal.aborted) setTokens(null);
      }
    };
    void count();
    return () => stop.abort();
  }, [model, isLoaded, text]);
  return tokens;
}
