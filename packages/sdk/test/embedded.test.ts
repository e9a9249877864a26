import { createCroft } from 'croft';
import { describe, expect, test } from 'vitest';
import { makeDirectory } from '../../croft/test/support/harness.ts';
import { testBoxes } from './suite/box-suite.ts';

describe('boxes inside this program, without a port', () => {
  testBoxes(async () => {
    const data = makeDirectory();
    const croft = await createCroft({ data: data.path });
    return {
      croft,
      teach: () => {},
      async [Symbol.asyncDispose]() {
        await croft[Symbol.asyncDispose]();
        data[Symbol.dispose]();
      },
    };
  });
});

test('the files of a workspace are there again in the next program, and one program at a time has them', async () => {
  using data = makeDirectory();
  {
    await using croft = await createCroft({ data: data.path });
    await using box = await croft.open('notes');
    await box.files.write('a.txt', 'kept');
    await expect(createCroft({ data: data.path })).rejects.toThrow('is served by');
  }
  await using again = await createCroft({ data: data.path });
  await using box = await again.open('notes', { create: false });
  expect(await box.files.read('a.txt')).toBe('kept');
});
