// What was attached to a message that was sent: images as pictures, texts by their names.
import { useEffect, useState } from "preact/hooks";

import { chatStorage } from "../chats/chat-store.ts";
import type { Attachment } from "../chats/conversation.ts";
import { Dialog } from "../design/dialog.tsx";
import { Icon } from "../design/icon.tsx";
import { bytesText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";

export function KeptAttachments({ attachments }: { attachments: readonly Attachment[] }) {
  if (attachments.length === 0) return null;
  return (
    <ul class="attachments">
      {attachments.map((attachment) => (
        <li key={attachment.id}>
          {attachment.kind === "image" ? (
            <KeptImage attachment={attachment} />
          ) : (
            <TextChip attachment={attachment} />
          )}
        </li>
      ))}
    </ul>
  );
}

function TextChip({ attachment }: { attachment: Attachment }) {
  return (
    <span class="file-chip" title={attachment.name}>
      <Icon name="file" size={18} />
      <span class="row-title">{attachment.name}</span>
      <span class="soft small">{bytesText(attachment.bytes)}</span>
    </span>
  );
}

function KeptImage({ attachment }: { attachment: Attachment }) {
  const url = useKeptImage(attachment.id);
  const [isLarge, setLarge] = useState(false);
  const { name } = attachment;
  if (url === null) return <TextChip attachment={attachment} />;
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

/** An address of the image for as long as it is shown; null while it is read, and when it is gone. */
function useKeptImage(id: string): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    let made: string | null = null;
    let isOver = false;
    const read = async () => {
      const data = await (await chatStorage()).file(id);
      if (isOver || data === undefined) return;
      made = URL.createObjectURL(data);
      setUrl(made);
    };
    void read();
    return () => {
      isOver = true;
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [id]);
  return url;
}
