// The messages on the path of the open conversation, or what an empty chat shows instead.
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { openChat, openPath } from "../conversations/chat-store.ts";
import type { Message, ReplyMessage } from "../conversations/conversation.ts";
import { findSiblings } from "../conversations/message-tree.ts";
import { live, models } from "../connection/connection.ts";
import { IconButton } from "../design/button.tsx";
import { Icon } from "../design/icon.tsx";
import { isFirstRun } from "../first-run/first-run-flow.ts";
import { FirstRun } from "../first-run/first-run.tsx";
import { chatText } from "../strings/chat.ts";
import { changeChoice, currentConversation } from "../conversations/current-chat.ts";
import { ReplyView, RoundView } from "./reply-view.tsx";
import { UserMessageView } from "./user-message.tsx";
import "./thread.css";

export function Thread() {
  const path = openPath.value;
  const isEmpty = currentConversation.value === undefined;
  const first = path.length - useLatestFirst(openChat.value?.id ?? "", path.length);
  const lastQuestion = path.findLast(({ role }) => role === "user");
  // A new message of the user scrolls to the end.
  const { frame, inner, isAtBottom, toBottom } = useStickToBottom(
    `${openChat.value?.id ?? ""} ${lastQuestion?.id ?? ""}`,
  );
  return (
    <div class="thread-frame">
      {/* Focusable, so that the keyboard can scroll it. */}
      <div ref={frame} class="thread" role="region" aria-label={chatText.thread} tabIndex={0}>
        <div ref={inner} class={`thread-inner ${isEmpty ? "empty" : ""}`}>
          {isEmpty && <EmptyThread />}
          {path.slice(first).map((message) => (
            <PathMessage key={message.id} message={message} isLast={message === path.at(-1)} />
          ))}
        </div>
      </div>
      {!isAtBottom.value && (
        <div class="to-bottom">
          <IconButton icon="arrowDown" kind="plain" label={chatText.toBottom} onClick={toBottom} />
        </div>
      )}
    </div>
  );
}

/** Rendered again with each change of the tree; what it shows, only if that changed. */
function PathMessage({ message, isLast }: { message: Message; isLast: boolean }) {
  const tree = openChat.value?.tree;
  const siblings = useSameElements(tree === undefined ? [] : findSiblings(tree, message.id));
  return useMemo(() => {
    if (message.role === "user") return <UserMessageView message={message} siblings={siblings} />;
    const round = siblings.filter(isReplyInRound(message.reply.round));
    if (isLast && round.length > 1) return <RoundView messages={round} chosenId={message.id} />;
    return <ReplyView message={message} siblings={siblings} />;
  }, [message, isLast, siblings]);
}

/** The list of the render before, as long as its elements are the same. */
function useSameElements<Element>(list: readonly Element[]): readonly Element[] {
  const last = useRef(list);
  const isSame =
    last.current.length === list.length && list.every((element, at) => element === last.current[at]);
  if (!isSame) last.current = list;
  return last.current;
}

function isReplyInRound(round: string) {
  return (message: Message): message is ReplyMessage =>
    message.role === "assistant" && message.reply.round === round;
}

function EmptyThread() {
  // Once begun, the first run ends with the user's click, not when the model arrives.
  const [isBegun, setBegun] = useState(false);
  const isFirst = live.value !== null && isFirstRun(models.value);
  if (isFirst && !isBegun) setBegun(true);
  if (isFirst || isBegun) {
    return (
      <FirstRun
        onChat={(model) => {
          setBegun(false);
          void changeChoice({ models: [model] });
          document.querySelector<HTMLElement>("#composer-text")?.focus();
        }}
      />
    );
  }
  return (
    <div class="greeting">
      <span class="greeting-mark">
        <Icon name="app" size={40} />
      </span>
      <h1>{chatText.greeting}</h1>
      <p class="soft">{chatText.greetingHint}</p>
    </div>
  );
}

/** Closer than this counts as being at the end. */
const nearPx = 60;

/**
 * Keeps the end of the growing `inner` in view inside the scrolling `frame`, unless the user has scrolled up. Scrolls to the end
 * whenever `key` changes, such as with another conversation.
 */
function useStickToBottom(key: string) {
  const frame = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const isAtBottom = useSignal(true);
  const toBottom = () => {
    isAtBottom.value = true;
    frame.current?.scrollTo({ top: frame.current.scrollHeight });
  };
  useLayoutEffect(toBottom, [key]);
  useEffect(() => {
    const { current: view } = frame;
    const { current: content } = inner;
    if (view === null || content === null) return undefined;
    let lastTop = view.scrollTop;
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = view;
      // Growing content also moves the end away; only scrolling up means that the user left it.
      if (scrollHeight - scrollTop - clientHeight < nearPx) isAtBottom.value = true;
      else if (scrollTop < lastTop) isAtBottom.value = false;
      lastTop = scrollTop;
    };
    const observer = new ResizeObserver(() => {
      if (isAtBottom.value) view.scrollTop = view.scrollHeight;
    });
    observer.observe(content);
    observer.observe(view);
    view.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      view.removeEventListener("scroll", onScroll);
    };
  }, []);
  return { frame, inner, isAtBottom, toBottom };
}

/** More than a screen has. */
const atOnce = 24;
/** Messages of one step: a few milliseconds each at most. */
const perStep = 12;

/** How many of the last `count` messages to render now; grows to all of them. Begins again with another `key`, such as the chat's id. */
function useLatestFirst(key: string, count: number): number {
  const [state, setState] = useState({ key, rendered: atOnce });
  const rendered = state.key === key ? state.rendered : atOnce;
  useEffect(() => {
    if (rendered >= count) return undefined;
    // A task of its own: keys and frames come between two steps.
    const timer = setTimeout(() => setState({ key, rendered: rendered + perStep }));
    return () => clearTimeout(timer);
  }, [key, rendered, count]);
  return Math.min(rendered, count);
}
