import { readFileSync } from 'node:fs';
import type { Files } from '../../src/core/files/files.ts';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { manifest, type SkillsFixture, type Tree } from './fixture.ts';

/** The skills of a server, and what a workspace gets from them. */
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
export const syncedTree = {
  '.agents/review.md': '---\nname: review\n---\nReview.\n',
  '.skills/deploy/SKILL.md': '# Deploy\n',
  '.skills/pdf/SKILL.md': '# PDF\n',
  '.skills/pdf/bin/fill': { run: '#!/bin/sh\necho fill\n' },
  '.skills/pdf/deep/er/notes.txt': 'notes\n',
};
export const nothingDone = { written: [], removed: [], conflicts: [] };

export function manifestOf(fixture: SkillsFixture, directory = '.skills'): string {
  return readFileSync(fixture.at(`work/${directory}/${manifest}`), 'utf8');
}

export function claim(files: Record<string, string>): string {
  const listed = Object.entries(files).map(([path, text]) => ({
    ...{ path, hashes: [/^[0-9a-f]{64}$/.test(text) ? text : sha256(Buffer.from(text))], isExecutable: false },
  }));
  return JSON.stringify({ version: 1, files: listed });
}

/** Files that refuse every change. */
export function refusing(files: Files): Files {
  const refuse = (path: string) => Promise.reject(new Error(`${path} is changed`));
  return { ...files, write: refuse, remove: refuse, rename: refuse };
}
