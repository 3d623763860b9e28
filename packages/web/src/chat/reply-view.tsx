// Replies: thoughts, text, how they ended, figures and actions; one, or several to the same question side by side.
import { useComputed } from "@preact/signals";
import type { RefObject } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";

import { openChat, writtenInOtherTab } from "../conversations/chat-store.ts";
import type {
  Message,
  ReplyError,
  ReplyFigures,
  ReplyMessage,
  ToolStep,
} from "../conversations/conversation.ts";
import { chooseMessage } from "../conversations/chat-changes.ts";
import { findChildren } from "../conversations/message-tree.ts";
import { findModel } from "../connection/connection.ts";
import { Button, IconButton } from "../design/button.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { Icon } from "../design/icon.tsx";
import { Badge } from "../design/indicators.tsx";
import { attempt, showToast } from "../design/toast.tsx";
import { countText, durationText, rateText } from "../format/localized.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { continueReply, editReply, retryReply } from "../replies/request-replies.ts";
import { liveReplies, type LiveReply } from "../conversations/live-replies.ts";
import { appText } from "../strings/app.ts";
import { chatText } from "../strings/chat.ts";
import { type ErrorMessage, storedErrorMessage } from "../strings/error-message.ts";
import { ContextHelp } from "./context-help.tsx";
import { modelToRetry, showsFigures } from "../conversations/current-chat.ts";
import { ReadingView } from "./found-passages.tsx";
import { MessageMenu, SiblingSwitch } from "./message-actions.tsx";
import { ThinkingView } from "./thinking-view.tsx";
import { ToolSteps } from "./tool-calls.tsx";
import { EditForm } from "./user-message.tsx";

interface ReplyViewProps {
  message: ReplyMessage;
  /** The versions to step through. */
  siblings?: readonly Message[];
  /** In a round, whether the conversation continues from this reply. */
  isChosen?: boolean;
}

