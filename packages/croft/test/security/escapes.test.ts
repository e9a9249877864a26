import { chmodSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultSandboxOptions } from '../../src/app/app.ts';
import type { Escape, Guard } from '../../src/escapes/escape.ts';
import { escapeGroups } from '../../src/escapes/escape-groups.ts';
import { escapes } from '../../src/escapes/index.ts';
import { attemptAll, type EscapeReport, runEscapes } from '../../src/escapes/run-escapes.ts';
import { findGroups } from '../../src/lib/cgroup/find-groups.ts';
import { reportTemporaryBase } from '../../src/lib/files/temporary-base.ts';
import { toBwrapArguments } from '../../src/providers/bubblewrap/bwrap-arguments.ts';
import { createBubblewrap } from '../../src/providers/bubblewrap/provider.ts';
import { makeDirectory } from '../support/harness.ts';
import { useOwnTemporaryDirectory } from '../support/own-temporary-directory.ts';
import { withoutFilters } from '../support/sandboxes/bubblewrap-starters.ts';
import { createInitMaker, type InitMaker } from '../support/sandboxes/weaken-init.ts';
import { weaken } from '../support/sandboxes/weaken-provider.ts';

const tenMinutes = 600_000;

/** Threats 1 to 99, A to G, of which there is no case. */
const notAttempted: Readonly<Record<number, string>> = {
  77: 'a policy names hosts and ports; what is said to one that is allowed is for nobody to judge',
  83: 'there are no placeholders for secrets: a command has the value or nothing',
  84: 'as before',
  85: 'nothing puts a secret into a request',
  86: 'no TLS is opened on the way, so that there is no authority and no key of one',
  91: 'it would take the memory of the whole machine; cgroup.test.ts does so with a small share of it',
  99: 'no language server is started; what a sandbox runs is held to its limits, whatever it is (G89 to G97)',
};

let inits: ReturnType<typeof makeDirectory>;
let makeInit: InitMaker;
beforeAll(() => {
  inits = makeDirectory();
  chmodSync(inits.path, 0o755);
  makeInit = createInitMaker(inits.path);
});
afterAll(() => inits[Symbol.dispose]());

const wasSkipped = ({ outcome }: EscapeReport) => 'skipped' in outcome;

const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

describe('from a complete sandbox', () => {
  let reports: ReadonlyMap<string, EscapeReport>;
  beforeAll(async () => {
    reports = new Map((await runEscapes()).map((report) => [report.id, report]));
  }, tenMinutes);

  test.each(escapes)('$id $title', ({ id }) => {
    const { outcome } = reports.get(id) as EscapeReport;
    if (!('skipped' in outcome)) expect(outcome).toEqual({ held: true });
  });

  test.runIf(process.getuid?.() === 0)(
    'no attack gets out of a workspace of root either',
    { timeout: tenMinutes },
    async () => {
      const out = (await runEscapes({ owner: 'server', only: ['A', 'B', 'C', 'D'] })).filter(
        ({ outcome }) => 'held' in outcome && !outcome.held,
      );
      expect(out).toEqual([]);
    },
  );

  test('almost every attack can be attempted', () => {
    const skipped = [...reports.values()].filter(wasSkipped);
    expect(skipped.length, JSON.stringify(skipped)).toBeLessThan(8);
  });

  test('every group says what it covers and what it leaves out', () => {
    const letters = new Set(escapes.map(({ id }) => id.charAt(0)));
    expect(escapeGroups.map(({ letter }) => letter)).toEqual([...letters]);
  });

  test('no two attacks have the same id', () => {
    expect(new Set(idsOf(escapes)).size).toBe(escapes.length);
  });

  test('every threat of the list has an attack, or a reason why not', () => {
    const numbers = new Set(escapes.map(({ id }) => Number.parseInt(id.slice(1), 10)));
    const missing = Array.from({ length: 99 }, (_, index) => index + 1).filter((number) => !numbers.has(number));
    expect(missing).toEqual(Object.keys(notAttempted).map(Number));
  });
});

