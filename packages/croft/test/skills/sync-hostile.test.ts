import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import { describe, expect, test } from 'vitest';
import { plantCanary } from '../support/canary.ts';
import { manifest, openFixture } from './fixture.ts';
import { claim, server, syncedTree } from './synced-skills.ts';

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

  test('cannot make a manifest remove files outside .skills or .agents', async () => {
    using fixture = openFixture({ ...server, 'work/src/main.ts': 'main', 'work/.agents/own.md': 'own' });
    fixture.plant({ [`work/.skills/${manifest}`]: claim(claims), 'work/.skills/.git/config': 'git' });
    fixture.plant({ [`work/.agents/${manifest}`]: claim({ ...claims, '../.skills/.git/config': 'git' }) });
    expect((await fixture.sync()).removed).toEqual([]);
    const kept = { 'src/main.ts': 'main', '.agents/own.md': 'own', '.skills/.git/config': 'git' };
    expect(fixture.tree()).toEqual({ ...syncedTree, ...kept });
  });

  test('keeps every file whose content differs from its claim', async () => {
    using fixture = openFixture({
      ...server,
      'work/.skills/mine/SKILL.md': 'mine',
      'work/.skills/pdf/SKILL.md': 'mine',
    });
    fixture.plant({ [`work/.skills/${manifest}`]: claim({ 'mine/SKILL.md': 'other', 'pdf/SKILL.md': 'other' }) });
    const { removed, conflicts } = await fixture.sync();
    expect(removed).toEqual([]);
    expect(conflicts.map(({ path }) => path).sort()).toEqual(['.skills/mine/SKILL.md', '.skills/pdf/SKILL.md']);
    expect(fixture.tree()).toMatchObject({ '.skills/mine/SKILL.md': 'mine', '.skills/pdf/SKILL.md': 'mine' });
  });

  test('cannot claim the agent of a person: the known hashes are compared too', async () => {
    using fixture = openFixture({ ...server, 'work/.agents/own.md': 'own' });
    const bytes = Buffer.from(claim({ 'own.md': 'own' }));
    await expect(fixture.files.write(`.agents/${manifest}`, bytes)).rejects.toMatchObject({ code: 'E_CONTROL_FILE' });
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
  ])('has a manifest that is %s ignored', async (_, text) => {
    using fixture = openFixture({
      ...server,
      'work/.skills/mine/SKILL.md': 'mine',
      [`work/.skills/${manifest}`]: text,
    });
    expect(await fixture.sync()).toMatchObject({ removed: [], conflicts: [] });
    expect(fixture.tree()).toEqual({ ...syncedTree, '.skills/mine/SKILL.md': 'mine' });
  });

  test('has a manifest that is a link refused, which ends the sync', async () => {
    using fixture = openFixture({ ...server, 'work/src/main.ts': claim({}) });
    mkdirSync(fixture.at('work/.skills'));
    symlinkSync('../src/main.ts', fixture.at(`work/.skills/${manifest}`));
    await expect(fixture.sync()).rejects.toMatchObject({ code: 'E_CONFLICT' });
    expect(readFileSync(fixture.at('work/src/main.ts'), 'utf8')).toBe(claim({}));
  });

  test.each(['.skills', '.skills/pdf', '.skills/pdf/bin', '.skills/pdf/SKILL.md', '.agents'])(
    'cannot redirect the sync by a link at %s',
    async (root) => {
      using fixture = openFixture({ ...server, 'work/src/SKILL.md': '# PDF\n', 'work/src/fill': 'mine' });
      const canary = plantCanary(fixture.at('work-evil'));
      await fixture.sync();
      for (const target of ['/src', '/../work-evil', '/nowhere']) {
        rmSync(fixture.at(`work/${root}`), { recursive: true, force: true });
        symlinkSync(fixture.at(`work${target}`), fixture.at(`work/${root}`));
        fixture.plant({ 'skills/pdf/SKILL.md': `# for ${target}\n`, 'agents/SKILL.md': 'x' });
        await fixture
          .sync()
          .catch((thrown) => expect(AppError.from(thrown).code).toMatch(/E_(CONFLICT|DANGLING|SANDBOX)/));
        expect(fixture.tree()).toMatchObject({ 'src/SKILL.md': '# PDF\n', 'src/fill': 'mine' });
        expect(Object.keys(fixture.tree()).filter((path) => path.startsWith('src/'))).toHaveLength(2);
      }
      expect(canary.changes()).toEqual([]);
    },
  );

  test('gets no write through a link, even to a file with the content of the server', async () => {
    using fixture = openFixture({ ...server, 'work/src/copy.md': '# PDF\n' });
    await fixture.sync();
    rmSync(fixture.at('work/.skills/pdf/SKILL.md'));
    symlinkSync('../../src/copy.md', fixture.at('work/.skills/pdf/SKILL.md'));
    fixture.plant({ 'skills/pdf/SKILL.md': '# PDF 2\n' });
    expect((await fixture.sync()).conflicts).toMatchObject([{ path: '.skills/pdf/SKILL.md' }]);
    expect(fixture.tree()).toMatchObject({ 'src/copy.md': '# PDF\n', '.skills/pdf/SKILL.md': '-> ../../src/copy.md' });
  });

  test('has a conflict for an entry that is not a file', async () => {
    using fixture = openFixture(server);
    mkdirSync(fixture.at('work/.skills/pdf/SKILL.md'), { recursive: true });
    mkdirSync(fixture.at('work/.skills/deploy'));
    writeFileSync(fixture.at('work/.skills/pdf/bin'), 'a file');
    const { conflicts } = await fixture.sync();
    expect(conflicts.map(({ path }) => path).sort()).toEqual(['.skills/pdf/SKILL.md', '.skills/pdf/bin/fill']);
    expect(fixture.tree()).toMatchObject({ '.skills/pdf/bin': 'a file', '.skills/deploy/SKILL.md': '# Deploy\n' });
  });
});

