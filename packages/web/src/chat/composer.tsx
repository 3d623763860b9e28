// The composer: text, attachments, thinking effort, context use, and the button that sends the message or stops the reply.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { navigate, linkTo } from "../router.ts";
import { acceptedFiles } from "../attachments/read-file.ts";
import { openPath } from "../conversations/chat-store.ts";
import { link, findModel } from "../connection/connection.ts";
import { Button, IconButton } from "../design/button.tsx";
import { FileInput, Form, Select } from "../design/field.tsx";
import { Gauge } from "../design/indicators.tsx";
import { attempt } from "../design/toast.tsx";
import { countText, shareText } from "../format/localized.ts";
import { sendMessage, stopReplies } from "../replies/request-replies.ts";
import { liveReplies, type LiveReply } from "../conversations/live-replies.ts";
import { schemaProblem, stopProblem } from "../conversations/settings-fields.ts";
import { appText } from "../strings/app.ts";
import { chatText } from "../strings/chat.ts";
import { samplingText } from "../strings/sampling.ts";
import { toolsText } from "../strings/tools.ts";
import { offeredTools, hasToolServers, isReady, refreshToolServers } from "../replies/tool-servers.ts";
import { toolsAreOpen } from "./tools-dialog.tsx";
import { DraftAttachments } from "./attachments.tsx";
import {
  canThink,
  changeSettings,
  currentChoice,
  currentConversation,
  readsImages,
  saveChosenModels,
} from "../conversations/current-chat.ts";
import { DocumentsNote } from "./documents-note.tsx";
import { attachFiles, changeDraft, clearDraft, readDraft } from "./drafts.ts";
import { usedTokens } from "./token-counts.ts";
import "./composer.css";

/** Whether this page is writing a reply on the open path, or one beside its end. */
function isWriting(): boolean {
  const last = openPath.value.at(-1);
  return (
    openPath.value.some(({ id }) => liveReplies.value.has(id)) ||
    (last?.role === "assistant" && findLiveReplies(last.conversationId).length > 0)
  );
}

function findLiveReplies(id: string): LiveReply[] {
  return [...liveReplies.value.values()].filter(({ conversationId }) => conversationId === id);
}

/** Sends the draft of the open chat. A new conversation gets its own URL. */
async function sendDraft(): Promise<void> {
  const id = currentConversation.value?.id ?? "";
  const draft = readDraft(id);
  if (!canSend()) return;
  clearDraft(id);
  const isSent = await attempt(async () => {
    await saveChosenModels();
    const conversation = await sendMessage({
      text: draft.text.trim(),
      attachments: draft.attachments,
      files: draft.images,
    });
    if (id === "") navigate(linkTo("chat", conversation.id));
  });
  if (!isSent) changeDraft(id, draft);
}

/** Stops all replies of the open chat. */
export function stopWriting(): void {
  const id = currentConversation.value?.id;
  if (id !== undefined) stopReplies(findLiveReplies(id));
}

function canSend(): boolean {
  const { text, attachments } = readDraft(currentConversation.value?.id ?? "");
  const isEmpty = text.trim() === "" && attachments.length === 0;
  return (
    !isEmpty &&
    !hasUnreadableImages() &&
    currentChoice.value.models.length > 0 &&
    !isFormWrong() &&
    link.value === "open" &&
    !isWriting()
  );
}

/** Whether images are attached that a model chosen since then cannot read. */
function hasUnreadableImages(): boolean {
  const { attachments } = readDraft(currentConversation.value?.id ?? "");
  return attachments.some(({ kind }) => kind === "image") && !readsImages.value;
}

/** Whether the server would refuse the settings of the answer's form. */
function isFormWrong(): boolean {
  const { stop, jsonSchema } = currentChoice.value.settings;
  return stopProblem(stop) !== null || schemaProblem(jsonSchema) !== null;
}

