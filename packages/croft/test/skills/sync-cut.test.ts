import { describe, expect, test } from 'vitest';
import type { Files } from '../../src/core/files/files.ts';
import { openFixture, type Tree } from './fixture.ts';
import { manifestOf, nothingDone, refusing, server, syncedTree } from './synced-skills.ts';

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
      using fixture = openFixture(server);
      const first = failingAt(fixture.files, failing);
      await fixture.sync(first.files).catch(() => {});
      fixture.plant(later);
      const second = failingAt(fixture.files, failing);
      await fixture.sync(second.files).catch(() => {});
      expect(await fixture.sync()).toMatchObject({ conflicts: [] });
      expect(fixture.tree()).toEqual(after);
      expect(await fixture.sync(refusing(fixture.files))).toMatchObject({ ...nothingDone, unchanged: 4 });
      isReached = Math.max(first.steps(), second.steps()) >= failing;
    }
    expect(failing).toBeGreaterThan(9);
  });

  test('by an abort of its caller ends', async () => {
    using fixture = openFixture(server);
    const asked = new AbortController();
    const files = { ...fixture.files, write: cutAfter(fixture.files.write, () => asked.abort()) };
    await expect(fixture.sync(files, asked.signal)).rejects.toThrow();
    expect(Object.keys(fixture.tree()).length).toBeLessThan(5);
    await fixture.sync();
    expect(fixture.tree()).toEqual(syncedTree);
  });

  test('by concurrent syncs ends with the same result', async () => {
    using fixture = openFixture(server);
    const reports = await Promise.all(Array.from({ length: 4 }, () => fixture.sync()));
    expect(reports.flatMap(({ conflicts }) => conflicts)).toEqual([]);
    expect(fixture.tree()).toEqual(syncedTree);
    expect(await fixture.sync(refusing(fixture.files))).toMatchObject({ ...nothingDone, unchanged: 5 });
    fixture.plant({ 'skills/pdf': undefined, 'more/pdf': undefined, 'agents/review.md': 'changed' });
    await Promise.all(Array.from({ length: 4 }, () => fixture.sync()));
    expect(fixture.tree()).toEqual({ '.agents/review.md': 'changed', '.skills/deploy/SKILL.md': '# Deploy\n' });
  });

  test('by another sync that writes the same file accepts that file', async () => {
    using fixture = openFixture(server);
    // The manifest already lists the files, and none of them exists.
    await fixture.sync(failingAt(fixture.files, 2).files).catch(() => {});
    let isFirst = true;
    const files: Files = {
      ...fixture.files,
      async version(path) {
        const found = await fixture.files.version(path);
        if (isFirst) {
          isFirst = false;
          await fixture.sync();
        }
        return found;
      },
    };
    expect(await fixture.sync(files)).toMatchObject({ conflicts: [] });
    expect(fixture.tree()).toEqual(syncedTree);
  });

  test('by concurrent writes of others loses none of those', async () => {
    using fixture = openFixture(server);
    let isFirst = true;
    const files: Files = {
      ...fixture.files,
      async write(path, bytes, options) {
        if (path.endsWith('/SKILL.md') && isFirst) {
          isFirst = false;
          await fixture.files.write(path, Buffer.from('theirs'));
        }
        return fixture.files.write(path, bytes, options);
      },
    };
    expect((await fixture.sync(files)).conflicts).toHaveLength(1);
    expect(Object.values(fixture.tree())).toContain('theirs');
    expect(manifestOf(fixture)).toContain('pdf/bin/fill');
  });
});

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
