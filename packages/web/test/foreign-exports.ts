// Exports of other programs, in the shapes that these programs write.

const png =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

interface ChatGptPart {
  id: string;
  parent: string | null;
  children?: string[];
  message?: object | null;
}

const node = ({ id, parent, children = [], message = null }: ChatGptPart) => [
  id,
  { id, message, parent, children },
];

function chatGptMessage(id: string, role: string, content: object, more: object = {}) {
  return {
    id,
    author: { role, name: null, metadata: {} },
    create_time: 1_700_000_000.5,
    update_time: null,
    content,
    status: "finished_successfully",
    end_turn: null,
    weight: 1,
    metadata: {},
    recipient: "all",
    channel: null,
    ...more,
  };
}

const text = (...parts: unknown[]) => ({ content_type: "text", parts });

/** A conversation with an edited question, a reply in two versions, a search, an uploaded photo, and thoughts. */
export function chatGptConversation(number = 0): object {
  const mapping = Object.fromEntries([
    node({ id: "client-created-root", parent: null, children: ["sys"] }),
    node({
      id: "sys",
      parent: "client-created-root",
      children: ["q1", "q2"],
      message: chatGptMessage("sys", "system", text(""), {
        metadata: { is_visually_hidden_from_conversation: true },
      }),
    }),
    node({
      id: "q1",
      parent: "sys",
      children: ["a1"],
      message: chatGptMessage("q1", "user", text("How long is the pier?")),
    }),
    node({
      id: "a1",
      parent: "q1",
      message: chatGptMessage("a1", "assistant", text("Which pier?"), { metadata: { model_slug: "gpt-4o" } }),
    }),
    node({
      id: "q2",
      parent: "sys",
      children: ["think"],
      message: chatGptMessage(
        "q2",
        "user",
        {
          content_type: "multimodal_text",
          parts: [
            {
              content_type: "image_asset_pointer",
              asset_pointer: "file-service://file-1",
              size_bytes: 12,
              width: 1,
              height: 1,
            },
            `How long is Southend Pier? (${number})`,
          ],
        },
        {
          metadata: {
            attachments: [
              { id: "file-1", name: "pier.png", mime_type: "image/png", size: 12 },
              { id: "file-2", name: "plan.pdf", mime_type: "application/pdf", size: 120 },
            ],
          },
        },
      ),
    }),
    node({
      id: "think",
      parent: "q2",
      children: ["search", "late"],
      message: chatGptMessage("think", "assistant", {
        content_type: "thoughts",
        thoughts: [
          { summary: "Looking it up", content: "I should look this up.", chunks: [], finished: true },
        ],
        source_analysis_msg_id: "x",
      }),
    }),
    node({
      id: "search",
      parent: "think",
      children: ["found"],
      message: chatGptMessage(
        "search",
        "assistant",
        { content_type: "code", language: "unknown", text: 'search("pier")' },
        { recipient: "web.run" },
      ),
    }),
    node({
      id: "found",
      parent: "search",
      children: ["a2", "a3"],
      message: chatGptMessage("found", "tool", {
        content_type: "tether_browsing_display",
        result: "",
        summary: "",
      }),
    }),
    node({
      id: "a2",
      parent: "found",
      message: chatGptMessage("a2", "assistant", text("2,158 metres.\ue200cite\ue202turn0search0\ue201"), {
        metadata: { model_slug: "gpt-5" },
      }),
    }),
    node({
      id: "a3",
      parent: "found",
      children: ["q3"],
      message: chatGptMessage("a3", "assistant", text("It is 2,158 m long."), {
        metadata: { model_slug: "gpt-5" },
      }),
    }),
    node({
      id: "q3",
      parent: "a3",
      children: ["a4"],
      message: chatGptMessage("q3", "user", {
        content_type: "multimodal_text",
        parts: [
          { content_type: "audio_transcription", text: "Thank you!", direction: "in", decoding_id: null },
          {
            content_type: "audio_asset_pointer",
            asset_pointer: "sediment://file-3",
            size_bytes: 9,
            format: "wav",
          },
        ],
      }),
    }),
    node({
      id: "a4",
      parent: "q3",
      message: chatGptMessage("a4", "assistant", text("You are welcome."), {
        metadata: { model_slug: "gpt-5" },
      }),
    }),
    node({
      id: "late",
      parent: "think",
      message: chatGptMessage("late", "assistant", text("An older try."), { metadata: { model_slug: "o3" } }),
    }),
  ]);
  return {
    title: `Piers ${number}`,
    create_time: 1_699_999_999.25 + number,
    update_time: 1_700_000_100 + number,
    mapping,
    moderation_results: [],
    current_node: "a2",
    plugin_ids: null,
    conversation_id: `conversation-${number}`,
    is_archived: false,
    default_model_slug: "auto",
    id: `conversation-${number}`,
  };
}

