// The responses that /v1/responses keeps between requests: stored ones, and those being generated in the background.
import {
  inputItems,
  messagesMax,
  type ResponseObject,
  type ResponsesRequest,
  type StoredItem,
} from "@ingle/protocol";
import type { FastifyRequest } from "fastify";
import type { RecordStore } from "../../../stored/record-store.ts";
import { WireError } from "../../../wire-error.ts";
import { Conversations } from "./conversations.ts";
import { isFinal, type BackgroundResponse } from "./background-response.ts";

/** A request with the stored items that come before its input. */
export type ContinuedRequest = ResponsesRequest & { earlier: readonly StoredItem[] };

/** A response with its input. */
interface ResponseRecord {
  response: ResponseObject;
  /** All of its input, including the items before the request's own. */
  input: StoredItem[];
  /** The events as text, by sequence number; only for a response that was generated in the background. */
  events?: readonly string[];
}

export class StoredResponses {
  readonly #store: RecordStore | undefined;
  readonly #running = new Map<string, BackgroundResponse>();

  /** Without a store, nothing is kept. */
  constructor(store: RecordStore | undefined) {
    this.#store = store;
  }

  get isOn(): boolean {
    return this.#store !== undefined;
  }

  /** Whether this request's response is to be stored. */
  keeps({ store }: Pick<ResponsesRequest, "store">): boolean {
    return store ?? this.isOn;
  }

  /** Throws `invalid_request` for a request that needs a store if there is none. */
  #assertCanServe({ store, background, previous_response_id, conversation }: ResponsesRequest): void {
    if (this.isOn) return;
    const asked = { store, background, previous_response_id, conversation };
    for (const [param, value] of Object.entries(asked)) {
      if (value !== undefined && value !== false)
        throw new WireError("invalid_request", `${param} needs stored responses, and ${isOff}`, { param });
    }
  }

  /**
   * The stored items that come before the request's input. Throws `invalid_request` for a response that cannot be continued, for
   * a request that needs a store if there is none, and for more items than a request may have; `not_found` for an unknown
   * conversation.
   */
  earlier(body: ResponsesRequest, request: FastifyRequest): readonly StoredItem[] {
    this.#assertCanServe(body);
    const { previous_response_id: previous, conversation, input } = body;
    const items =
      previous !== undefined
        ? this.#contextOf(previous, request)
        : conversation !== undefined
          ? this.#itemsOf(conversation, request)
          : [];
    const own = inputItems(input).length;
    if (items.length + own === 0)
      throw new WireError("invalid_request", "The conversation has no items yet: send input.", {
        param: "input",
      });
    if (items.length + own > messagesMax)
      throw new WireError(
        "invalid_request",
        `With its stored items, the input has more than ${messagesMax}.`,
        {
          param: "input",
        },
      );
    return items;
  }

  /** The input and the output of a response. */
  #contextOf(previous: string, request: FastifyRequest): readonly StoredItem[] {
    const param = "previous_response_id";
    const owner = request.owner;
    const text = this.#records.get(previous, owner);
    if (text === undefined)
      throw new WireError("invalid_request", `${param}: ${noSuchResponse(previous).message}`, { param });
    request.holdMore(text.length);
    const { input, response } = parseRecord(text);
    if (response.status !== "completed" && response.status !== "incomplete") {
      const message = `${param}: that response is not complete, its status is ${response.status}.`;
      throw new WireError("invalid_request", message, { param });
    }
    return [...input, ...response.output];
  }

  #itemsOf(conversation: string, request: FastifyRequest): readonly StoredItem[] {
    const { items, bytes } = this.conversations.find(conversation, request.owner);
    request.holdMore(bytes);
    return items;
  }

  /** Throws `payload_too_large`. */
  put(record: ResponseRecord, owner: string): void {
    if (!this.#records.put({ id: record.response.id, owner, text: JSON.stringify(record) }))
      throw new WireError(
        "payload_too_large",
        "The response and its input are larger than the server's whole store; send store: false.",
      );
  }

  /** Throws `not_found`. */
  find(id: string, owner: string): ResponseRecord {
    const running = this.running(id, owner);
    const text = this.#records.get(id, owner);
    if (text === undefined && running === undefined) throw noSuchResponse(id);
    const record = text === undefined ? undefined : parseRecord(text);
    if (running !== undefined)
      return { input: record?.input ?? [], response: running.response, events: running.events };
    if (record === undefined) throw noSuchResponse(id);
    return isFinal(record.response.status) ? record : { ...record, response: lost(record.response) };
  }

  /** Throws `not_found`. */
  delete(id: string, owner: string): void {
    if (!this.#records.delete(id, owner)) throw noSuchResponse(id);
  }

  /** A response that is currently generated in the background. */
  running(id: string, owner: string): BackgroundResponse | undefined {
    const running = this.#running.get(id);
    return running?.owner === owner ? running : undefined;
  }

  /** Adds a response that is generated in the background; it is removed when it ends. */
  async follow(run: BackgroundResponse): Promise<void> {
    const { id } = run.response;
    this.#running.set(id, run);
    await run.ended;
    this.#running.delete(id);
  }

  /** Resolves when no response is being generated in the background. */
  async settled(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  /** Throws `not_found` without a store. */
  get conversations(): Conversations {
    return new Conversations(this.#records);
  }

  get #records(): RecordStore {
    if (this.#store === undefined) throw new WireError("not_found", `Nothing is stored: ${isOff}`);
    return this.#store;
  }
}

const isOff = "this server stores none (--response-store none).";

function noSuchResponse(id: string): WireError {
  const why = "it was never stored, was deleted, or made room for newer ones";
  return new WireError("not_found", `No response has the id ${JSON.stringify(id)}: ${why}.`);
}

/** The error of a response whose server stopped without ending it. */
function lost(response: ResponseObject): ResponseObject {
  const message = "The server stopped before the response was complete.";
  return { ...response, status: "failed", error: { code: "server_error", message } };
}

function parseRecord(text: string): ResponseRecord {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store has what `put` wrote
  return JSON.parse(text) as ResponseRecord;
}
