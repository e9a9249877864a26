import { lstatSync, readdirSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Escape } from './escape.ts';
import { verdict } from './verdict.ts';

/** What others of this machine could get at while a sandbox opens. */
export const pathsShared: readonly Escape[] = [
  {
    id: 'A22',
    title: 'a directory that everybody shares, where ours are made',
    guards: ['server'],
    async attempt(ground) {
      const open = new Map<string, number>();
      const watcher = watch(tmpdir(), (_, name) => {
        const path = join(tmpdir(), name ?? '');
        const stats = name?.startsWith('croft-proxy-') ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
        if (stats && (!stats.isDirectory() || (stats.mode & 0o077) !== 0)) open.set(path, stats.mode);
      });
      try {
        const network = { mode: 'restricted' as const, domains: ['example.com'], cidrs: [] };
        const rounds = await Promise.all([1, 2, 3].map(() => ground.open({ network })));
        const seen = await Promise.all(
          rounds.map(({ run }) => run('ls -d /tmp/croft-proxy-* /tmp/croft-etc-* 2>/dev/null; exit 0')),
        );
        const left = readdirSync(tmpdir()).filter((name) => name.startsWith(`croft-proxy-${process.pid}`));
        return verdict(
          [...open.keys()].map((path) => `${path} was open to others`),
          seen.map(({ output }) => output !== '' && `it shows what is there: ${output}`),
          left.map((name) => `${name} was left`),
        );
      } finally {
        watcher.close();
      }
    },
  },
];
