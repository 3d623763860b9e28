// An export with one conversation of many messages, in all kinds of Markdown.
import { makeArchive } from "../src/conversations/chat-archive.ts";
import type { ChatArchive, Message } from "../src/conversations/conversation.ts";
import { exampleConversation, exampleReplyMessage } from "./examples.ts";
import { longAnswer } from "./long-answer.ts";

/** About as long as most replies. */
const tokensPerReply = 120;

/** Questions and replies in turn; each has its number: `Question 0`, `Answer 1`. The chat's title is `A long chat`; it uses whichever model there is. */
export function longChat(messageCount: number): ChatArchive {
  const begun = Date.now() - messageCount;
  const answer = longAnswer(tokensPerReply).join("");
  const messages = Array.from({ length: messageCount }, (_nothing, at): Message => {
    const place = {
      id: `message-${at}`,
      conversationId: "long",
      parentId: at === 0 ? null : `message-${at - 1}`,
      createdAt: begun + at,
    };
    if (at % 2 === 0) return { ...place, role: "user", text: `Question ${at}`, attachments: [] };
    return exampleReplyMessage(
      { ...place, text: `Answer ${at}\n\n${answer}` },
      { model: "tiny", round: `round-${at}` },
    );
  });
  const conversation = exampleConversation({ id: "long", title: "A long chat", models: [] });
  return makeArchive([{ conversation, messages, images: {} }], [], []);
}
