import type { Approval } from '@croft/protocol';
import { Croft } from '../croft.ts';
import { decide, type FakeDecision } from './fake-approvals.ts';
import { createClock, type FakeClock } from './fake-clock.ts';
import { createFakeCommands, type FakeCommand, type RunningFake } from './fake-commands.ts';
import { createFakeFetch } from './fake-server.ts';
import { createState, type FakeCall, type FakeState } from './fake-state.ts';

export type { FakeCall, FakeClock, FakeCommand, RunningFake };

/** A Croft server in memory, for tests of programs that use the SDK. The client is the real one. */
export interface FakeCroft {
  readonly croft: Croft;
  /** For clients of your own. */
  readonly fetch: typeof globalThis.fetch;
  readonly clock: FakeClock;
  /** Every call of a tool that ran, in order. */
  readonly calls: readonly FakeCall[];
  /** Says what a command does. A command that nobody taught ends with 127. */
  command(
    pattern: string | RegExp,
    does: FakeCommand | ((running: RunningFake) => FakeCommand | Promise<FakeCommand>),
  ): void;
  readonly approve: {
    /** Waits for the next call that a person has to agree to, and agrees. */
    next(options?: Omit<FakeDecision, 'decision'>): Promise<Approval>;
  };
  readonly deny: {
    next(options?: Omit<FakeDecision, 'decision'>): Promise<Approval>;
  };
}

export function createFakeCroft(): FakeCroft {
  const clock = createClock();
  const [state, commands] = [createState(clock), createFakeCommands()];
  const fetch = createFakeFetch(state, commands);
  const decideNext = (decision: FakeDecision['decision']) => ({
    next: async (options: Omit<FakeDecision, 'decision'> = {}) =>
      decide(state, (await nextPending(state)).approvalId, { ...options, decision }),
  });
  return {
    croft: new Croft({ server: 'http://croft.localhost', key: 'fake', fetch }),
    ...{ fetch, clock, calls: state.calls, command: commands.teach },
    ...{ approve: decideNext('approve'), deny: decideNext('deny') },
  };
}

function nextPending(state: FakeState): Promise<Approval> {
  const find = () => [...state.approvals.values()].find((one) => one.state === 'pending');
  return new Promise((resolve) => {
    const look = () => {
      const found = find();
      if (!found) return false;
      resolve(found);
      return true;
    };
    if (look()) return;
    const stop = state.onLog(() => {
      if (look()) stop();
    });
  });
}
