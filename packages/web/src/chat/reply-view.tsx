// A reply: thoughts, text, how it ended, and its actions.
import { openChat, writtenElsewhere } from "../chats/chat-store.ts";
import type { Message, ReplyError, ReplyMessage } from "../chats/conversation.ts";
import { childrenOf } from "../chats/message-tree.ts";
import { Button, IconButton } from "../design/button.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { Icon } from "../design/icon.tsx";
import { showError } from "../design/toast.tsx";
import { countText } from "../format/in-language.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { continueReply, retryReply } from "../replies/ask.ts";
import { liveReplies, type LiveReply } from "../replies/live-replies.ts";
import { storedErrorMessage, type ErrorMessage } from "../strings/error-message.ts";
import { strings } from "../strings/strings.ts";
import { ContextHelp } from "./context-help.tsx";
import { MessageMenu, SiblingSwitch } from "./message-actions.tsx";
import { ReplyFiguresView } from "./reply-figures.tsx";
import { ThinkingView } from "./thinking-view.tsx";

interface ReplyViewProps {
  message: ReplyMessage;
  siblings: readonly Message[];
}

export function ReplyView({ message, siblings }: ReplyViewProps) {
  const live = liveReplies.value.get(message.id);
  return (
    <article
      class="message reply"
      aria-label={message.reply.model}
      aria-busy={message.reply.status === "writing"}
    >
      <ReplyBody message={message} live={live} />
      <div class="message-actions">
        {live === undefined && (
          <>
            <SiblingSwitch message={message} siblings={siblings} />
            <ReplyActions message={message} />
          </>
        )}
      </div>
      <ReplyFiguresView message={message} live={live} />
    </article>
  );
}

/**
 * Thoughts, text and ending. Only this rerenders with each frame while the reply is streamed. The keys keep its elements when
 * the stream ends, so that formulas and code are not rendered a second time.
 */
export function ReplyBody({ message, live }: { message: ReplyMessage; live: LiveReply | undefined }) {
  const { reply } = message;
  const text = live === undefined ? message.text : live.text.value;
  const thinking = live === undefined ? reply.thinking : live.thinking.value;
  const thinkingMs = live === undefined ? reply.thinkingMs : live.thinkingMs.value;
  const isOpen = live !== undefined || reply.status === "writing";
  const isElsewhere = isOpen && live === undefined && writtenElsewhere.value.has(message.id);
  return (
    <>
      {thinking !== "" && (
        <ThinkingView
          key="thinking"
          thinking={thinking}
          thinkingMs={thinkingMs}
          isOpen={isOpen && text === ""}
        />
      )}
      {text !== "" && (
        <div key="text" class="reply-text">
          <Markdown text={text} isOpen={isOpen} />
        </div>
      )}
      {live !== undefined && text === "" && thinking === "" && <WaitingDots key="waiting" />}
      {isElsewhere && (
        <p key="elsewhere" class="reply-note">
          {strings.value.chat.writtenElsewhere}
        </p>
      )}
      {live === undefined && <ReplyEnd key="end" message={message} />}
    </>
  );
}

function WaitingDots() {
  return (
    <p class="waiting">
      <span class="dots" aria-hidden="true" />
      <span class="visually-hidden">{strings.value.chat.waiting}</span>
    </p>
  );
}

/** How a reply ended early, and how to continue it. */
function ReplyEnd({ message }: { message: ReplyMessage }) {
  const text = strings.value.chat;
  const { status, finish, error, figures } = message.reply;
  if (status === "failed") return <ReplyFailure message={message} />;
  if (status === "stopped") return <Unfinished message={message} note={text.stopped} />;
  if (status === "interrupted")
    return <Unfinished message={message} note={error === null ? text.interrupted : text.connectionBroke} />;
  if (status === "done" && finish === "length") return <CutReply message={message} figures={figures} />;
  if (status === "done" && message.text === "") return <p class="reply-note">{text.noText}</p>;
  return null;
}

function CutReply({
  message,
  figures,
}: {
  message: ReplyMessage;
  figures: ReplyMessage["reply"]["figures"];
}) {
  const text = strings.value.chat;
  const used =
    figures === null || figures.promptTokens === null
      ? null
      : figures.promptTokens + figures.completionTokens;
  return (
    <ContextHelp model={message.reply.model} usedTokens={used} fullNote={text.cutByContext}>
      <Unfinished message={message} note={text.cutByLimit} />
    </ContextHelp>
  );
}

function ReplyFailure({ message }: { message: ReplyMessage }) {
  const text = strings.value.chat;
  const { error, model } = message.reply;
  const failure = failureMessage(error);
  const isTooLong = error?.code === "context_length_exceeded";
  const again = (
    <div class="row">
      <Button size="small" icon="retry" onClick={() => void attempt(() => continueReply(message))}>
        {message.text === "" ? text.retry : text.continue}
      </Button>
    </div>
  );
  return (
    <div class="reply-failure" role="group" aria-label={text.failed}>
      <Icon name="error" />
      <div class="stack">
        <p>{failure.text}</p>
        {failure.detail !== null && <p class="small soft">{failure.detail}</p>}
        {isTooLong ? (
          <ContextHelp model={model} usedTokens={error.promptTokens} fullNote="">
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
  const text = strings.value.chat;
  if (error === null) return { text: text.failed, detail: null };
  const { code, promptTokens, contextLength } = error;
  return code === "context_length_exceeded" && promptTokens !== null && contextLength !== null
    ? { text: text.contextTooLong(countText(promptTokens), countText(contextLength)), detail: null }
    : storedErrorMessage(error);
}

function Unfinished({ message, note }: { message: ReplyMessage; note: string }) {
  const tree = openChat.value?.tree;
  const isLast = tree !== undefined && childrenOf(tree, message.id).length === 0;
  return (
    <div class="reply-note">
      <span>{note}</span>
      {isLast && (
        <Button size="small" icon="forward" onClick={() => void attempt(() => continueReply(message))}>
          {strings.value.chat.continue}
        </Button>
      )}
    </div>
  );
}

export function ReplyActions({ message }: { message: ReplyMessage }) {
  const text = strings.value.chat;
  return (
    <>
      <CopyButton text={() => message.text} label={text.copy} />
      <IconButton
        icon="retry"
        size="small"
        label={text.retry}
        onClick={() => void attempt(() => retryReply(message))}
      />
      <MessageMenu message={message} />
    </>
  );
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    showError(error);
  }
}
