import { AppError } from '@croft/protocol';
import { expect, test, vi } from 'vitest';
import { type Dependency, startReadiness } from './readiness.ts';

function open(check: Dependency['check']) {
  const reported: string[] = [];
  const readiness = startReadiness({
    dependencies: [{ name: 'store', check }],
    deadlineMs: 50,
    onBegan: ({ dependency, reason }) => void reported.push(`began ${dependency}: ${reason}`),
    onEnded: ({ dependency }) => void reported.push(`ended ${dependency}`),
  });
  return { told: reported, ...readiness };
}

test('a check that hangs is started once, however many callers ask', async () => {
  const check = vi.fn(() => new Promise<undefined>(() => {}));
  using one = open(check);
  vi.useFakeTimers({ toFake: ['performance'] });
  for (let count = 0; count < 5; count += 1) {
    const { isReady, dependencies } = await one.probe();
    expect(isReady).toBe(false);
    expect(dependencies.store?.reason).toBe('it has not answered within 0.05 seconds');
    vi.advanceTimersByTime(1001);
  }
  vi.useRealTimers();
  expect(check).toHaveBeenCalledTimes(1);
  expect(one.told).toHaveLength(1);
});

test('one check answers callers that ask at once or soon after one another', async () => {
  const check = vi.fn(async () => undefined);
  using one = open(check);
  await Promise.all(Array.from({ length: 100 }, () => one.probe()));
  await one.probe();
  expect(check).toHaveBeenCalledTimes(1);
});

test('only messages made for the public are shown', async () => {
  using one = open(async () => {
    throw new Error('postgres://croft:secret@db.internal refused');
  });
  expect(JSON.stringify(await one.probe())).not.toContain('secret');
  using other = open(async () => {
    throw new AppError('E_STORAGE_FAILED', 'the store is away');
  });
  expect((await other.probe()).dependencies.store).toMatchObject({ status: 'failed', reason: 'the store is away' });
});