/** Two models asked side by side, one of them twice; an image and a document; thoughts and a call as HTML. */
export function openWebUiRow(): object {
  const messages = {
    u1: {
      id: "u1",
      parentId: null,
      childrenIds: ["l1", "q1", "l2"],
      role: "user",
      content: "What is on it?",
      timestamp: 1_720_000_000,
      models: ["llama3.1:8b", "qwen3:4b"],
      files: [
        { type: "image", url: png },
        { type: "image", url: "/api/v1/files/3f/content" },
        {
          type: "file",
          name: "notes.md",
          file: { id: "4a", filename: "notes.md", data: { content: "The harbour." } },
        },
        { type: "collection", name: "Handbooks", id: "5b" },
      ],
    },
    l1: {
      id: "l1",
      parentId: "u1",
      childrenIds: [],
      role: "assistant",
      content: "A harbour.",
      model: "llama3.1:8b",
      modelName: "llama3.1:8b",
      modelIdx: 0,
      timestamp: 1_720_000_001,
      done: true,
    },
    q1: {
      id: "q1",
      parentId: "u1",
      childrenIds: ["u2"],
      role: "assistant",
      content:
        '<details type="reasoning" done="true" duration="7">\n<summary>Thought for 7 seconds</summary>\n&gt; It is a small image.\n&gt; So &lt;1 px&gt;.\n</details>\n<details type="tool_calls" done="true" id="c" name="look" arguments="{}">\n<summary>Tool Executed</summary>\n</details>\nOne pixel.',
      model: "qwen3:4b",
      modelName: "qwen3:4b",
      modelIdx: 1,
      timestamp: 1_720_000_002,
      done: true,
    },
    l2: {
      id: "l2",
      parentId: "u1",
      childrenIds: [],
      role: "assistant",
      content: "A harbour at night.",
      model: "llama3.1:8b",
      modelName: "llama3.1:8b",
      modelIdx: 0,
      timestamp: 1_720_000_003,
      done: true,
    },
    u2: {
      id: "u2",
      parentId: "q1",
      childrenIds: ["q2"],
      role: "user",
      content: "Sure?",
      timestamp: 1_720_000_004,
    },
    q2: {
      id: "q2",
      parentId: "u2",
      childrenIds: [],
      role: "assistant",
      content: "Yes.",
      model: "qwen3:4b",
      modelIdx: 0,
      timestamp: 1_720_000_005,
    },
  };
  return {
    id: "9c",
    user_id: "1d",
    title: "Harbour",
    chat: {
      id: "",
      title: "Harbour",
      models: ["llama3.1:8b", "qwen3:4b"],
      params: { system: "Answer shortly." },
      history: { messages, currentId: "q2" },
      messages: [],
      tags: [],
      timestamp: 1_720_000_000_000,
      files: [],
    },
    updated_at: 1_720_000_006,
    created_at: 1_720_000_000,
    share_id: null,
    archived: false,
    pinned: false,
    meta: {},
    folder_id: null,
  };
}

const block = (content: object[], more: object = {}) => ({
  type: "contentBlock",
  stepIdentifier: "1700000000000-0.5",
  content,
  defaultShouldIncludeInContext: true,
  shouldIncludeInContext: true,
  ...more,
});

const textPart = (words: string) => ({
  type: "text",
  text: words,
  fromDraftModel: false,
  tokensCount: 1,
  isStructural: false,
});

/** A reply in two versions, of which the second has thoughts and a call of a tool; an attached image. */
export function lmStudioConversation(name = "Lighthouses"): object {
  return {
    name,
    pinned: false,
    createdAt: 1_730_000_000_000,
    preset: "",
    tokenCount: 120,
    userLastMessagedAt: 1_730_000_009_000,
    systemPrompt: "",
    messages: [
      {
        versions: [
          {
            type: "singleStep",
            role: "user",
            content: [
              textPart("Which lighthouse is this?"),
              { type: "file", fileIdentifier: "1730000000000 - 1.jpg", fileType: "image", sizeBytes: 4_000 },
            ],
            preprocessed: { role: "user", content: [] },
          },
        ],
        currentlySelected: 0,
      },
      {
        versions: [
          {
            type: "multiStep",
            role: "assistant",
            senderInfo: { senderName: "google/gemma-3-4b" },
            steps: [
              block([textPart("Eddystone.")], {
                genInfo: { indexedModelIdentifier: "x", identifier: "google/gemma-3-4b", stats: {} },
              }),
            ],
          },
          {
            type: "multiStep",
            role: "assistant",
            senderInfo: { senderName: "qwen/qwen3-4b" },
            steps: [
              block([textPart("Red and white.")], {
                style: { type: "thinking", ended: true, title: "Thought for 2.00 seconds" },
              }),
              block([{ type: "toolCallRequest", callId: 1, name: "search", parameters: {} }]),
              { type: "toolStatus", stepIdentifier: "2", callId: 1, statusState: {} },
              block([textPart("Probably "), textPart("Smeaton's Tower.")]),
              {
                type: "debugInfoBlock",
                stepIdentifier: "3",
                debugInfo: "Conversation naming technique: 'prompt'",
              },
            ],
          },
        ],
        currentlySelected: 1,
      },
      {
        versions: [{ type: "singleStep", role: "user", content: [textPart("Thanks")], preprocessed: {} }],
        currentlySelected: 0,
      },
      {
        versions: [
          {
            type: "singleStep",
            role: "assistant",
            content: [textPart("<think>\nEasy.\n</think>\n\nWith pleasure.")],
          },
        ],
        currentlySelected: 0,
      },
    ],
    usePerChatPredictionConfig: true,
    perChatPredictionConfig: {
      fields: [{ key: "llm.prediction.systemPrompt", value: "You know lighthouses." }],
    },
    clientInput: "",
    clientInputFiles: [],
    lastUsedModel: {
      identifier: "qwen/qwen3-4b",
      indexedModelIdentifier: "x",
      instanceLoadTimeConfig: { fields: [] },
    },
    notes: [],
    plugins: [],
  };
}
