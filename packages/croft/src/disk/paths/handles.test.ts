import { closeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { openDirectory, openRoot } from './handles.ts';

test('a missing directory is an error of the kernel, recognised by its system call', () => {
  using folder = makeDirectory({ file: '' });
  const root = openRoot(folder.path);
  try {
    const open = (name: string) => () => openDirectory(root, Buffer.from(name));
    expect(open('gone')).toThrow(expect.objectContaining({ code: 'ENOENT', syscall: 'open' }));
    expect(open('file')).toThrow(expect.objectContaining({ code: 'ENOTDIR', syscall: 'open' }));
  } finally {
    closeSync(root);
  }
});
