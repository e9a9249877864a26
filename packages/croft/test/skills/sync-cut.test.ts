import { describe, expect, test } from 'vitest';
import type { Files } from '../../src/core/files.ts';
import { brought, manifestOf, nothingDone, refusing, server } from './brought.ts';
import { openGround, type Tree } from './ground.ts';

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

  test('by another who brings the same between two looks finds it in place', async () => {
    using ground = openGround(server);
    // What it will bring is said already, and nothing of it is there.
    await ground.sync(failingAt(ground.files, 2).files).catch(() => {});
    let isFirst = true;
    const files: Files = {
      ...ground.files,
      async version(path) {
        const found = await ground.files.version(path);
        if (isFirst) {
          isFirst = false;
          await ground.sync();
        }
        return found;
      },
    };
    expect(await ground.sync(files)).toMatchObject({ conflicts: [] });
    expect(ground.tree()).toEqual(brought);
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
