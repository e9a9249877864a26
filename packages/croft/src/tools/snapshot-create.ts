import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveHistory } from '../core/workspace/must-have-history.ts';

export const snapshotCreate = defineTool({
  name: 'snapshot_create',
  title: 'Make a snapshot',
  description:
    'Save all files of the workspace, as they are now, under a name. No git repository is used or changed. ' +
    'Files that git ignores are left out unless asked for. The same name again replaces the snapshot.',
  toolset: 'history',
  access: 'write',
  keepsMore: true,
  leavesFiles: true,
  reach: 'one',
  idempotent: true,
  input: z.object({
    name: z.string().min(1).describe('Letters, digits, "_", "." and "-"'),
    description: z.string().max(2000).optional().describe('Its purpose'),
    include_ignored: z.boolean().default(false).describe('Also what git ignores, as node_modules; never a .git'),
  }),
  output: z.object({
    name: z.string(),
    hash: z.string().describe('Hash of the whole tree: the same files give the same hash'),
    createdAt: z.string(),
    files: z.int(),
    bytes: z.int(),
    replaced: z.boolean(),
    missed: z.array(z.string()).describe('Paths that could not be read, and whose current content it lacks'),
  }),
  async run({ name, description, include_ignored: includeIgnored }, { workspace, signal }) {
    const made = await mustHaveHistory(workspace).snapshot({ name, description, includeIgnored, signal });
    const { root: hash, createdAt, files, bytes, replaced = false } = made;
    const missed = (made.missed ?? []).map((path) => path.toWellFormed());
    const lines = [
      `snapshot ${name} created: ${hash}`,
      ...(replaced ? [`it replaces the snapshot that had this name`] : []),
      ...missed.map((path) => `not in it, because it could not be read: ${path}`),
    ];
    return { text: lines.join('\n'), structured: { name, hash, createdAt, files, bytes, replaced, missed } };
  },
});
