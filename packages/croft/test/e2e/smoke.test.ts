import { expect, test } from 'vitest';
import { connectHttp, connectStdio, eras, makeDirectory, startServer } from '../support/harness.ts';

test.each(eras)('a client of %s reads a file over stdio', async (era) => {
  using directory = makeDirectory({ 'a.txt': 'one\ntwo\n' });
  await using session = await connectStdio(['--workspace', directory.path], { era });
  expect(await session.call('read', { file_path: 'a.txt' })).toMatchObject({
    text: '1\tone\n2\ttwo\n',
    isError: false,
  });
});

test.each(eras)('a client of %s reads a file over HTTP', async (era) => {
  using directory = makeDirectory({ 'a.txt': 'one\ntwo\n' });
  await using server = await startServer(['--workspace', directory.path]);
  await using session = await connectHttp(server, { era });
  expect(await session.call('read', { file_path: 'a.txt' })).toMatchObject({
    text: '1\tone\n2\ttwo\n',
    isError: false,
  });
});