describe('a guard that cannot be set up', () => {
  const parts = {
    'the limits': /enter_groups\(atoi\(argv\[2\]\)\) != 0/,
    'the share of inotify': /inotify_share_limit\("\/run\/croft\/user"\) != 0/,
    'the control files': /guard_control_files\(workspace\) != 0/,
    privileges: /drop_privileges\(\) != 0/,
    'the init itself': /prctl\(PR_SET_DUMPABLE, 0, 0, 0, 0\) != 0/,
    Landlock: /landlock_restrict\(writable\) != 0/,
    'system calls': /seccomp_load\(&refusals\) != 0/,
  };

  test.each(Object.entries(parts))(
    '%s: no sandbox is opened',
    async (_, guard) => {
      using directory = makeDirectory();
      // Made here: what does not compile must not be taken for a sandbox that does not open.
      const init = makeInit([], [['init/init.c', guard, '1']]);
      const provider = createBubblewrap(
        { path: '', home: '/' },
        { findInit: () => init, toArguments: toBwrapArguments, groups: findGroups() },
      );
      const spec = {
        ...defaultSandboxOptions,
        directoryFd: openSync(directory.path, 'r'),
        workspacePath: '/workspace',
      };
      await expect(provider.open(spec)).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
    },
    tenMinutes,
  );
});

test('B41: under a kernel without a part of the fence no sandbox is opened', { timeout: tenMinutes }, async () => {
  using directory = makeDirectory();
  const starter = withoutFilters(inits.path);
  const open = (guards: readonly Guard[]) =>
    weaken(guards, { makeInit, starter })({ path: '', home: '/', variables: {} }).open({
      ...{ ...defaultSandboxOptions, directoryFd: openSync(directory.path, 'r'), workspacePath: '/workspace' },
    });
  await expect(open([])).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
  // Not because of anything else that is missing there.
  await (await open(['system-calls'])).close();
});

describe('the judge of attacks', () => {
  const about = { id: 'X1', title: 'made up', guards: ['files'] } as const;
  const judge = async (attempt: Escape['attempt'], options = {}) => {
    const [report] = await attemptAll([{ ...about, attempt }], options);
    return report?.outcome;
  };

  test('takes a canary in an answer for an escape, whatever the attack reports', async () => {
    const outcome = await judge(async (fixture) => {
      await fixture.run(`echo '${fixture.canary}'`);
      return { held: true };
    });
    expect(outcome).toEqual({ held: false, how: 'bash told what is in the canary' });
  });

  test('checks the answers and canaries of additional fixtures too', async () => {
    const leak = await judge(async (fixture) => {
      const own = await fixture.open({});
      await own.call('write', { file_path: 'x', content: fixture.canary });
      await own.call('grep', { pattern: 'canary', output_mode: 'content' });
      return { skipped: 'so it says' };
    });
    expect(leak).toMatchObject({ held: false });
    const touched = await judge(async (fixture) => {
      writeFileSync(join((await fixture.open({})).outside, 'canary'), 'changed');
      return { held: true };
    });
    expect(touched).toEqual({ held: false, how: 'the canary is not as it was' });
  });

  test('does not count an attack as stopped that threw or never ended', async () => {
    const thrown = await judge(() => Promise.reject(new Error('no such program')));
    expect(thrown).toEqual({ held: false, how: 'could not be attempted: no such program' });
    const late = await judge(({ run }) => run('sleep 50').then(() => ({ held: true })), { deadlineMs: 300 });
    expect(late).toEqual({ held: false, how: 'could not be attempted: it did not end within 0.3 s' });
  });

  test('leaves nothing behind, reports in order, and stops when asked', async () => {
    using folder = useOwnTemporaryDirectory();
    const stop = new AbortController();
    const reported: string[] = [];
    const list = Array.from({ length: 6 }, (_, index) => ({
      ...about,
      id: `X${index}`,
      attempt: async ({ run }: Parameters<Escape['attempt']>[0]) => {
        await run(index % 2 === 0 ? 'sleep 0.3' : 'true');
        if (index === 3) stop.abort();
        return { held: true } as const;
      },
    }));
    const onResult = ({ id }: EscapeReport) => reported.push(id);
    const reports = await attemptAll(list, { onResult, signal: stop.signal });
    expect(reported).toEqual(idsOf(reports));
    expect(reported.slice(0, 2)).toEqual(['X0', 'X1']);
    expect(reported).not.toContain('X5');
    expect(readdirSync(reportTemporaryBase(folder.path).path)).toEqual([]);
  });
});
