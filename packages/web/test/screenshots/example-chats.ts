// The conversations in the screenshots, as an export that the page imports.
import { makeArchive } from "../../src/conversations/chat-archive.ts";
import type {
  ArchivedChat,
  ChatArchive,
  Folder,
  Message,
  Reply,
} from "../../src/conversations/conversation.ts";
import { emptySettings } from "../../src/conversations/settings-fields.ts";

/** The models in the screenshots: tiny ones under the names of real ones. */
export const exampleModels = {
  large: "LFM2-2.6B-Q4_K_M",
  small: "LFM2-1.2B-Q4_K_M",
  thinking: "Qwen3-4B-Q4_K_M",
};

const answer = `A **trie** finds every word with a given prefix in time that depends on the prefix alone, however many words there are.

\`\`\`ts
class Trie {
  #children = new Map<string, Trie>();
  #isWord = false;

  add(word: string): void {
    let node: Trie = this;
    for (const letter of word) node = node.#child(letter);
    node.#isWord = true;
  }
}
\`\`\`

| structure | look up | all words with a prefix |
|---|---|---|
| hash set | $O(m)$ | $O(n \\cdot m)$ |
| sorted array | $O(m \\log n)$ | $O(m \\log n + k)$ |
| trie | $O(m)$ | $O(m + k)$ |

Here $n$ words have $m$ letters at most, and $k$ of them are found.

\`\`\`mermaid
flowchart LR
  root(( )) --> t --> e --> a["tea"]
  e --> n["ten"]
  root --> i --> nn["in"]
\`\`\``;

const thoughts = `The user wants prefix search. A hash set cannot do it without looking at every word; a sorted array can, with a binary
search. A trie is the natural answer. I should show a short class and compare the costs.`;

const shortAnswers = {
  small: `Steep **3 g** of leaves in **200 ml** of water at 75 °C for two minutes. Boiling water makes green tea bitter, because it
draws out more tannins.

1. Let the kettle stand for five minutes after it has boiled.
2. Pour, wait two minutes, and take the leaves out.
3. Use the same leaves two more times, a minute longer each.`,
  large: `For a pot of half a litre:

- **Leaves:** two heaped teaspoons, about 6 g.
- **Water:** 70–80 °C. Hotter water turns the taste bitter.
- **Time:** two minutes, then strain at once.

A second infusion needs only one minute. Soft water suits green tea best, so filter yours if it is hard.`,
};

const now = Date.now();
const hour = 3_600_000;

function reply(model: string, change: Partial<Reply> = {}): Reply {
  const figures = {
    promptTokens: 412,
    cachedTokens: 380,
    completionTokens: 318,
    tokensPerSecond: 46.2,
    promptMs: 240,
  };
  return {
    model,
    round: "round",
    thinking: "",
    thinkingMs: null,
    status: "done",
    finish: "stop",
    error: null,
    figures,
    ...change,
  };
}

interface Example {
  id: string;
  title: string;
  question: string;
  replies: { text: string; reply: Reply }[];
  folderId?: string;
  ageHours: number;
}

function chat({ id, title, question, replies, folderId, ageHours }: Example): ArchivedChat {
  const createdAt = now - ageHours * hour;
  const place = { conversationId: id, createdAt };
  const messages: Message[] = [
    { ...place, role: "user", id: `${id}-q`, parentId: null, text: question, attachments: [] },
    ...replies.map((each, at): Message => ({
      ...place,
      role: "assistant",
      id: `${id}-a${at}`,
      parentId: `${id}-q`,
      createdAt: createdAt + at + 1,
      ...each,
    })),
  ];
  return {
    conversation: {
      id,
      title,
      isNamed: true,
      folderId: folderId ?? null,
      createdAt,
      updatedAt: createdAt,
      deletedAt: null,
      chosen: { "": `${id}-q`, [`${id}-q`]: `${id}-a0` },
      models: [...new Set(replies.map((each) => each.reply.model))],
      answers: 1,
      settings: emptySettings,
    },
    messages,
    images: {},
  };
}

const folders: Folder[] = [{ id: "work", name: "Work", createdAt: 1 }];

const { large, small, thinking } = exampleModels;
const others: [title: string, ageHours: number, folderId?: string][] = [
  ["Release notes for 2.4", 20, "work"],
  ["SQL: users without orders", 30, "work"],
  ["A week in Lisbon in spring", 27],
  ["Why the sky is blue", 50],
  ["Sourdough that does not rise", 75],
  ["Birthday poem for Mira", 120],
  ["Regex for ISO dates", 170],
  ["Explain the CAP theorem", 400],
];

/** All conversations, the one with the long reply first. */
export function exampleChats(): ChatArchive {
  return makeArchive(
    [
      chat({
        id: "trie",
        title: "Finding words by prefix",
        question:
          "Which data structure finds all words with a prefix? Show a short TypeScript class and compare the costs.",
        replies: [{ text: answer, reply: reply(thinking, { thinking: thoughts, thinkingMs: 4_200 }) }],
        ageHours: 0,
      }),
      chat({
        id: "tea",
        title: "Green tea",
        question: "How do I brew green tea?",
        replies: [
          { text: shortAnswers.small, reply: reply(small) },
          { text: shortAnswers.large, reply: reply(large) },
        ],
        ageHours: 2,
      }),
      ...others.map(([title, ageHours, folderId], at) =>
        chat({
          id: `other-${at}`,
          title,
          question: title,
          replies: [{ text: "An answer.", reply: reply(small) }],
          ageHours,
          ...(folderId === undefined ? {} : { folderId }),
        }),
      ),
    ],
    folders,
    [],
  );
}