export function Composer() {
  const id = currentConversation.value?.id ?? "";
  const file = useRef<HTMLInputElement>(null);
  const draft = readDraft(id);
  return (
    <Form class="stack composer" aria-label={chatText.composer} onSubmit={sendDraft}>
      <DraftAttachments id={id} />
      {hasUnreadableImages() && (
        <p class="composer-note">{chatText.cannotReadImages(currentChoice.value.models.join(", "))}</p>
      )}
      {currentChoice.value.models.length === 0 && draft.text !== "" && (
        <p class="composer-note">{chatText.noneChosen}</p>
      )}
      {isFormWrong() && <p class="composer-note">{samplingText.formWrong}</p>}
      <DocumentsNote id={id} />
      <ToolsNote />
      <ComposerText id={id} />
      <div class="composer-row">
        <IconButton icon="clip" label={chatText.attach} onClick={() => file.current?.click()} />
        <FileInput
          input={file}
          label={chatText.attach}
          accept={acceptedFiles}
          multiple
          onFiles={(files) => void attachFiles(id, files)}
        />
        {hasToolServers.value && <ToolsButton />}
        <EffortSelect />
        <span class="composer-space" />
        <ContextMeter />
        <SendButton />
      </div>
    </Form>
  );
}

/** Opens the dialog of tools; its label counts those that the next reply may call. */
function ToolsButton() {
  useEffect(() => void attempt(refreshToolServers), []);
  const count = offeredTools(currentChoice.value.toolServers ?? []).tools.length;
  return (
    <span class={count > 0 ? "tools-on" : ""}>
      <IconButton icon="tools" label={toolsText.open(count)} onClick={() => (toolsAreOpen.value = true)} />
    </span>
  );
}

/** Names servers of this chat that do not run, for example because the app was restarted: they start only in the dialog. */
function ToolsNote() {
  const names = (currentChoice.value.toolServers ?? []).filter((name) => !isReady(name));
  if (!hasToolServers.value || names.length === 0) return null;
  return <p class="composer-note">{toolsText.notRunning(names.join(", "))}</p>;
}

function SendButton() {
  if (isWriting()) {
    return (
      <Button icon="stop" onClick={stopWriting}>
        {appText.stop}
      </Button>
    );
  }
  return (
    <Button kind="primary" icon="send" type="submit" disabled={!canSend()}>
      {chatText.send}
    </Button>
  );
}

function ComposerText({ id }: { id: string }) {
  const box = useRef<HTMLTextAreaElement>(null);
  const draft = readDraft(id).text;
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
      aria-label={chatText.composer}
      placeholder={chatText.placeholder}
      value={draft}
      onInput={(event) => changeDraft(id, { text: event.currentTarget.value })}
      onKeyDown={(event) => {
        if (!isSendKey(event)) return;
        event.preventDefault();
        void sendDraft();
      }}
      onPaste={(event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        void attachFiles(id, files);
      }}
    />
  );
}

/** Whether the style sheet alone makes the box as high as its text. */
const fitsByStyle = CSS.supports("field-sizing", "content");

/** Makes the box as high as its text; the style sheet limits it. Asking for its height lays out the page, which takes as long as the chat is. */
function fitHeight(box: HTMLTextAreaElement | null): void {
  if (box === null || fitsByStyle) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}

/** How much the model thinks before it replies; shown if a chosen model can think. */
function EffortSelect() {
  if (!canThink.value) return null;
  const { effort } = currentChoice.value.settings;
  const names = ["default", "none", "low", "medium", "high"] as const;
  const choose = (value: (typeof names)[number]) =>
    void changeSettings({ effort: value === "default" ? null : value });
  return (
    <span class="effort-select">
      <Select
        aria-label={chatText.effort}
        value={effort ?? "default"}
        choices={names.map((value) => ({ value, label: chatText.effortNames[value] }))}
        onValue={choose}
      />
    </span>
  );
}

/** How full the context of the first chosen model is, as the server counted it with the last reply. */
function ContextMeter() {
  const used = usedTokens();
  const [model] = currentChoice.value.models;
  const all = model === undefined ? null : (findModel(model)?.context_length ?? null);
  if (used === null || all === null) return null;
  const label = chatText.contextUse(countText(used), countText(all));
  return (
    <span class="context-meter" title={label}>
      <span class="small soft figures">{chatText.contextShort(shareText(Math.min(1, used / all)))}</span>
      <Gauge label={label} value={used / all} />
    </span>
  );
}

/** On a touch screen, Enter starts a new line: Shift+Enter is hard to type there. */
const hasKeyboard = matchMedia("(pointer: fine)");

/** Whether this press of Enter sends. While an input method composes a character, Enter belongs to the input method. */
export function isSendKey(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return false;
  return hasKeyboard.matches || event.ctrlKey || event.metaKey;
}
