import { expect, test, vi } from 'vitest';
import { describeFiles } from '../../test/contracts/files.ts';
import { openOnDisk } from '../../test/support/disk-fixture.ts';
import { addon } from './paths/native-addon.ts';

// Simulates that the addon could not be compiled.
vi.mock('./paths/native-addon.ts', () => ({ addon: undefined }));

describeFiles('disk, without the addon', async () => {
  const opened = openOnDisk();
  return { ...opened, [Symbol.asyncDispose]: async () => opened[Symbol.dispose]() };
});

test('the addon is absent in this test', () => expect(addon).toBeUndefined());
