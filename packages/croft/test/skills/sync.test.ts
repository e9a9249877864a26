import { chmodSync, existsSync, rmSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { brought, nothingDone, refusing, server } from './brought.ts';
import { manifest, openGround } from './ground.ts';

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

function bySkillsFirst(a: string, b: string): number {
  return Number(a.startsWith('.agents')) - Number(b.startsWith('.agents')) || (a < b ? -1 : 1);
}
