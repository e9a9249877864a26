import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import { describe, expect, test } from 'vitest';
import type { Files } from '../../src/core/files.ts';
import { sha256 } from '../../src/lib/sha256.ts';
import { plantCanary } from '../canary.ts';
import { type Ground, manifest, openGround, type Tree } from './ground.ts';

const server: Tree = {
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
const brought = {
  '.agents/review.md': '---\nname: review\n---\nReview.\n',
  '.skills/deploy/SKILL.md': '# Deploy\n',
  '.skills/pdf/SKILL.md': '# PDF\n',
  '.skills/pdf/bin/fill': { run: '#!/bin/sh\necho fill\n' },
  '.skills/pdf/deep/er/notes.txt': 'notes\n',
};
const nothingDone = { written: [], removed: [], conflicts: [] };

function manifestOf(ground: Ground, directory = '.skills'): string {
  return readFileSync(ground.at(`work/${directory}/${manifest}`), 'utf8');
}

function claim(files: Record<string, string>): string {
  const listed = Object.entries(files).map(([path, text]) => ({
    ...{ path, hashes: [/^[0-9a-f]{64}$/.test(text) ? text : sha256(Buffer.from(text))], isExecutable: false },
  }));
  return JSON.stringify({ version: 1, files: listed });
}

describe('a workspace gets', () => {
  test('the skills and agents of the server, with modes, and of two of one name the first', async () => {
    using ground = openGround(server);
    const report = await ground.sync();
    expect(ground.tree()).toEqual(brought);
    expect(report).toMatchObject({ written: Object.keys(brought).sort(bySkillsFirst), removed: [], conflicts: [] });
    expect(report.skipped).toEqual([{ path: 'pdf', reason: 'an earlier directory has one of that name' }]);
  });

  test('nothing a second time, and not one file is touched', async () => {
    using ground = openGround(server);
    await ground.sync();
    const before = [...Object.keys(brought), `.skills/${manifest}`].map(
      (path) => statSync(ground.at(`work/${path}`)).ino,
    );
    expect(await ground.sync(refusing(ground.files))).toMatchObject({ ...nothingDone, unchanged: 5 });
    const after = [...Object.keys(brought), `.skills/${manifest}`].map(
      (path) => statSync(ground.at(`work/${path}`)).ino,
    );
    expect(after).toEqual(before);
  });

  test('what changed, what is new, what can be run now or no longer, and loses what went away', async () => {
    using ground = openGround(server);
    await ground.sync();
    ground.plant({
      'skills/pdf/SKILL.md': '# PDF 2\n',
      'skills/pdf/deep': undefined,
      'skills/pdf/new.txt': 'new\n',
      'more/deploy/SKILL.md': { run: '# Deploy\n' },
      'agents/review.md': undefined,
      'agents/plan.md': 'plan\n',
    });
    chmodSync(ground.at('skills/pdf/bin/fill'), 0o644);
    const report = await ground.sync();
    expect(ground.tree()).toEqual({
      '.agents/plan.md': 'plan\n',
      '.skills/deploy/SKILL.md': { run: '# Deploy\n' },
      '.skills/pdf/SKILL.md': '# PDF 2\n',
      '.skills/pdf/bin/fill': '#!/bin/sh\necho fill\n',
      '.skills/pdf/new.txt': 'new\n',
    });
    expect(report).toMatchObject({ removed: ['.skills/pdf/deep/er/notes.txt', '.agents/review.md'], conflicts: [] });
    expect(existsSync(ground.at('work/.skills/pdf/deep'))).toBe(false);
    expect(await ground.sync(refusing(ground.files))).toMatchObject(nothingDone);
  });

  test('nothing at all where the server has nothing, and keeps nothing of what it had', async () => {
    using ground = openGround({ 'work/a.txt': 'a' });
    await ground.sync();
    expect(existsSync(ground.at('work/.skills')) || existsSync(ground.at('work/.agents'))).toBe(false);
    ground.plant(server);
    await ground.sync();
    ground.plant({
      'skills/pdf': undefined,
      'more/deploy': undefined,
      'more/pdf': undefined,
      'agents/review.md': undefined,
    });
    await ground.sync();
    expect(ground.tree()).toEqual({ 'a.txt': 'a' });
    expect(existsSync(ground.at(`work/.skills/${manifest}`))).toBe(false);
    expect(existsSync(ground.at(`work/.agents/${manifest}`))).toBe(false);
  });

  test('back what somebody took away', async () => {
    using ground = openGround(server);
    await ground.sync();
    rmSync(ground.at('work/.skills/pdf'), { recursive: true });
    expect((await ground.sync()).written).toHaveLength(3);
    expect(ground.tree()).toEqual(brought);
  });
});

describe('what is not the server’s', () => {
  const own = {
    'work/.skills/pdf/SKILL.md': 'mine',
    'work/.skills/mine/SKILL.md': 'mine',
    'work/.agents/own.md': 'mine',
  };

  test('stays, and what is in the way is told', async () => {
    using ground = openGround({ ...server, ...own });
    const { conflicts } = await ground.sync();
    expect(conflicts).toEqual([{ path: '.skills/pdf/SKILL.md', reason: 'there is another file of that name' }]);
    const kept = { '.agents/own.md': 'mine', '.skills/mine/SKILL.md': 'mine', '.skills/pdf/SKILL.md': 'mine' };
    expect(ground.tree()).toEqual({ ...brought, ...kept });
    ground.plant({ 'skills/pdf': undefined, 'more/pdf': undefined });
    await ground.sync();
    expect(ground.tree()).toMatchObject(kept);
  });

  test('stays though it holds the same, when the server has it no longer', async () => {
    using ground = openGround({ ...server, 'work/.skills/deploy/SKILL.md': '# Deploy\n' });
    expect(await ground.sync()).toMatchObject({ unchanged: 1, conflicts: [] });
    ground.plant({ 'more/deploy': undefined });
    expect(await ground.sync()).toMatchObject(nothingDone);
    expect(ground.tree()).toEqual(brought);
  });

  test('stays when it was the server’s and was changed: also when the server changes it, or takes it away', async () => {
    using ground = openGround(server);
    await ground.sync();
    ground.plant({ 'work/.skills/pdf/SKILL.md': 'edited', 'skills/pdf/SKILL.md': '# PDF 2\n' });
    expect((await ground.sync()).conflicts).toEqual([
      { path: '.skills/pdf/SKILL.md', reason: 'it was changed in the workspace' },
    ]);
    ground.plant({ 'skills/pdf/SKILL.md': '# PDF 3\n' });
    expect((await ground.sync()).conflicts).toHaveLength(1);
    ground.plant({ 'skills/pdf': undefined, 'more/pdf': undefined });
    expect((await ground.sync()).conflicts).toHaveLength(1);
    expect(ground.tree()).toMatchObject({ '.skills/pdf/SKILL.md': 'edited' });
    expect(ground.tree()).not.toHaveProperty('.skills/pdf/bin/fill');
  });
});

describe('a hostile workspace', () => {
  const claims: Record<string, string> = {
    '../src/main.ts': 'main',
    '../.agents/own.md': 'own',
    '/src/main.ts': 'main',
    './../src/main.ts': 'main',
    'x/../../src/main.ts': 'main',
    './': 'main',
    '.git/config': 'git',
    [manifest]: 'x',
    ['__proto__']: 'x',
  };

  test('cannot have anything outside .skills or .agents taken away by what it claims', async () => {
    using ground = openGround({ ...server, 'work/src/main.ts': 'main', 'work/.agents/own.md': 'own' });
    ground.plant({ [`work/.skills/${manifest}`]: claim(claims), 'work/.skills/.git/config': 'git' });
    ground.plant({ [`work/.agents/${manifest}`]: claim({ ...claims, '../.skills/.git/config': 'git' }) });
    expect((await ground.sync()).removed).toEqual([]);
    const kept = { 'src/main.ts': 'main', '.agents/own.md': 'own', '.skills/.git/config': 'git' };
    expect(ground.tree()).toEqual({ ...brought, ...kept });
  });

  test('loses nothing that does not hold what it claims', async () => {
    using ground = openGround({ ...server, 'work/.skills/mine/SKILL.md': 'mine', 'work/.skills/pdf/SKILL.md': 'mine' });
    ground.plant({ [`work/.skills/${manifest}`]: claim({ 'mine/SKILL.md': 'other', 'pdf/SKILL.md': 'other' }) });
    const { removed, conflicts } = await ground.sync();
    expect(removed).toEqual([]);
    expect(conflicts.map(({ path }) => path).sort()).toEqual(['.skills/mine/SKILL.md', '.skills/pdf/SKILL.md']);
    expect(ground.tree()).toMatchObject({ '.skills/mine/SKILL.md': 'mine', '.skills/pdf/SKILL.md': 'mine' });
  });

  test('an agent cannot claim an agent of a person: what is known of those is held with them', async () => {
    using ground = openGround({ ...server, 'work/.agents/own.md': 'own' });
    const bytes = Buffer.from(claim({ 'own.md': 'own' }));
    await expect(ground.files.write(`.agents/${manifest}`, bytes)).rejects.toMatchObject({ code: 'E_CONTROL_FILE' });
  });

  test.each([
    ['no JSON', '{'],
    ['another shape', '{"version":2,"files":[]}'],
    ['a hash that is none', '{"version":1,"files":[{"path":"mine/SKILL.md","hashes":["x"],"isExecutable":false}]}'],
    ['nesting without end', '['.repeat(100_000)],
    [
      'more entries than there can be',
      claim(Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`f${at}`, 'x']))),
    ],
  ])('a manifest that is %s says nothing', async (_, text) => {
    using ground = openGround({ ...server, 'work/.skills/mine/SKILL.md': 'mine', [`work/.skills/${manifest}`]: text });
    expect(await ground.sync()).toMatchObject({ removed: [], conflicts: [] });
    expect(ground.tree()).toEqual({ ...brought, '.skills/mine/SKILL.md': 'mine' });
  });

  test('a manifest that is a link is not written through, and ends the sync', async () => {
    using ground = openGround({ ...server, 'work/src/main.ts': claim({}) });
    mkdirSync(ground.at('work/.skills'));
    symlinkSync('../src/main.ts', ground.at(`work/.skills/${manifest}`));
    await expect(ground.sync()).rejects.toMatchObject({ code: 'E_CONFLICT' });
    expect(readFileSync(ground.at('work/src/main.ts'), 'utf8')).toBe(claim({}));
  });

  test.each(['.skills', '.skills/pdf', '.skills/pdf/bin', '.skills/pdf/SKILL.md', '.agents'])(
    'a link at %s leads nothing elsewhere',
    async (place) => {
      using ground = openGround({ ...server, 'work/src/SKILL.md': '# PDF\n', 'work/src/fill': 'mine' });
      const canary = plantCanary(ground.at('work-evil'));
      await ground.sync();
      for (const target of ['/src', '/../work-evil', '/nowhere']) {
        rmSync(ground.at(`work/${place}`), { recursive: true, force: true });
        symlinkSync(ground.at(`work${target}`), ground.at(`work/${place}`));
        ground.plant({ 'skills/pdf/SKILL.md': `# for ${target}\n`, 'agents/SKILL.md': 'x' });
        await ground
          .sync()
          .catch((thrown) => expect(AppError.from(thrown).code).toMatch(/E_(CONFLICT|DANGLING|SANDBOX)/));
        expect(ground.tree()).toMatchObject({ 'src/SKILL.md': '# PDF\n', 'src/fill': 'mine' });
        expect(Object.keys(ground.tree()).filter((path) => path.startsWith('src/'))).toHaveLength(2);
      }
      expect(canary.changes()).toEqual([]);
    },
  );

  test('a link to a file that holds what the server wrote is not written through', async () => {
    using ground = openGround({ ...server, 'work/src/copy.md': '# PDF\n' });
    await ground.sync();
    rmSync(ground.at('work/.skills/pdf/SKILL.md'));
    symlinkSync('../../src/copy.md', ground.at('work/.skills/pdf/SKILL.md'));
    ground.plant({ 'skills/pdf/SKILL.md': '# PDF 2\n' });
    expect((await ground.sync()).conflicts).toMatchObject([{ path: '.skills/pdf/SKILL.md' }]);
    expect(ground.tree()).toMatchObject({ 'src/copy.md': '# PDF\n', '.skills/pdf/SKILL.md': '-> ../../src/copy.md' });
  });

  test('what is no file where one should be is a conflict', async () => {
    using ground = openGround(server);
    mkdirSync(ground.at('work/.skills/pdf/SKILL.md'), { recursive: true });
    mkdirSync(ground.at('work/.skills/deploy'));
    writeFileSync(ground.at('work/.skills/pdf/bin'), 'a file');
    const { conflicts } = await ground.sync();
    expect(conflicts.map(({ path }) => path).sort()).toEqual(['.skills/pdf/SKILL.md', '.skills/pdf/bin/fill']);
    expect(ground.tree()).toMatchObject({ '.skills/pdf/bin': 'a file', '.skills/deploy/SKILL.md': '# Deploy\n' });
  });
});

