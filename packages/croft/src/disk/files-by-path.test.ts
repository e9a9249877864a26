import { expect, test, vi } from 'vitest';
import { describeFiles } from '../../test/contracts/files.ts';
import { openOnDisk } from '../../test/disk-ground.ts';
import { addon } from './addon.ts';

// As where nothing could be compiled.
vi.mock('./addon.ts', () => ({ addon: undefined }));

describeFiles('disk, without the addon', async () => {
  const opened = openOnDisk();
  return { ...opened, [Symbol.asyncDispose]: async () => opened[Symbol.dispose]() };
});

test('it really is without', () => expect(addon).toBeUndefined());
