// Where a message is written: text, files, and the button that sends it or stops the answer.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { go, linkTo } from "../app/router.ts";
import { acceptedFiles } from "../attachments/read-file.ts";
import { openPath } from "../chats/chat-store.ts";
import { link } from "../connection/connection.ts";
import { Button, IconButton } from "../design/button.tsx";
import { showError } from "../design/toast.tsx";
import { sendMessage, stopReplies } from "../replies/ask.ts";
import { liveReplies } from "../replies/live-replies.ts";
import { strings } from "../strings/strings.ts";
import { addFiles } from "./add-files.ts";
import { ContextMeter } from "./context-meter.tsx";
import { canSee, currentChoice, currentConversation, keepModels } from "./current-chat.ts";
import { DraftAttachments } from "./draft-attachments.tsx";
import { changeDraft, clearDraft, draftOf } from "./drafts.ts";
import { EffortSelect } from "./effort-select.tsx";

import "./composer.css";

/** On a touch screen, Enter is for lines: its keyboards have no Shift at hand. */
const hasKeyboard = matchMedia("(pointer: fine)");

/** Whether an answer of the open path is written by this page. */
function isWriting(): boolean {
  return openPath.value.some(({ id }) => liveReplies.value.has(id)) || roundIsWriting();
}

/** Answers side by side are not all on the path. */
function roundIsWriting(): boolean {
  const last = openPath.value.at(-1);
  return last?.role === "assistant" && writingOf(last.conversationId).length > 0;
}

function writingOf(conversationId: string): { id: string }[] {
  return [...liveReplies.value].flatMap(([id, reply]) =>
    reply.conversationId === conversationId ? [{ id }] : [],
  );
}

/** Sends the draft of the open chat; the new conversation's address is its own then. */
export async function sendDraft(): Promise<void> {
  const id = currentConversation.value?.id ?? "";
  const draft = draftOf(id);
  if (!canSend()) return;
  clearDraft(id);
  try {
    await keepModels();
    const conversation = await sendMessage({ ...draft, text: draft.text.trim() });
    if (id === "") go(linkTo("chat", conversation.id));
  } catch (error) {
    changeDraft(id, draft);
    showError(error);
  }
}

/** Ends the answers of the open chat. */
export function stopWriting(): void {
  const id = currentConversation.value?.id;
  if (id !== undefined) stopReplies(writingOf(id));
}

function canSend(): boolean {
  const { text, attachments } = draftOf(currentConversation.value?.id ?? "");
  const isEmpty = text.trim() === "" && attachments.length === 0;
  return (
    !isEmpty && !isBlind() && currentChoice.value.models.length > 0 && link.value === "open" && !isWriting()
  );
}

/** Images are attached, and a model was chosen since that cannot see them. */
function isBlind(): boolean {
  const { attachments } = draftOf(currentConversation.value?.id ?? "");
  return attachments.some(({ kind }) => kind === "image") && !canSee.value;
}

export function Composer() {
  const text = strings.value.chat;
  const id = currentConversation.value?.id ?? "";
  const file = useRef<HTMLInputElement>(null);
  const draft = draftOf(id);
  return (
    <form
      class="composer"
      aria-label={text.composer}
      onSubmit={(event) => {
        event.preventDefault();
        void sendDraft();
      }}
    >
      <DraftAttachments id={id} />
      {isBlind() && <p class="composer-note">{text.cannotSee(currentChoice.value.models.join(", "))}</p>}
      {currentChoice.value.models.length === 0 && draft.text !== "" && (
        <p class="composer-note">{text.noneChosen}</p>
      )}
      <ComposerText id={id} />
      <div class="composer-row">
        <IconButton icon="clip" label={text.attach} onClick={() => file.current?.click()} />
        <input
          ref={file}
          type="file"
          hidden
          multiple
          accept={acceptedFiles}
          aria-label={text.attach}
          onChange={(event) => {
            void addFiles(id, [...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
        <EffortSelect />
        <span class="composer-space" />
        <ContextMeter />
        <SendButton />
      </div>
    </form>
  );
}

function SendButton() {
  const text = strings.value.chat;
  if (isWriting()) {
    return (
      <Button icon="stop" onClick={stopWriting}>
        {text.stop}
      </Button>
    );
  }
  return (
    <Button kind="primary" icon="send" type="submit" disabled={!canSend()}>
      {text.send}
    </Button>
  );
}

function ComposerText({ id }: { id: string }) {
  const text = strings.value.chat;
  const box = useRef<HTMLTextAreaElement>(null);
  const draft = draftOf(id).text;
  useLayoutEffect(() => fitHeight(box.current), [draft]);
  useEffect(() => {
    if (hasKeyboard.matches) box.current?.focus();
  }, [id]);
  return (
    <textarea
      ref={box}
      id="composer-text"
      class="composer-text"
      rows={1}
      aria-label={text.composer}
      placeholder={text.placeholder}
      value={draft}
      onInput={(event) => changeDraft(id, { text: event.currentTarget.value })}
      onKeyDown={(event) => {
        // While an input method composes a character, Enter belongs to it.
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        if (!hasKeyboard.matches && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        void sendDraft();
      }}
      onPaste={(event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        void addFiles(id, files);
      }}
    />
  );
}

/** As high as its text; the style sheet has the limit. */
function fitHeight(box: HTMLTextAreaElement | null): void {
  if (box === null) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