export function ReplyView({ message, siblings = [], isChosen }: ReplyViewProps) {
  const { id } = message;
  const live = useComputed(() => liveReplies.value.get(id)).value;
  const [isEditing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const stopEditing = () => {
    setEditing(false);
    edit.current?.focus();
  };
  const save = async (text: string) => {
    stopEditing();
    if (text !== message.text) await attempt(() => saveEdited(message, text));
  };
  const column = isChosen === undefined ? "" : `boxed round-column ${isChosen ? "chosen" : ""}`;
  return (
    <article
      class={`message reply ${column}`}
      aria-label={message.reply.model}
      aria-busy={message.reply.status === "writing"}
    >
      {isChosen !== undefined && <RoundHead message={message} isChosen={isChosen} />}
      {isEditing && live === undefined ? (
        <EditForm
          key="edit"
          text={message.text}
          label={chatText.editReplyLabel}
          action={appText.save}
          onCancel={stopEditing}
          onSave={(text) => void save(text)}
        />
      ) : (
        <ReplyBody key="body" message={message} live={live} />
      )}
      {/* With a key, its buttons stay the same elements, so that one of them keeps the focus. */}
      <div key="actions" class="message-actions">
        {live === undefined && (
          <>
            <SiblingSwitch message={message} siblings={siblings} />
            <ReplyActions
              message={message}
              edit={edit}
              isEditing={isEditing}
              onEdit={() => setEditing(true)}
            />
          </>
        )}
      </div>
      <ReplyFiguresView message={message} live={live} />
    </article>
  );
}

/** Saves an edited reply as a new version; the toast offers to undo it. */
async function saveEdited(message: ReplyMessage, text: string): Promise<void> {
  const undo = await editReply(message, text);
  showToast({
    text: chatText.replyEdited,
    action: { label: appText.undo, onAction: () => void attempt(undo) },
  });
}

/** Replies to the same question, side by side. */
export function RoundView({ messages, chosenId }: { messages: readonly ReplyMessage[]; chosenId: string }) {
  return (
    <div class="round">
      {messages.map((message) => (
        <ReplyView key={message.id} message={message} isChosen={message.id === chosenId} />
      ))}
    </div>
  );
}

function RoundHead({ message, isChosen }: { message: ReplyMessage; isChosen: boolean }) {
  return (
    <header class="round-head">
      <h3 class="round-model">{message.reply.model}</h3>
      {isChosen && <Badge tone="accent">{chatText.chosenAnswer}</Badge>}
      {/* A failed reply without text cannot be continued from. */}
      {!isChosen && (message.reply.status !== "failed" || message.text !== "") && (
        <Button size="small" onClick={() => void chooseMessage(message.conversationId, message.id)}>
          {chatText.continueWithThis}
        </Button>
      )}
    </header>
  );
}

const noSteps: readonly ToolStep[] = [];

/**
 * Steps with calls, thoughts, text and ending. Only this rerenders with each frame while the reply is streamed. The keys keep its elements when
 * the stream ends, so that formulas and code are not rendered a second time.
 */
function ReplyBody({ message, live }: { message: ReplyMessage; live: LiveReply | undefined }) {
  const { reply } = message;
  const text = live === undefined ? message.text : live.text.value;
  const thinking = live === undefined ? reply.thinking : live.thinking.value;
  const thinkingMs = live === undefined ? reply.thinkingMs : live.thinkingMs.value;
  const steps = (live === undefined ? reply.steps : live.steps.value) ?? noSteps;
  // Unchanged while the text after them is streamed.
  const before = useMemo(
    () => (steps.length === 0 ? null : <ToolSteps key="steps" steps={steps} live={live} />),
    [steps, live],
  );
  const isOpen = live !== undefined || reply.status === "writing";
  const isElsewhere = isOpen && live === undefined && writtenInOtherTab.value.has(message.id);
  return (
    <>
      {reply.leftOut !== undefined && (
        <p key="left-out" class="reply-note">
          {chatText.leftOut(countText(reply.leftOut))}
        </p>
      )}
      {before}
      {thinking !== "" && (
        <ThinkingView
          key="thinking"
          thinking={thinking}
          thinkingMs={thinkingMs}
          isOpen={isOpen && text === ""}
          responseId={live?.responseId.value ?? null}
        />
      )}
      {text !== "" && (
        <div key="text" class="reply-text">
          <Markdown text={text} isOpen={isOpen} />
        </div>
      )}
      {live !== undefined && text === "" && thinking === "" && live.question.value === null && (
        <Waiting key="waiting" live={live} />
      )}
      {isElsewhere && (
        <p key="elsewhere" class="reply-note">
          {chatText.writtenInOtherTab}
        </p>
      )}
      {live === undefined && <ReplyEnd key="end" message={message} />}
    </>
  );
}

function Waiting({ live }: { live: LiveReply }) {
  const reading = live.reading.value;
  return (
    <>
      <p class="waiting">
        <span class="dots" aria-hidden="true" />
        <span class="visually-hidden">{chatText.waiting}</span>
      </p>
      {reading !== null && <ReadingView reading={reading} />}
    </>
  );
}

/** How a reply ended early, and how to continue it. */
function ReplyEnd({ message }: { message: ReplyMessage }) {
  const { status, finish, error } = message.reply;
  if (status === "failed") return <ReplyFailure message={message} />;
  if (status === "stopped") return <Unfinished message={message} note={chatText.stopped} />;
  if (status === "interrupted")
    return (
      <Unfinished message={message} note={error === null ? chatText.interrupted : chatText.connectionBroke} />
    );
  if (status === "done" && finish === "length") return <CutReply message={message} />;
  if (status === "done" && message.text === "") return <p class="reply-note">{chatText.noText}</p>;
  if (message.reply.isEdited === true) return <Unfinished message={message} note={chatText.editedNote} />;
  return null;
}

function CutReply({ message }: { message: ReplyMessage }) {
  const { figures, model } = message.reply;
  const prompt = figures?.promptTokens ?? null;
  const used = figures === null || prompt === null ? null : prompt + figures.completionTokens;
  const context = replyContextLength(message);
  const wasFull = context !== null && used !== null && used >= context;
  const note = wasFull ? chatText.cutByContext : chatText.cutByLimit;
  return (
    <ContextHelp message={message} model={model} usedTokens={used} fullNote={note}>
      <Unfinished message={message} note={note} />
    </ContextHelp>
  );
}

/** The context that the model had when it replied, or else the one that it has. */
function replyContextLength({ reply: { contextLength = null, model } }: ReplyMessage): number | null {
  return contextLength ?? findModel(model)?.context_length ?? null;
}

function ReplyFailure({ message }: { message: ReplyMessage }) {
  const { error, model } = message.reply;
  const failure = failureMessage(error);
  const isTooLong = error?.code === "context_length_exceeded";
  const again = (
    <div class="row">
      <Button size="small" icon="retry" onClick={() => void attempt(() => continueReply(message))}>
        {message.text === "" ? appText.retry : chatText.continue}
      </Button>
    </div>
  );
  return (
    <div class="reply-failure" role="group" aria-label={chatText.failed}>
      <Icon name="error" />
      <div class="stack">
        <p>{failure.text}</p>
        {failure.detail !== null && <p class="small soft">{failure.detail}</p>}
        {isTooLong ? (
          <ContextHelp message={message} model={model} usedTokens={error.promptTokens} fullNote="">
            {again}
          </ContextHelp>
        ) : (
          again
        )}
      </div>
    </div>
  );
}

/** For a prompt that is too long, the page's own sentence has all the figures of the server's. */
function failureMessage(error: ReplyError | null): ErrorMessage {
  if (error === null) return { text: chatText.failed, detail: null };
  const { code, promptTokens, contextLength } = error;
  return code === "context_length_exceeded" && promptTokens !== null && contextLength !== null
    ? { text: chatText.contextTooLong(countText(promptTokens), countText(contextLength)), detail: null }
    : storedErrorMessage(error);
}

function Unfinished({ message, note }: { message: ReplyMessage; note: string }) {
  const tree = openChat.value?.tree;
  const isLast = tree !== undefined && findChildren(tree, message.id).length === 0;
  return (
    <div class="reply-note">
      <span>{note}</span>
      {isLast && (
        <Button size="small" icon="forward" onClick={() => void attempt(() => continueReply(message))}>
          {chatText.continue}
        </Button>
      )}
    </div>
  );
}

interface ReplyActionsProps {
  message: ReplyMessage;
  /** The button that begins to edit. */
  edit: RefObject<HTMLButtonElement | null>;
  isEditing: boolean;
  onEdit: () => void;
}

function ReplyActions({ message, edit, isEditing, onEdit }: ReplyActionsProps) {
  return (
    <>
      <CopyButton text={() => message.text} label={chatText.copy} />
      <IconButton
        button={edit}
        icon="edit"
        size="small"
        label={chatText.editReply}
        aria-pressed={isEditing}
        onClick={onEdit}
      />
      <IconButton
        icon="retry"
        size="small"
        label={appText.retry}
        onClick={() => void attempt(() => retryReply(message, modelToRetry(message.reply.model)))}
      />
      <MessageMenu message={message} />
    </>
  );
}

interface FiguresProps {
  message: ReplyMessage;
  live: LiveReply | undefined;
}

function ReplyFiguresView({ message, live }: FiguresProps) {
  const figures = live === undefined ? message.reply.figures : live.figures.value;
  const { model } = message.reply;
  // The server's state arrives often, and seldom changes this.
  const contextLength = useComputed(() => replyContextLength(message)).value;
  return (
    <p class="reply-figures figures" aria-label={chatText.figures} role="group">
      <span class="reply-model">{model}</span>
      {figures !== null &&
        showsFigures.value &&
        figureTexts(figures, contextLength).map((part) => <span key={part}>{part}</span>)}
    </p>
  );
}

function figureTexts(figures: ReplyFigures, contextLength: number | null): string[] {
  const { promptTokens, completionTokens, tokensPerSecond, promptMs, cachedTokens } = figures;
  const parts = [];
  if (tokensPerSecond > 0) parts.push(chatText.tokensPerSecond(rateText(tokensPerSecond)));
  if (promptMs !== null) parts.push(chatText.firstToken(durationText(promptMs / 1_000)));
  if (promptTokens === null) return [...parts, appText.tokens(countText(completionTokens))];
  parts.push(chatText.tokensUsed(countText(promptTokens), countText(completionTokens)));
  if (cachedTokens !== null && cachedTokens > 0) parts.push(chatText.cached(countText(cachedTokens)));
  if (contextLength !== null) {
    const left = Math.max(0, contextLength - promptTokens - completionTokens);
    parts.push(chatText.contextLeft(countText(left), countText(contextLength)));
  }
  return parts;
}
