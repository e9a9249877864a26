import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createKeyedLock } from '../../../lib/concurrency/keyed-lock.ts';
import { createSharedCapture } from './shared-capture.ts';

/** A tree that others change, and a record of who captured what. */
function makeTree() {
  const lock = createKeyedLock();
  const captures: { owner: string; saw: string }[] = [];
  let content = 'first';
  let goOn = () => {};
  const share = createSharedCapture<string>({
    exclusively: (work) => lock.run('', work),
    async capture(owner) {
      const saw = content;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      captures.push({ owner, saw });
      return true;
    },
  });
  const passed: string[] = [];
  const turn = (name: string, needsLook = true) =>
    share({ needsCapture: () => needsLook, owner: () => name, proceed: () => passed.push(name) });
  return { looks: captures, passed, turn, lock, write: (text: string) => (content = text), goOn: () => goOn() };
}

test('a capture that is in progress does not serve a caller that arrives during it, whose changes it may miss', async () => {
  const tree = makeTree();
  const first = tree.turn('a');
  await setImmediate();
  tree.write('changed by b');
  const second = tree.turn('b');
  tree.goOn();
  await first;
  expect(tree.passed).toEqual(['a']);
  await setImmediate();
  tree.goOn();
  await second;
  expect(tree.looks).toEqual([
    { owner: 'a', saw: 'first' },
    { owner: 'b', saw: 'changed by b' },
  ]);
});

test('one capture serves all waiting callers in order of arrival, and its changes belong to the first', async () => {
  const tree = makeTree();
  const gate = Promise.withResolvers<void>();
  const held = tree.lock.run('', () => gate.promise);
  const all = [tree.turn('no look', false), tree.turn('a'), tree.turn('b'), tree.turn('c', false)];
  gate.resolve();
  await held;
  await setImmediate();
  tree.goOn();
  await Promise.all(all);
  expect(tree.looks).toEqual([{ owner: 'a', saw: 'first' }]);
  expect(tree.passed).toEqual(['no look', 'a', 'b', 'c']);
});

test('callers that need no capture pass without one, and leave no state', async () => {
  const tree = makeTree();
  await tree.turn('a', false);
  await tree.turn('b', false);
  expect([tree.looks, tree.passed]).toEqual([[], ['a', 'b']]);
});
