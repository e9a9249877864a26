import { expect, test } from 'vitest';
import { examineStandIn } from '../../test/support/stand-in-host.ts';

test('a directory of temporary files of another user is reported, and without any directory agents cannot work', async () => {
  const path = '/tmp/croft-1000';
  const foreign = await examineStandIn({ temporaryFiles: { path, problem: 'it belongs to uid 7', hasOther: true } });
  expect(foreign.row('temporary files')).toMatchObject({
    state: 'weaker',
    found: expect.stringContaining('/tmp/croft-1000 is not used: it belongs to uid 7'),
    fix: { run: 'ls -ld /tmp/croft-1000; sudo rm -r /tmp/croft-1000' },
  });
  expect(foreign.isReady).toBe(true);
  const unsafe = await examineStandIn({ temporaryFiles: { path, problem: 'not safe', hasOther: false } });
  expect(unsafe.row('temporary files')).toMatchObject({ state: 'missing', found: 'not safe' });
  expect(unsafe.isReady).toBe(false);
});
