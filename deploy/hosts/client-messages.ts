// What a test and its client on another host say to each other.
import type { ChatMessage } from "@ingle/client";

/** A chat to be asked. Times of its outcome are milliseconds since it was sent. */
export interface ChatOrder {
  content: string;
  /** Messages before it, the oldest first. */
  history?: readonly ChatMessage[];
  maxTokens: number;
  isStream: boolean;
  /** Default: the client's own. */
  baseUrl?: string;
  /** Sent as x-session-id. Default: none. */
  session?: string;
  apiKey?: string;
  /** Of the client library. Default 0, so that nothing hides what the proxy does. */
  maxRetries?: number;
}

export interface ChatOutcome {
  /** The reply is whole: it has its reason to end and as many tokens as were asked for. */
  isWhole: boolean;
  isStream: boolean;
  /** What the client library threw: its name, code and message. */
  error: string | null;
  text: string;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  /** Milliseconds to the first piece; of a reply in one piece, to all of it. */
  firstMs: number;
  totalMs: number;
}

export interface HttpOrder {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  /** Sent as it is, or so many bytes of a JSON text. */
  body?: string | { bytes: number };
}

export interface HttpOutcome {
  status: number;
  headers: Record<string, string>;
  text: string;
}

export type Order = { id: number } & ({ chat: ChatOrder } | { http: HttpOrder });
export type Report =
  | { id: number; begun: true }
  | { id: number; chat: ChatOutcome }
  | { id: number; http: HttpOutcome }
  | { id: number; failure: string };
