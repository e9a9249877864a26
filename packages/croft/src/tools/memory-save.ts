import { z } from 'zod';
import { mustHaveNoMark } from '../core/content/edit/restore-secrets.ts';
import { saveMemory } from '../core/harness/memory.ts';
import { renderEntry } from '../core/harness/memory-entries.ts';
import { defineTool } from '../core/tools/tool.ts';

export const memorySave = defineTool({
  name: 'memory_save',
  title: 'Remember',
  description:
    'Add something to MEMORY.md that should still be known in later sessions: a fact, a decision, a preference. ' +
    'It replaces the entry with the same title. Entries that others add at the same time are kept.',
  toolset: 'skills',
  isEveryday: true,
  access: 'write',
  reach: 'one',
  isHarness: true,
  input: z.object({
    title: z.string().trim().min(1).max(200).describe('A few words to find it by'),
    content: z.string().trim().min(1).max(16_000).describe('The text to remember'),
  }),
  output: z.object({
    path: z.string(),
    bytes: z.int().describe('How large the file is now'),
    replaced: z.boolean().describe('Whether something was saved under this title before'),
  }),
  async preview({ title, content }, { secrets }) {
    const entry = renderEntry(title, content);
    mustHaveNoMark(entry, 'MEMORY.md', secrets.marks);
    return `add to MEMORY.md, in place of what is there under this title\n\n${entry}`;
  },
  async run({ title, content }, { workspace, secrets }) {
    mustHaveNoMark(renderEntry(title, content), 'MEMORY.md', secrets.marks);
    const saved = await saveMemory(workspace.files, title, content);
    const note = saved.replaced ? ', in place of what was there under this title' : '';
    return { text: `saved to ${saved.path}${note}`, structured: { ...saved } };
  },
});
