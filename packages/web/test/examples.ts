// Example records for tests, with the changes that a test needs.
import type { Job, ManagedModel } from "@ingle/protocol";

import { emptySettings } from "../src/conversations/settings-fields.ts";
import type { Conversation, Reply, ReplyMessage } from "../src/conversations/conversation.ts";

export function exampleJob(changes: Partial<Job> = {}): Job {
  return {
    id: "1",
    kind: "pull",
    status: "running",
    model: "org/repo:Q4_K_M",
    source: null,
    quantization: null,
    phase: "download",
    bytes: 250,
    total_bytes: 1000,
    bytes_per_second: 50,
    can_pause: true,
    error: null,
    error_code: null,
    created_at: 100,
    ended_at: null,
    ...changes,
  };
}

export function exampleModel(changes: Partial<ManagedModel> = {}): ManagedModel {
  return {
    id: "org/repo:Q4_K_M",
    aliases: [],
    status: "available",
    progress: null,
    pinned: false,
    running: 0,
    waiting: 0,
    context_length: 4096,
    context_length_train: 8192,
    quantization: "Q4_K_M",
    format: "gguf",
    architecture: "lfm2",
    capabilities: [],
    sampling: {},
    load_sampling: null,
    size_bytes: 1000,
    memory_bytes: null,
    kv_bytes_per_token: null,
    kv_bits_k: null,
    kv_bits_v: null,
    loaded_at: null,
    last_used_at: null,
    removable: true,
    imported: false,
    error: null,
    error_code: null,
    ...changes,
  };
}

export function exampleConversation(changes: Partial<Conversation> = {}): Conversation {
  return {
    id: "c",
    title: "Bread",
    isNamed: false,
    folderId: null,
    createdAt: 1,
    updatedAt: 1,
    deletedAt: null,
    chosen: {},
    models: ["m"],
    answers: 1,
    settings: emptySettings,
    ...changes,
  };
}

export function exampleReply(changes: Partial<Reply> = {}): Reply {
  return {
    model: "m",
    round: "r",
    thinking: "",
    thinkingMs: null,
    status: "done",
    finish: "stop",
    error: null,
    figures: null,
    ...changes,
  };
}

/** A reply to the message `q`. */
export function exampleReplyMessage(
  changes: Partial<Omit<ReplyMessage, "reply">> = {},
  reply: Partial<Reply> = {},
): ReplyMessage {
  return {
    role: "assistant",
    id: "a",
    conversationId: "c",
    parentId: "q",
    createdAt: 3,
    text: "",
    ...changes,
    reply: exampleReply(reply),
  };
}
