// Items in the form in which they are stored and listed: as sent or generated, with ids, and texts as parts.
import type { ItemList, ItemsQuery, ResponsesInput, ResponsesInputItem, StoredItem } from "@ingle/protocol";
import { inputItems, itemsPageDefault } from "@ingle/protocol";
import { WireError } from "../../../wire-error.ts";

/** The prefixes of item ids; items of tools that only another service has begin with `item_`. */
const prefixes: Partial<Record<NonNullable<ResponsesInputItem["type"]>, string>> = {
  message: "msg_",
  function_call: "fc_",
  function_call_output: "fco_",
  custom_tool_call: "ctc_",
  custom_tool_call_output: "ctco_",
  reasoning: "rs_",
};

/** Ids that clients may choose and that work in paths. */
const plainId = /^[\w-]{1,64}$/;

/** The items of an input. An item keeps its id unless one of `others` has the same. */
export function toStoredItems(
  input: ResponsesInput | undefined,
  { newId, others = [] }: { newId: () => string; others?: readonly StoredItem[] },
): StoredItem[] {
  const taken = new Set(others.map(({ id }) => id));
  return inputItems(input).map((item) => {
    const type = item.type ?? "message";
    const given = item["id"];
    const isFree = typeof given === "string" && plainId.test(given) && !taken.has(given);
    const id = isFree ? given : `${prefixes[type] ?? "item_"}${newId()}`;
    taken.add(id);
    return { ...withParts(item), id };
  });
}

/** A message's text becomes its only part, because clients read the parts of messages. */
function withParts(item: ResponsesInputItem): ResponsesInputItem {
  if (item.type !== "message" && item.type !== undefined) return item;
  const { content, role } = item;
  if (typeof content !== "string") return { ...item, type: "message" };
  const type = role === "assistant" ? "output_text" : "input_text";
  return { ...item, type: "message", status: "completed", content: [{ type, text: content }] };
}

/** Throws `invalid_request` for an unknown `after`. */
export function itemsPage(
  items: readonly StoredItem[],
  { limit = itemsPageDefault, order = "desc", after }: ItemsQuery,
): ItemList {
  const ordered = order === "asc" ? items : items.toReversed();
  const before = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== undefined && before === -1)
    throw new WireError("invalid_request", "after must be the id of an item of this list.", {
      param: "after",
    });
  const data = ordered.slice(before + 1, before + 1 + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: before + 1 + limit < ordered.length,
  };
}
