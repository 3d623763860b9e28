// The attachments of a message: of the draft, with their token counts and buttons to remove them, and of a message that was sent.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { chatStorage } from "../chats/chat-store.ts";
import type { Attachment } from "../chats/conversation.ts";
import { client } from "../connection/client.ts";
import { modelOf } from "../connection/connection.ts";
import { IconButton } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Icon } from "../design/icon.tsx";
import { bytesText, countText } from "../format/in-language.ts";
import { fileText } from "../replies/chat-request.ts";
import { strings } from "../strings/strings.ts";
import { currentChoice } from "./current-chat.ts";
import { changeDraft, draftOf } from "./drafts.ts";

type TextAttachment = Extract<Attachment, { kind: "text" }>;

export function DraftAttachments({ id }: { id: string }) {
  const { attachments, images } = draftOf(id);
  if (attachments.length === 0) return null;
  const remove = (removed: Attachment) => {
    const left = new Map(images);
    left.delete(removed.id);
    changeDraft(id, { attachments: attachments.filter((each) => each.id !== removed.id), images: left });
  };
  return (
    <ul class="attachments">
      {attachments.map((attachment) => (
        <li key={attachment.id} class="draft-attachment">
          {attachment.kind === "image" ? (
            <DraftImage attachment={attachment} blob={images.get(attachment.id)} />
          ) : (
            <DraftText attachment={attachment} />
          )}
          <IconButton
            icon="close"
            size="small"
            kind="plain"
            label={strings.value.chat.removeAttachment(attachment.name)}
            onClick={() => remove(attachment)}
          />
        </li>
      ))}
    </ul>
  );
}

export function SentAttachments({ attachments }: { attachments: readonly Attachment[] }) {
  if (attachments.length === 0) return null;
  return (
    <ul class="attachments">
      {attachments.map((attachment) => (
        <li key={attachment.id}>
          {attachment.kind === "image" ? (
            <SentImage attachment={attachment} />
          ) : (
            <FileChip attachment={attachment} />
          )}
        </li>
      ))}
    </ul>
  );
}

function FileChip({ attachment, children }: { attachment: Attachment; children?: ComponentChildren }) {
  return (
    <span class="file-chip" title={attachment.name}>
      <Icon name="file" size={18} />
      <span class="row-title">{attachment.name}</span>
      <span class="soft small figures">{children ?? bytesText(attachment.bytes)}</span>
    </span>
  );
}

function DraftText({ attachment }: { attachment: TextAttachment }) {
  const tokens = useTokenCount(attachment);
  return (
    <FileChip attachment={attachment}>
      {tokens === null ? undefined : strings.value.chat.attachmentTokens(countText(tokens))}
    </FileChip>
  );
}

function DraftImage({ attachment, blob }: { attachment: Attachment; blob: Blob | undefined }) {
  const url = useObjectUrl(attachment.id, async () => blob);
  return url === null ? null : (
    <span class="image-chip">
      <img src={url} alt={attachment.name} />
    </span>
  );
}

function SentImage({ attachment }: { attachment: Attachment }) {
  const { id, name } = attachment;
  const url = useObjectUrl(id, async () => (await chatStorage()).file(id));
  const [isLarge, setLarge] = useState(false);
  if (url === null) return <FileChip attachment={attachment} />;
  return (
    <>
      <button
        type="button"
        class="image-chip"
        aria-label={strings.value.chat.openImage(name)}
        onClick={() => setLarge(true)}
      >
        <img src={url} alt="" />
      </button>
      <Dialog title={name} size="wide" isOpen={isLarge} onClose={() => setLarge(false)}>
        <img class="large-image" src={url} alt={name} />
      </Dialog>
    </>
  );
}

/** An object URL of an image, revoked with the component; null while the image is read, and if it no longer exists. */
function useObjectUrl(id: string, read: () => Promise<Blob | undefined>): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    let made: string | null = null;
    let isOver = false;
    const make = async () => {
      const data = await read();
      if (isOver || data === undefined) return;
      made = URL.createObjectURL(data);
      setUrl(made);
    };
    void make();
    return () => {
      isOver = true;
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [id]);
  return url;
}

/** The text's length in tokens of the first chosen model; null while it is counted, and if the model is not loaded. */
function useTokenCount({ name, text }: TextAttachment): number | null {
  const [tokens, setTokens] = useState<number | null>(null);
  const [model] = currentChoice.value.models;
  const isLoaded = model !== undefined && modelOf(model)?.status === "loaded";
  useEffect(() => {
    setTokens(null);
    // Counting would load the model, which the user has not asked for.
    if (model === undefined || !isLoaded) return undefined;
    const stop = new AbortController();
    const count = async () => {
      try {
        const body = { model, content: fileText(name, text), add_special: false };
        setTokens((await client.tokenize(body, { signal: stop.signal })).count);
      } catch {
        // The chip shows the size in bytes instead.
        if (!stop.signal.aborted) setTokens(null);
      }
    };
    void count();
    return () => stop.abort();
  }, [model, isLoaded, text]);
  return tokens;
}
