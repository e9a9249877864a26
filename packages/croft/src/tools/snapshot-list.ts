import { z } from 'zod';
import type { Snapshot } from '../core/history/ports/history.ts';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveHistory } from '../core/workspace/must-have-history.ts';

const shownHash = 12;

export const snapshotList = defineTool({
  name: 'snapshot_list',
  title: 'List snapshots',
  description:
    'List the snapshots of the workspace, newest first, with what tests and linters said of exactly that state. Those ' +
    'named before-… were made by Croft before it changed files, and go after a while.',
  toolset: 'history',
  access: 'read',
  reach: 'one',
  input: z.object({}),
  output: z.object({
    snapshots: z.array(
      z.object({
        name: z.string(),
        hash: z.string(),
        createdAt: z.string(),
        description: z.string(),
        files: z.int(),
        bytes: z.int(),
        includesIgnored: z.boolean(),
        isAutomatic: z.boolean(),
        checks: z.array(z.object({ tool: z.string(), project: z.string(), verdict: z.string(), at: z.string() })),
      }),
    ),
  }),
  async run(_input, { workspace }) {
    const snapshots = await mustHaveHistory(workspace).snapshots();
    const text = snapshots.length === 0 ? 'no snapshots' : snapshots.map(render).join('\n');
    return { text, structured: { snapshots: snapshots.map(toRow) } };
  },
});

function render({ name, root, createdAt, description, checks = [] }: Snapshot): string {
  const known = checks.map(({ tool, project, verdict }) => `${tool} ${project}: ${verdict}`).join(', ');
  const said = description.replaceAll(/\s+/g, ' ');
  return [name, root.slice(0, shownHash), createdAt, said, ...(known === '' ? [] : [known])].join('\t');
}

function toRow({ name, root, createdAt, description, files, bytes, includesIgnored, isAutomatic, checks }: Snapshot) {
  return {
    ...{ name, hash: root, createdAt, description, files, bytes, includesIgnored },
    ...{ isAutomatic: isAutomatic ?? false, checks: [...(checks ?? [])] },
  };
}
