// A message of the user: attachments, text, and its actions.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Message, UserMessage } from "../conversations/conversation.ts";
import { Button, IconButton } from "../design/button.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { Form, TextArea } from "../design/field.tsx";
import { attempt } from "../design/toast.tsx";
import { editMessage } from "../replies/request-replies.ts";
import { appText } from "../strings/app.ts";
import { chatText } from "../strings/chat.ts";
import { SentAttachments } from "./attachments.tsx";
import { FoundPassagesView } from "./found-passages.tsx";
import { MessageMenu, SiblingSwitch } from "./message-actions.tsx";
import { isSendKey } from "./composer.tsx";

interface UserMessageProps {
  message: UserMessage;
  siblings: readonly Message[];
}

export function UserMessageView({ message, siblings }: UserMessageProps) {
  const [isEditing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const cancel = () => {
    setEditing(false);
    edit.current?.focus();
  };
  const save = async (text: string) => {
    setEditing(false);
    document.querySelector<HTMLElement>("#composer-text")?.focus();
    await attempt(() => editMessage(message, text));
  };
  return (
    <article class="message user" aria-label={chatText.you}>
      <SentAttachments attachments={message.attachments} />
      {isEditing ? (
        <EditForm
          key="edit"
          text={message.text}
          label={chatText.editLabel}
          action={chatText.saveAndAsk}
          onCancel={cancel}
          onSave={(text) => void save(text)}
        />
      ) : (
        message.text !== "" && (
          <div key="text" class="bubble">
            {message.text}
          </div>
        )
      )}
      {message.found !== undefined && <FoundPassagesView key="found" found={message.found} />}
      {/* With keys, its buttons stay the same elements, so that one of them keeps the focus. */}
      <div key="actions" class="message-actions">
        <SiblingSwitch message={message} siblings={siblings} />
        <CopyButton text={() => message.text} label={chatText.copy} />
        <IconButton
          button={edit}
          icon="edit"
          size="small"
          label={chatText.edit}
          data-action="edit"
          aria-pressed={isEditing}
          onClick={() => setEditing(true)}
        />
        <MessageMenu message={message} />
      </div>
    </article>
  );
}

interface EditFormProps {
  text: string;
  /** The accessible name of the box. */
  label: string;
  /** The text of the button that saves. */
  action: string;
  onCancel: () => void;
  onSave: (text: string) => void;
}

/** A box with the text of a message. Enter saves as it sends in the composer; Escape cancels. */
export function EditForm({ text, label, action, onCancel, onSave }: EditFormProps) {
  const [draft, setDraft] = useState(text);
  const form = useRef<HTMLDivElement>(null);
  const isEmpty = draft.trim() === "";
  useLayoutEffect(() => {
    const box = form.current?.querySelector("textarea");
    box?.focus();
    box?.setSelectionRange(box.value.length, box.value.length);
  }, []);
  const save = () => {
    if (!isEmpty) onSave(draft);
  };
  return (
    <Form class="stack edit-form" onSubmit={save}>
      <div ref={form}>
        <TextArea
          aria-label={label}
          value={draft}
          onValue={setDraft}
          onKeyDown={(event) => {
            if (event.key === "Escape") onCancel();
            else if (isSendKey(event)) save();
            else return;
            // Escape would also stop a reply.
            event.preventDefault();
          }}
        />
      </div>
      <div class="row">
        <Button kind="primary" size="small" type="submit" disabled={isEmpty}>
          {action}
        </Button>
        <Button kind="quiet" size="small" onClick={onCancel}>
          {appText.cancel}
        </Button>
      </div>
    </Form>
  );
}
