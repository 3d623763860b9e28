// The attachments of a message: of the draft, with their token counts and buttons to remove them, and of a message that was sent.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { chatStorage } from "../conversations/chat-store.ts";
import type { Attachment, TextAttachment } from "../conversations/conversation.ts";
import { IconButton } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Icon } from "../design/icon.tsx";
import { useLoaded } from "../design/use-loaded.ts";
import { bytesText, countText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { passageBytesMax } from "../retrieval/split-text.ts";
import { chatText } from "../strings/chat.ts";
import { documentsText } from "../strings/documents.ts";
import { changeDraft, readDraft } from "./drafts.ts";
import { useTokenCount } from "./token-counts.ts";

export function DraftAttachments({ id }: { id: string }) {
  const { attachments, images } = readDraft(id);
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
            <DraftText
              attachment={attachment}
              onSearch={(isSearched) =>
                changeDraft(id, {
                  attachments: attachments.map((each) =>
                    each === attachment ? { ...attachment, isSearched } : each,
                  ),
                })
              }
            />
          )}
          <IconButton
            icon="close"
            size="small"
            kind="plain"
            label={chatText.removeAttachment(attachment.name)}
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

interface FileChipProps {
  attachment: Attachment;
  /** A button. */
  action?: ComponentChildren;
  children?: ComponentChildren;
}

function FileChip({ attachment, action, children }: FileChipProps) {
  return (
    <span class="file-chip" title={attachment.name}>
      <Icon name="file" size={18} />
      <span class="row-title">{attachment.name}</span>
      <span class="soft small figures">{children ?? bytesText(attachment.bytes)}</span>
      {action}
    </span>
  );
}

interface DraftTextProps {
  attachment: TextAttachment;
  onSearch: (isSearched: boolean) => void;
}

function DraftText({ attachment, onSearch }: DraftTextProps) {
  const tokens = useTokenCount(attachment);
  const { name, text, isSearched = false } = attachment;
  return (
    <FileChip
      attachment={attachment}
      action={
        // A shorter text is one passage.
        text.length > passageBytesMax && (
          <IconButton
            icon="search"
            size="small"
            label={documentsText.toggle(name)}
            aria-pressed={isSearched}
            onClick={() => onSearch(!isSearched)}
          />
        )
      }
    >
      {tokens === undefined ? undefined : appText.tokens(countText(tokens))}
    </FileChip>
  );
}

function DraftImage({ attachment, blob }: { attachment: Attachment; blob: Blob | undefined }) {
  const url = useObjectUrl(attachment.id, async () => blob);
  return url === undefined ? null : (
    <span class="image-chip">
      <img src={url} alt={attachment.name} />
    </span>
  );
}

function SentImage({ attachment }: { attachment: Attachment }) {
  const { id, name } = attachment;
  const url = useObjectUrl(id, async () => (await chatStorage()).file(id));
  const [isLarge, setLarge] = useState(false);
  if (url === undefined) return <FileChip attachment={attachment} />;
  return (
    <>
      <button
        type="button"
        class="image-chip"
        aria-label={chatText.openImage(name)}
        onClick={() => setLarge(true)}
      >
        <img src={url} alt="" />
      </button>
      {isLarge && (
        <Dialog title={name} size="wide" onClose={() => setLarge(false)}>
          <img class="large-image" src={url} alt={name} />
        </Dialog>
      )}
    </>
  );
}

/** An object URL of an image, revoked with the component; undefined while the image is read, and if it no longer exists. */
function useObjectUrl(id: string, read: () => Promise<Blob | undefined>): string | undefined {
  const data = useLoaded(read, [id]);
  const url = useMemo(() => (data === undefined ? undefined : URL.createObjectURL(data)), [data]);
  useEffect(() => () => url !== undefined && URL.revokeObjectURL(url), [url]);
  return url;
}
