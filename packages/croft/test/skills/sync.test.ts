import { chmodSync, existsSync, rmSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { manifest, openFixture } from './fixture.ts';
import { nothingDone, refusing, server, syncedTree } from './synced-skills.ts';

describe('a workspace gets', () => {
  test('the skills and agents of the server, with modes, and of two of one name the first', async () => {
    using fixture = openFixture(server);
    const report = await fixture.sync();
    expect(fixture.tree()).toEqual(syncedTree);
    expect(report).toMatchObject({ written: Object.keys(syncedTree).sort(bySkillsFirst), removed: [], conflicts: [] });
    expect(report.skipped).toEqual([{ path: 'pdf', reason: 'an earlier directory has one of that name' }]);
  });

  test('no change the second time, and not one file is touched', async () => {
    using fixture = openFixture(server);
    await fixture.sync();
    const before = [...Object.keys(syncedTree), `.skills/${manifest}`].map(
      (path) => statSync(fixture.at(`work/${path}`)).ino,
    );
    expect(await fixture.sync(refusing(fixture.files))).toMatchObject({ ...nothingDone, unchanged: 5 });
    const after = [...Object.keys(syncedTree), `.skills/${manifest}`].map(
      (path) => statSync(fixture.at(`work/${path}`)).ino,
    );
    expect(after).toEqual(before);
  });

  test('changed, new, executable and no longer executable files, and loses removed ones', async () => {
    using fixture = openFixture(server);
    await fixture.sync();
    fixture.plant({
      'skills/pdf/SKILL.md': '# PDF 2\n',
      'skills/pdf/deep': undefined,
      'skills/pdf/new.txt': 'new\n',
      'more/deploy/SKILL.md': { run: '# Deploy\n' },
      'agents/review.md': undefined,
      'agents/plan.md': 'plan\n',
    });
    chmodSync(fixture.at('skills/pdf/bin/fill'), 0o644);
    const report = await fixture.sync();
    expect(fixture.tree()).toEqual({
      '.agents/plan.md': 'plan\n',
      '.skills/deploy/SKILL.md': { run: '# Deploy\n' },
      '.skills/pdf/SKILL.md': '# PDF 2\n',
      '.skills/pdf/bin/fill': '#!/bin/sh\necho fill\n',
      '.skills/pdf/new.txt': 'new\n',
    });
    expect(report).toMatchObject({ removed: ['.skills/pdf/deep/er/notes.txt', '.agents/review.md'], conflicts: [] });
    expect(existsSync(fixture.at('work/.skills/pdf/deep'))).toBe(false);
    expect(await fixture.sync(refusing(fixture.files))).toMatchObject(nothingDone);
  });

  test('nothing if the server has none, and loses all earlier ones', async () => {
    using fixture = openFixture({ 'work/a.txt': 'a' });
    await fixture.sync();
    expect(existsSync(fixture.at('work/.skills')) || existsSync(fixture.at('work/.agents'))).toBe(false);
    fixture.plant(server);
    await fixture.sync();
    fixture.plant({
      'skills/pdf': undefined,
      'more/deploy': undefined,
      'more/pdf': undefined,
      'agents/review.md': undefined,
    });
    await fixture.sync();
    expect(fixture.tree()).toEqual({ 'a.txt': 'a' });
    expect(existsSync(fixture.at(`work/.skills/${manifest}`))).toBe(false);
    expect(existsSync(fixture.at(`work/.agents/${manifest}`))).toBe(false);
  });

  test('files back that somebody removed', async () => {
    using fixture = openFixture(server);
    await fixture.sync();
    rmSync(fixture.at('work/.skills/pdf'), { recursive: true });
    expect((await fixture.sync()).written).toHaveLength(3);
    expect(fixture.tree()).toEqual(syncedTree);
  });
});

describe('a file that is not from the server', () => {
  const own = {
    'work/.skills/pdf/SKILL.md': 'mine',
    'work/.skills/mine/SKILL.md': 'mine',
    'work/.agents/own.md': 'mine',
  };

  test('stays, and is reported if it is in the way', async () => {
    using fixture = openFixture({ ...server, ...own });
    const { conflicts } = await fixture.sync();
    expect(conflicts).toEqual([{ path: '.skills/pdf/SKILL.md', reason: 'there is another file of that name' }]);
    const kept = { '.agents/own.md': 'mine', '.skills/mine/SKILL.md': 'mine', '.skills/pdf/SKILL.md': 'mine' };
    expect(fixture.tree()).toEqual({ ...syncedTree, ...kept });
    fixture.plant({ 'skills/pdf': undefined, 'more/pdf': undefined });
    await fixture.sync();
    expect(fixture.tree()).toMatchObject(kept);
  });

  test('stays with the same content after the server removed its own', async () => {
    using fixture = openFixture({ ...server, 'work/.skills/deploy/SKILL.md': '# Deploy\n' });
    expect(await fixture.sync()).toMatchObject({ unchanged: 1, conflicts: [] });
    fixture.plant({ 'more/deploy': undefined });
    expect(await fixture.sync()).toMatchObject(nothingDone);
    expect(fixture.tree()).toEqual(syncedTree);
  });

  test('stays if it came from the server and was changed, also after the server changes or removes its own', async () => {
    using fixture = openFixture(server);
    await fixture.sync();
    fixture.plant({ 'work/.skills/pdf/SKILL.md': 'edited', 'skills/pdf/SKILL.md': '# PDF 2\n' });
    expect((await fixture.sync()).conflicts).toEqual([
      { path: '.skills/pdf/SKILL.md', reason: 'it was changed in the workspace' },
    ]);
    fixture.plant({ 'skills/pdf/SKILL.md': '# PDF 3\n' });
    expect((await fixture.sync()).conflicts).toHaveLength(1);
    fixture.plant({ 'skills/pdf': undefined, 'more/pdf': undefined });
    expect((await fixture.sync()).conflicts).toHaveLength(1);
    expect(fixture.tree()).toMatchObject({ '.skills/pdf/SKILL.md': 'edited' });
    expect(fixture.tree()).not.toHaveProperty('.skills/pdf/bin/fill');
  });
});

function bySkillsFirst(a: string, b: string): number {
  return Number(a.startsWith('.agents')) - Number(b.startsWith('.agents')) || (a < b ? -1 : 1);
}