describe('the server’s directories', () => {
  test('bring nothing by links, out or in, and nothing that steers programs', async () => {
    using ground = openGround({ ...server, 'secret/SKILL.md': 'secret', 'secret/key': 'secret' });
    ground.plant({ 'skills/pdf/.git/config': 'x', 'skills/pdf/.envrc': 'x', 'skills/pdf/.mcp.json': '{}' });
    for (const [name, target] of [
      ...[['skills/linked', '../secret'] as const, ['skills/pdf/key', '../../secret/key'] as const],
      ...[['skills/pdf/all', '/etc'] as const, ['skills/pdf/in', 'SKILL.md'] as const],
      ...[['agents/key.md', '../secret/key'] as const, ['skills/pdf/loop', '.'] as const],
    ]) {
      symlinkSync(target, ground.at(name));
    }
    mkdirSync(ground.at('skills/outer'));
    symlinkSync('../../secret/SKILL.md', ground.at('skills/outer/SKILL.md'));
    const { skipped } = await ground.sync();
    expect(ground.tree()).toEqual(brought);
    const told = skipped.map(({ path }) => path);
    expect(told).toEqual(expect.arrayContaining(['linked', 'pdf/key', 'pdf/all', 'pdf/in', 'key.md', 'pdf/.envrc']));
  });

  test('that go away, or cannot be read, take nothing away from a workspace', async () => {
    using ground = openGround(server);
    await ground.sync();
    rmSync(ground.at('more'), { recursive: true });
    await expect(ground.sync()).rejects.toThrow('directory of skills or agents');
    writeFileSync(ground.at('more'), '');
    await expect(ground.sync()).rejects.toThrow('is not a directory');
    expect(ground.tree()).toEqual(brought);
  });

  test('leave out a file that is too large, and bring nothing of too many or too much', async () => {
    using ground = openGround(server);
    writeFileSync(ground.at('skills/pdf/large.bin'), Buffer.alloc(8 * 1024 * 1024 + 1));
    expect((await ground.sync()).skipped.map(({ path }) => path)).toContain('pdf/large.bin');
    expect(ground.tree()).toEqual(brought);
    for (let at = 0; at < 9; at++) writeFileSync(ground.at(`skills/pdf/large${at}`), Buffer.alloc(8 * 1024 * 1024, at));
    await expect(ground.sync()).rejects.toMatchObject({ code: 'E_TOO_LARGE' });
    for (let at = 0; at < 9; at++) rmSync(ground.at(`skills/pdf/large${at}`));
    for (let at = 0; at < 2001; at++) writeFileSync(ground.at(`skills/pdf/deep/${at}`), '');
    await expect(ground.sync()).rejects.toMatchObject({ code: 'E_TOO_LARGE' });
    expect(ground.tree()).toEqual(brought);
  });
});

