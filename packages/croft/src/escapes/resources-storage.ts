import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Escape, ScriptResult } from './escape.ts';
import { whileProbingNeighbour } from './probe-neighbour-under-load.ts';
import { type Problem, toVerdict } from './to-verdict.ts';

const megabyte = 1024 * 1024;

/** Attempts to use memory and disk beyond the limits. */
export const resourcesStorage: readonly Escape[] = [
  {
    id: 'G92',
    title: 'memory hidden in /tmp, /dev/shm and the home',
    guards: ['limits'],
    async attempt(fixture) {
      const limits = { memoryBytes: 64 * megabyte, diskBytes: 64 * megabyte };
      const [own, other] = [await fixture.open({ limits }), await fixture.open({})];
      const directories = ['/tmp', '/dev/shm', '$HOME'];
      const fill = directories.map((directory) => `head -c ${40 * megabyte} /dev/zero > ${directory}/fill`).join('; ');
      // The limit may end the whole sandbox, and with it what was stored there.
      const { problems } = await whileProbingNeighbour(other, () => own.call('bash', { command: fill }));
      const command = `du -cm ${directories.map((directory) => `${directory}/fill`).join(' ')} 2>/dev/null | tail -1`;
      const { structured } = await own.call('bash', { command });
      const filled = Number.parseInt(String(structured.output), 10) || 0;
      return toVerdict(problems, filled > 64 && `${filled} MB of memory were had`);
    },
  },
  {
    id: 'G92b',
    title: 'a /tmp without a bottom',
    guards: ['limits'],
    async attempt(fixture) {
      const own = await fixture.open({ limits: { diskBytes: 16 * megabyte } });
      const { output } = await own.run(`head -c ${40 * megabyte} /dev/zero > /tmp/fill; stat -c %s /tmp/fill`);
      return toVerdict(output.includes(String(40 * megabyte)) && 'more than it may have is in /tmp');
    },
  },
  {
    id: 'G93',
    title: 'a disk that fills up',
    guards: ['limits'],
    async attempt(fixture) {
      const limits = { diskBytes: 32 * megabyte };
      const [own, other] = [await fixture.open({ limits }), await fixture.open({})];
      const fill = `for i in {1..24}; do head -c ${4 * megabyte} /dev/zero > fill$i; sleep 0.1; done; echo all of it`;
      const { result, problems } = await whileProbingNeighbour(other, () => own.run(fill));
      const after = await own.run('rm -f fill*; echo again');
      return toVerdict(problems, judgeFill(result, 'disk'), after.output !== 'again\n' && 'nothing can be cleaned up');
    },
  },
  {
    id: 'G93b',
    title: 'a file of a terabyte that is not there',
    guards: ['limits'],
    async attempt(fixture) {
      const own = await fixture.open({ limits: { fileBytes: 16 * megabyte } });
      await own.run(`truncate -s 1T huge; truncate -s ${32 * megabyte} large; fallocate -l ${32 * megabyte} reserved
        dd if=/dev/zero of=far bs=1 count=1 seek=${32 * megabyte}; dd if=/dev/zero of=/tmp/far bs=1 count=1 seek=1T`);
      const sizes = ['huge', 'large', 'reserved', 'far'].map(
        (name) => [name, sizeOf(join(own.workspace, name))] as const,
      );
      return toVerdict(sizes.map(([name, size]) => size > 16 * megabyte && `${name} has ${size} bytes`));
    },
  },
  {
    id: 'G93c',
    title: 'a flood of empty files',
    guards: ['limits'],
    async attempt(fixture) {
      const [own, other] = [await fixture.open({ limits: { diskBytes: 8 * megabyte } }), await fixture.open({})];
      const flood = 'for i in {1..30}; do touch f$i-{1..200}; sleep 0.08; done; echo all of it';
      const { result, problems } = await whileProbingNeighbour(other, () => own.run(flood));
      return toVerdict(problems, judgeFill(result, 'files'));
    },
  },
  {
    id: 'G93d',
    title: 'disk space taken at once, by a file without a name, and in a closed directory',
    guards: ['limits'],
    async attempt(fixture) {
      const size = 64 * megabyte;
      const ways = [
        `fallocate -l ${size} fill 2>/dev/null || head -c ${size} /dev/zero > fill`,
        `exec 3>fill; rm fill; head -c ${size} /dev/zero >&3`,
        `mkdir shut; head -c ${size} /dev/zero > shut/fill; chmod 0 shut`,
        `for i in 1 2 3; do head -c ${size / 4} /dev/zero > fill$i; touch -d 2001-01-01 fill$i; done`,
      ];
      // Space freed elsewhere at the same moment can hide the first write, but not the following ones.
      const more = `for i in {1..24}; do head -c ${megabyte} /dev/zero >> more; sleep 0.1; done`;
      const problems: Problem[] = [];
      for (const way of ways) {
        const own = await fixture.open({ limits: { diskBytes: 32 * megabyte } });
        problems.push(...judgeFill(await own.run(`${way}; ${more}; echo all of it`), 'disk'));
        if (problems.some(Boolean)) break;
      }
      return toVerdict(problems);
    },
  },
  {
    id: 'G93e',
    title: 'so many directories to hold that no sandbox opens, and nobody can clean up',
    guards: ['limits'],
    async attempt(fixture) {
      const own = await fixture.open({});
      await own.run('mkdir shut{1..4200}; chmod 0 shut*');
      await own.reopen();
      const written = await own.call('write', { file_path: 'new', content: 'new' });
      const cleaned = await own.call('bash', { command: 'rmdir shut4* 2>/dev/null; ls -d shut4* | wc -l' });
      return toVerdict(
        written.isError && `nothing can be written any more: ${written.text}`,
        cleaned.isError && `no sandbox opens any more: ${cleaned.text}`,
        !(Number(cleaned.structured.output) < 300) && 'nothing can be cleaned up',
      );
    },
  },
];

function judgeFill({ output, denials }: ScriptResult, rule: string): Problem[] {
  if (output.includes('all of it')) return ['more was written than it may have'];
  return [!denials.some((denial) => denial.rule === rule) && 'no denial says why it ended'];
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
