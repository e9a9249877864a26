import { readFileSync } from 'node:fs';
import type { Files } from '../../src/core/files.ts';
import { sha256 } from '../../src/lib/sha256.ts';
import { type Ground, manifest, type Tree } from './ground.ts';

/** What a server has, and what a workspace gets of it. */
export const server: Tree = {
  'skills/pdf/SKILL.md': '# PDF\n',
  'skills/pdf/bin/fill': { run: '#!/bin/sh\necho fill\n' },
  'skills/pdf/deep/er/notes.txt': 'notes\n',
  'skills/no-skill/README.md': 'not brought',
  'skills/README.md': 'not brought',
  'more/deploy/SKILL.md': '# Deploy\n',
  'more/pdf/SKILL.md': '# another PDF\n',
  'agents/review.md': '---\nname: review\n---\nReview.\n',
  'agents/notes.txt': 'not brought',
  'agents/below/x.md': 'not brought',
};
export const brought = {
  '.agents/review.md': '---\nname: review\n---\nReview.\n',
  '.skills/deploy/SKILL.md': '# Deploy\n',
  '.skills/pdf/SKILL.md': '# PDF\n',
  '.skills/pdf/bin/fill': { run: '#!/bin/sh\necho fill\n' },
  '.skills/pdf/deep/er/notes.txt': 'notes\n',
};
export const nothingDone = { written: [], removed: [], conflicts: [] };

export function manifestOf(ground: Ground, directory = '.skills'): string {
  return readFileSync(ground.at(`work/${directory}/${manifest}`), 'utf8');
}

export function claim(files: Record<string, string>): string {
  const listed = Object.entries(files).map(([path, text]) => ({
    ...{ path, hashes: [/^[0-9a-f]{64}$/.test(text) ? text : sha256(Buffer.from(text))], isExecutable: false },
  }));
  return JSON.stringify({ version: 1, files: listed });
}

/** Nothing may be changed. */
export function refusing(files: Files): Files {
  const refuse = (path: string) => Promise.reject(new Error(`${path} is changed`));
  return { ...files, write: refuse, remove: refuse, rename: refuse };
}
