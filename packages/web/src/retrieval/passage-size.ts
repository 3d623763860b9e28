// How long passages are, and how many a question has.

/**
 * Length of a passage in bytes of UTF-8, whose number follows that of tokens in all alphabets better than the number of characters does.
 * About 250 tokens of English: few enough for small embedding models, which read 512, and for several passages in a small context.
 */
export const passageBytesMax = 1_000;

/** How much of the end of a passage the next one repeats at most, so that a thought at the border is whole in one of them. */
export const overlapBytesMax = 150;

/** Increment it when texts are split in another way: kept vectors are those of other passages then. */
export const splitVersion = 1;

/** About eight passages: enough to answer most questions from, and seconds of computing on a processor. */
const passageTokensMax = 2_048;

/** In a small context, passages leave most of it to the chat and the reply. */
const passagesShare = 0.25;

/** How many tokens the passages of one question may have together. */
export function passagesBudget(contextLength: number | null): number {
  return contextLength === null
    ? passageTokensMax
    : Math.min(passageTokensMax, Math.floor(contextLength * passagesShare));
}
