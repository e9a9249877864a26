import { z } from 'zod';

/** Output fields that the toolbox, never a tool, may add to the structured content of every tool. */
export const answerOutput = {
  notices: z.array(z.string()).optional().describe('In the text too'),
};

export const pageOutput = {
  nextCursor: z.string().optional().describe('A part was left out: for next_page'),
};