describe('the directories of the server', () => {
  test('copy nothing through links, and no control file', async () => {
    using fixture = openFixture({ ...server, 'secret/SKILL.md': 'secret', 'secret/key': 'secret' });
    fixture.plant({ 'skills/pdf/.git/config': 'x', 'skills/pdf/.vscode/x': 'x', 'skills/pdf/.mcp.json': '{}' });
    for (const [name, target] of [
      ...[['skills/linked', '../secret'] as const, ['skills/pdf/key', '../../secret/key'] as const],
      ...[['skills/pdf/all', '/etc'] as const, ['skills/pdf/in', 'SKILL.md'] as const],
      ...[['agents/key.md', '../secret/key'] as const, ['skills/pdf/loop', '.'] as const],
    ]) {
      symlinkSync(target, fixture.at(name));
    }
    mkdirSync(fixture.at('skills/outer'));
    symlinkSync('../../secret/SKILL.md', fixture.at('skills/outer/SKILL.md'));
    const { skipped } = await fixture.sync();
    expect(fixture.tree()).toEqual(syncedTree);
    const reported = skipped.map(({ path }) => path);
    expect(reported).toEqual(
      expect.arrayContaining(['linked', 'pdf/key', 'pdf/all', 'pdf/in', 'key.md', 'pdf/.mcp.json']),
    );
  });

  test('that are missing or unreadable remove nothing from a workspace', async () => {
    using fixture = openFixture(server);
    await fixture.sync();
    rmSync(fixture.at('more'), { recursive: true });
    await expect(fixture.sync()).rejects.toThrow('directory of skills or agents');
    writeFileSync(fixture.at('more'), '');
    await expect(fixture.sync()).rejects.toThrow('is not a directory');
    expect(fixture.tree()).toEqual(syncedTree);
  });

  test('have files over the size limit left out, and are copied not at all over the total limit', async () => {
    using fixture = openFixture(server);
    writeFileSync(fixture.at('skills/pdf/large.bin'), Buffer.alloc(8 * 1024 * 1024 + 1));
    expect((await fixture.sync()).skipped.map(({ path }) => path)).toContain('pdf/large.bin');
    expect(fixture.tree()).toEqual(syncedTree);
    for (let at = 0; at < 9; at++)
      writeFileSync(fixture.at(`skills/pdf/large${at}`), Buffer.alloc(8 * 1024 * 1024, at));
    await expect(fixture.sync()).rejects.toMatchObject({ code: 'E_TOO_LARGE' });
    for (let at = 0; at < 9; at++) rmSync(fixture.at(`skills/pdf/large${at}`));
    for (let at = 0; at < 2001; at++) writeFileSync(fixture.at(`skills/pdf/deep/${at}`), '');
    await expect(fixture.sync()).rejects.toMatchObject({ code: 'E_TOO_LARGE' });
    expect(fixture.tree()).toEqual(syncedTree);
  });
});