describe('a sync that is cut short', () => {
  const later: Tree = {
    'skills/pdf/SKILL.md': '# PDF 2\n',
    'skills/pdf/bin/fill': { run: 'echo 2\n' },
    'skills/pdf/deep': undefined,
    'more/deploy': undefined,
    'more/new/SKILL.md': '# New\n',
    'agents/review.md': 'changed\n',
  };
  const after = {
    '.agents/review.md': 'changed\n',
    '.skills/new/SKILL.md': '# New\n',
    '.skills/pdf/SKILL.md': '# PDF 2\n',
    '.skills/pdf/bin/fill': { run: 'echo 2\n' },
  };

  test('at any step is finished by the next', async () => {
    let [failing, isReached] = [0, true];
    while (isReached) {
      failing += 1;
      using ground = openGround(server);
      const first = failingAt(ground.files, failing);
      await ground.sync(first.files).catch(() => {});
      ground.plant(later);
      const second = failingAt(ground.files, failing);
      await ground.sync(second.files).catch(() => {});
      expect(await ground.sync()).toMatchObject({ conflicts: [] });
      expect(ground.tree()).toEqual(after);
      expect(await ground.sync(refusing(ground.files))).toMatchObject({ ...nothingDone, unchanged: 4 });
      isReached = Math.max(first.steps(), second.steps()) >= failing;
    }
    expect(failing).toBeGreaterThan(9);
  });

  test('by its caller ends', async () => {
    using ground = openGround(server);
    const asked = new AbortController();
    const files = { ...ground.files, write: cutAfter(ground.files.write, () => asked.abort()) };
    await expect(ground.sync(files, asked.signal)).rejects.toThrow();
    expect(Object.keys(ground.tree()).length).toBeLessThan(5);
    await ground.sync();
    expect(ground.tree()).toEqual(brought);
  });

  test('by others at the same work ends as if there were none', async () => {
    using ground = openGround(server);
    const reports = await Promise.all(Array.from({ length: 4 }, () => ground.sync()));
    expect(reports.flatMap(({ conflicts }) => conflicts)).toEqual([]);
    expect(ground.tree()).toEqual(brought);
    expect(await ground.sync(refusing(ground.files))).toMatchObject({ ...nothingDone, unchanged: 5 });
    ground.plant({ 'skills/pdf': undefined, 'more/pdf': undefined, 'agents/review.md': 'changed' });
    await Promise.all(Array.from({ length: 4 }, () => ground.sync()));
    expect(ground.tree()).toEqual({ '.agents/review.md': 'changed', '.skills/deploy/SKILL.md': '# Deploy\n' });
  });

  test('by others who write at the same time loses nothing of theirs', async () => {
    using ground = openGround(server);
    let isFirst = true;
    const files: Files = {
      ...ground.files,
      async write(path, bytes, options) {
        if (path.endsWith('/SKILL.md') && isFirst) {
          isFirst = false;
          await ground.files.write(path, Buffer.from('theirs'));
        }
        return ground.files.write(path, bytes, options);
      },
    };
    expect((await ground.sync(files)).conflicts).toHaveLength(1);
    expect(Object.values(ground.tree())).toContain('theirs');
    expect(manifestOf(ground)).toContain('pdf/bin/fill');
  });
});

function bySkillsFirst(a: string, b: string): number {
  return Number(a.startsWith('.agents')) - Number(b.startsWith('.agents')) || (a < b ? -1 : 1);
}

/** Nothing may be changed. */
function refusing(files: Files): Files {
  const refuse = (path: string) => Promise.reject(new Error(`${path} is changed`));
  return { ...files, write: refuse, remove: refuse, rename: refuse };
}

/** From that change on nothing works any more, as when the program is killed before it. */
function failingAt(files: Files, failing: number) {
  let steps = 0;
  const step = () => {
    steps += 1;
    if (steps >= failing) throw new Error('killed');
  };
  return {
    steps: () => steps,
    files: {
      ...files,
      async write(...args: Parameters<Files['write']>) {
        step();
        return files.write(...args);
      },
      async remove(...args: Parameters<Files['remove']>) {
        step();
        return files.remove(...args);
      },
    },
  };
}

function cutAfter(write: Files['write'], cut: () => void): Files['write'] {
  return async (...args) => {
    const written = await write(...args);
    cut();
    return written;
  };
}
