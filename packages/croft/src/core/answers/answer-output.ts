import { z } from 'zod';

/** Output fields that the toolbox, never a tool, may add to the structured content of every tool. */
export const answerOutput = {
  notices: z.array(z.string()).optional().describe('What else has to be known of this call; the text says it too'),
};

export const pageOutput = {
  nextCursor: z
    .string()
    .optional()
    .describe('A part was left out because the answer is long: next_page shows the whole text from here'),
};
