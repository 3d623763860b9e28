// A message of the user: attachments, text, and its actions.
import { useState } from "preact/hooks";

import type { Message, UserMessage } from "../chats/conversation.ts";
import { Button, IconButton } from "../design/button.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { TextArea } from "../design/field.tsx";
import { showError } from "../design/toast.tsx";
import { editMessage } from "../replies/ask.ts";
import { strings } from "../strings/strings.ts";
import { SentAttachments } from "./attachments.tsx";
import { MessageMenu, SiblingSwitch } from "./message-actions.tsx";

interface UserMessageProps {
  message: UserMessage;
  siblings: readonly Message[];
}

export function UserMessageView({ message, siblings }: UserMessageProps) {
  const [isEditing, setEditing] = useState(false);
  const text = strings.value.chat;
  return (
    <article class="message user" aria-label={text.you}>
      <SentAttachments attachments={message.attachments} />
      {isEditing ? (
        <EditForm message={message} onEnd={() => setEditing(false)} />
      ) : (
        message.text !== "" && <div class="bubble">{message.text}</div>
      )}
      <div class="message-actions">
        <SiblingSwitch message={message} siblings={siblings} />
        <CopyButton text={() => message.text} label={text.copy} />
        <IconButton
          icon="edit"
          size="small"
          label={text.edit}
          data-action="edit"
          disabled={isEditing}
          onClick={() => setEditing(true)}
        />
        <MessageMenu message={message} />
      </div>
    </article>
  );
}

function EditForm({ message, onEnd }: { message: UserMessage; onEnd: () => void }) {
  const [draft, setDraft] = useState(message.text);
  const text = strings.value.chat;
  const submit = async () => {
    onEnd();
    try {
      await editMessage(message, draft);
    } catch (error) {
      showError(error);
    }
  };
  return (
    <form
      class="edit-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextArea
        aria-label={text.editLabel}
        value={draft}
        onValue={setDraft}
        autofocus
        onKeyDown={(event) => {
          if (event.key === "Escape") onEnd();
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit();
        }}
      />
      <div class="row">
        <Button kind="primary" size="small" type="submit" disabled={draft.trim() === ""}>
          {text.saveAndAsk}
        </Button>
        <Button kind="quiet" size="small" onClick={onEnd}>
          {strings.value.app.cancel}
        </Button>
      </div>
    </form>
  );
}
