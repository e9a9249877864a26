import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';

export const nextPage = defineTool({
  name: 'next_page',
  title: 'Read on in a long answer',
  description:
    'Show the part of a long answer that was left out, page by page, by the cursor that the answer names. Runs nothing again.',
  toolset: 'session',
  isEveryday: true,
  access: 'read',
  reach: 'none',
  input: z.object({
    cursor: z.string().min(1).max(100).describe('From the answer that was cut, or from the last page'),
  }),
  output: z.object({
    content: z.string(),
    left: z.int().describe('Characters after this page'),
    nextCursor: z.string().optional().describe('For the page after this one; absent at the end'),
  }),
  async run({ cursor }, { session }) {
    const { text: content, left, nextCursor } = session.pages.read(cursor);
    const note =
      nextCursor === undefined
        ? '(this was the end)'
        : `(${left} characters are left; go on with cursor "${nextCursor}")`;
    const text = `${content}${content.endsWith('\n') ? '' : '\n'}${note}\n`;
    return { text, structured: { content, left, ...(nextCursor !== undefined && { nextCursor }) } };
  },
});
