// A conversation as the engine takes it: who said what. The model's own chat template writes it out.
import { z } from "zod";

export const Message = z
  .object({
    /** `system`, `user`, `assistant` or another role that the model's template knows. */
    role: z.string().min(1).max(64),
    content: z.string(),
  })
  .meta({ id: "Message" });
export type Message = z.infer<typeof Message>;
