// Pages of files and batches, as OpenAI's clients read them.
import type { ListPage } from "../../../batches/batch-store.ts";

interface WireList<Item> {
  object: "list";
  data: Item[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

export function toList<Item extends { id: string }>({ items, hasMore }: ListPage<Item>): WireList<Item> {
  const [first_id = null, last_id = null] = [items[0]?.id, items.at(-1)?.id];
  return { object: "list", data: [...items], first_id, last_id, has_more: hasMore };
}
