import { existsSync, lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { shellIn } from '../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../test/support/harness.ts';
import { openSandbox, operator } from '../../test/support/sandboxes/open-sandbox.ts';
import { createBubblewrap } from '../providers/bubblewrap/provider.ts';
import { createEtcCopy, visibleEtcEntries } from './etc-copy.ts';

const waiting = { interval: 20 };

async function copied(find: () => string | undefined): Promise<string> {
  return vi.waitFor(() => {
    const directory = find();
    if (directory === undefined) throw new Error('not there yet');
    return directory;
  }, waiting);
}

test('the copy is made at the second use, and again after a change', async () => {
  using source = makeDirectory({ 'd/one': '1', file: 'old', passwd: 'x' });
  symlinkSync('one', source.at('d/link'));
  symlinkSync('file', source.at('linked'));
  const settings = new Map(['d', 'file', 'linked', 'passwd', 'missing'].map((name) => [name, source.at(name)]));
  const find = createEtcCopy(settings);
  expect(find()).toBeUndefined();
  const first = await copied(find);
  expect(readFileSync(`${first}/file`, 'utf8')).toBe('old');
  expect(readlinkSync(`${first}/d/link`)).toBe('one');
  expect(lstatSync(`${first}/linked`).isFile()).toBe(true);
  expect(existsSync(`${first}/missing`)).toBe(false);
  expect(find()).toBe(first);

  writeFileSync(source.at('file'), 'newer');
  expect(find()).toBeUndefined();
  const second = await copied(find);
  expect(readFileSync(`${second}/file`, 'utf8')).toBe('newer');
  await vi.waitFor(() => expect(existsSync(first)).toBe(false), waiting);
});

test('programs see the same /etc with the copy as without', async () => {
  using fixture = makeDirectory();
  const provider = createBubblewrap(operator);
  const listing =
    'cd /etc; find . -type f -o -type l | sort | xargs ls -lH 2>/dev/null | wc -l; md5sum $(find . -type f | sort) | md5sum; touch x 2>&1';
  const before = await shellIn(await openSandbox(fixture.path, { provider }), listing);
  const mounts = async () =>
    shellIn(await openSandbox(fixture.path, { provider }), 'grep -c " /etc" /proc/self/mounts');
  await vi.waitFor(async () => expect((await mounts()).stdout).toBe('1\n'), waiting);
  const after = await shellIn(await openSandbox(fixture.path, { provider }), listing);
  expect(after.stdout).toBe(before.stdout);
  expect(after.stdout).toContain('Read-only file system');
  expect(visibleEtcEntries.has('shadow')).toBe(false);
});
