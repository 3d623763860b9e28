// A message of the user: attachments, text, and its actions.
import { useState } from "preact/hooks";

import type { Message, UserMessage } from "../chats/conversation.ts";
import { Button, IconButton } from "../design/button.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { Form, TextArea } from "../design/field.tsx";
import { attempt } from "../design/toast.tsx";
import { editMessage } from "../replies/request-replies.ts";
import { appText } from "../strings/app.ts";
import { chatText } from "../strings/chat.ts";
import { SentAttachments } from "./attachments.tsx";
import { MessageMenu, SiblingSwitch } from "./message-actions.tsx";

interface UserMessageProps {
  message: UserMessage;
  siblings: readonly Message[];
}

export function UserMessageView({ message, siblings }: UserMessageProps) {
  const [isEditing, setEditing] = useState(false);
  return (
    <article class="message user" aria-label={chatText.you}>
      <SentAttachments attachments={message.attachments} />
      {isEditing ? (
        <EditForm message={message} onEnd={() => setEditing(false)} />
      ) : (
        message.text !== "" && <div class="bubble">{message.text}</div>
      )}
      <div class="message-actions">
        <SiblingSwitch message={message} siblings={siblings} />
        <CopyButton text={() => message.text} label={chatText.copy} />
        <IconButton
          icon="edit"
          size="small"
          label={chatText.edit}
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
  const submit = async () => {
    onEnd();
    await attempt(() => editMessage(message, draft));
  };
  return (
    <Form class="stack edit-form" onSubmit={submit}>
      <TextArea
        aria-label={chatText.editLabel}
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
          {chatText.saveAndAsk}
        </Button>
        <Button kind="quiet" size="small" onClick={onEnd}>
          {appText.cancel}
        </Button>
      </div>
    </Form>
  );
}
