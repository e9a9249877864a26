import { z } from 'zod';
import { appendMemory } from '../core/harness/memory.ts';
import { defineTool } from '../core/tool.ts';

export const memorySave = defineTool({
  name: 'memory_save',
  title: 'Remember',
  description:
    'Add something to MEMORY.md that should still be known in later sessions: a fact, a decision, a preference. ' +
    'What others add at the same time is kept too.',
  access: 'write',
  reach: 'one',
  isHarness: true,
  input: z.object({
    title: z.string().trim().min(1).max(200).describe('A few words to find it by'),
    content: z.string().trim().min(1).max(16_000).describe('What to remember'),
  }),
  output: z.object({ path: z.string(), bytes: z.int().describe('How large the file is now') }),
  preview: async ({ title, content }) => `add to MEMORY.md\n\n${toEntry(title, content)}`,
  async run({ title, content }, { workspace }) {
    const { path, bytes } = await appendMemory(workspace.files, toEntry(title, content));
    return { text: `saved to ${path}`, structured: { path, bytes } };
  },
});

/** A title is one line, whatever was given. */
function toEntry(title: string, content: string): string {
  return `## ${title.replace(/\s+/g, ' ')}\n\n${content}`;
}
