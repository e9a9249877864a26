import { chmodSync, globSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { defaultSandbox } from '../../src/app.ts';
import type { Escape, Guard } from '../../src/escapes/escape.ts';
import { escapes } from '../../src/escapes/index.ts';
import { attemptAll, type EscapeReport, runEscapes } from '../../src/escapes/run.ts';
import { findGroups } from '../../src/lib/cgroup/cgroup.ts';
import { toFence } from '../../src/providers/bubblewrap/fence.ts';
import { createBubblewrap } from '../../src/providers/bubblewrap/provider.ts';
import { makeDirectory } from '../harness.ts';
import { createNaiveFiles } from '../naive-files.ts';
import { createInitMaker, type InitMaker, weaken } from '../weakened.ts';

const tenMinutes = 600_000;

/** Held by each of its guards alone: to see it get out, all of them are taken away. */
const layered: Readonly<Record<string, string>> = {
  B28: 'Landlock lets nobody mount',
  B37: 'Landlock keeps abstract sockets apart',
};

/** Held by what cannot be taken away here. */
const unshakable: Readonly<Record<string, string>> = {
  A4b: 'a search sees nothing but the workspace',
  A10: 'whoever waits for a pipe would not come back to tell',
  A22: 'what is shared is never used by a name that others know',
  A18: 'a link at a control path is covered, wherever it leads',
  B26b: 'bubblewrap itself, and Landlock, let nobody have new privileges',
  B35b: 'nobody has a terminal in a test',
  C51: 'there is no place where the server would start a program of a repository',
  D59: 'what a search may be told is not in a part of its own',
  G94: 'the tool ends what takes too long',
  G95: 'the server keeps no more of an output than it shows',
  G98: 'no engine for patterns here goes back over a text',
};

/** Either way: it depends on the machine and on who else is at work there. */
const uncertain: Readonly<Record<string, string>> = {
  A6: 'a race may be won or lost',
  E64: 'not every resolver knows the machine itself',
  E67: 'the proxy takes no such spelling for a host, whatever is allowed',
  E69: 'the proxy reads the hello itself, whatever is allowed',
  E71: 'the proxy takes no such request, whatever is allowed',
  E72: 'the proxy takes no such request, whatever is allowed',
  E75: 'two sandboxes cannot have the proxy at the same port of one network',
  E79: 'the proxy keeps nothing that nobody reads, whatever is allowed',
  G94b: 'a busy machine has no more to give',
};

const nobodyThere = /^(?:10\.|172\.16|192\.168|100\.|169\.254|168\.63|0\.0|255|224|fe80|fd00:ec2|::$)/;

const byGuard = Map.groupBy(escapes, ({ guards: [first] }) => first);
const moduleGuards: readonly Guard[] = ['files', 'network', 'redaction'];
const partGuards = [...byGuard.keys()].filter((guard) => !moduleGuards.includes(guard));

let inits: ReturnType<typeof makeDirectory>;
let makeInit: InitMaker;
beforeAll(() => {
  inits = makeDirectory();
  chmodSync(inits.path, 0o755);
  makeInit = createInitMaker(inits.path);
});
afterAll(() => inits[Symbol.dispose]());

const gotOut = ({ outcome }: EscapeReport) =>
  'held' in outcome && !outcome.held && !outcome.how.startsWith('could not be attempted');
const wasSkipped = ({ outcome }: EscapeReport) => 'skipped' in outcome;
/** Where nobody else has grounds, whose programs would be run or which would be counted. */
function makeOwnPlace() {
  const place = makeDirectory();
  chmodSync(place.path, 0o755);
  vi.stubEnv('TMPDIR', place.path);
  onTestFinished(() => void vi.unstubAllEnvs());
  return place;
}

const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

describe('from a whole sandbox', () => {
  let reports: ReadonlyMap<string, EscapeReport>;
  beforeAll(async () => {
    reports = new Map((await runEscapes()).map((report) => [report.id, report]));
  }, tenMinutes);

  test.each(escapes)('$id $title', ({ id }) => {
    const { outcome } = reports.get(id) as EscapeReport;
    if (!('skipped' in outcome)) expect(outcome).toEqual({ held: true });
  });

  test.runIf(process.getuid?.() === 0)(
    'none gets out of a workspace of root either',
    { timeout: tenMinutes },
    async () => {
      const out = (await runEscapes({ owner: 'server', only: ['A', 'B', 'C', 'D'] })).filter(
        ({ outcome }) => 'held' in outcome && !outcome.held,
      );
      expect(out).toEqual([]);
    },
  );

  test('nearly all of them can be attempted', () => {
    const skipped = [...reports.values()].filter(wasSkipped);
    expect(skipped.length, JSON.stringify(skipped)).toBeLessThan(8);
  });

  test('no two have the same id', () => {
    expect(new Set(idsOf(escapes)).size).toBe(escapes.length);
  });
});

describe('with a guard taken away', () => {
  /** All get out that nothing else holds, and no others: a list of exceptions that is too long is wrong as well. */
  function expectOut(reports: readonly EscapeReport[]): void {
    const attempted = reports.filter((report) => !wasSkipped(report) && !(report.id in uncertain));
    const expected = idsOf(attempted).filter((id) => !(id in layered) && !(id in unshakable));
    const about = attempted.filter((report) => gotOut(report) !== expected.includes(report.id));
    expect(idsOf(attempted.filter(gotOut)).sort(), JSON.stringify(about, null, 1)).toEqual(expected.sort());
  }

  test.each(partGuards)(
    'those that %s holds get out',
    async (guard) => {
      const only = idsOf(byGuard.get(guard) ?? []).filter((id) => id !== 'B43');
      expectOut(await runEscapes({ only, provider: weaken([guard], makeInit) }));
    },
    tenMinutes,
  );

  test.each(Object.keys(layered))(
    '%s gets out when every layer is gone',
    async (id) => {
      const { guards } = escapes.find((one) => one.id === id) as Escape;
      const reports = await runEscapes({ only: [id], provider: weaken(guards, makeInit) });
      expect(reports.map(gotOut), JSON.stringify(reports)).toEqual([true]);
    },
    tenMinutes,
  );

  /** A guard that is no part of a sandbox is taken away where it is imported. */
  async function runWith(only: readonly string[], mock: () => void): Promise<EscapeReport[]> {
    vi.resetModules();
    mock();
    try {
      const { runEscapes: run } = await import('../../src/escapes/run.ts');
      return await run({ only });
    } finally {
      vi.doUnmock('../../src/disk/files.ts');
      vi.doUnmock('../../src/core/secrets.ts');
      vi.doUnmock('../../src/core/commands/network-judge.ts');
      vi.doUnmock('../../src/lib/find-program.ts');
      vi.resetModules();
    }
  }

  test('those that the walk from the root holds get out', { timeout: tenMinutes }, async () => {
    const reports = await runWith(idsOf(byGuard.get('files') ?? []), () =>
      vi.doMock('../../src/disk/files.ts', () => ({ createDiskFiles: createNaiveFiles })),
    );
    expectOut(reports);
  });

  test('those that get no network, or not all of it, get out', { timeout: tenMinutes }, async () => {
    const closed = await runEscapes({
      only: idsOf(byGuard.get('network') ?? []),
      provider: weaken(['network'], makeInit),
    });
    const restricted = await runWith(idsOf(closed.filter((report) => !gotOut(report))), () =>
      vi.doMock('../../src/core/commands/network-judge.ts', () => {
        const host = () => ({ allowed: true });
        // Where nobody answers, a test would only wait.
        const address = (one: string) =>
          nobodyThere.test(one) ? { allowed: false, rule: 'test', reason: 'Nobody is there.' } : { allowed: true };
        return { createJudge: () => ({ host, address }) };
      }),
    );
    expectOut([...closed.filter(gotOut), ...restricted]);
  });

  test('those that redaction holds get out', { timeout: tenMinutes }, async () => {
    const reports = await runWith(idsOf(byGuard.get('redaction') ?? []), () =>
      vi.doMock('../../src/core/secrets.ts', async (original) => {
        const { createSecrets } = await original<typeof import('../../src/core/secrets.ts')>();
        return {
          createSecrets: (...sources: Parameters<typeof createSecrets>) => ({
            ...createSecrets(...sources),
            redact: (text: string) => text,
          }),
        };
      }),
    );
    expectOut(reports);
  });

  test('a program of a workspace is run where programs are looked for there', { timeout: tenMinutes }, async () => {
    using place = makeOwnPlace();
    const reports = await runWith(['B43'], () =>
      vi.doMock('../../src/lib/find-program.ts', async (original) => {
        const { findProgram } = await original<typeof import('../../src/lib/find-program.ts')>();
        const findFirst = (name: string) =>
          globSync(join(place.path, `croft-escape-*/workspace/bin/${name}`))[0] ?? findProgram(name);
        return { findProgram: findFirst };
      }),
    );
    expect(reports.map(gotOut)).toEqual([true]);
  });
});

describe('a part of the fence that cannot be raised', () => {
  const parts = {
    'the limits': /enter_groups\(atoi\(argv\[2\]\)\) != 0/,
    'the control files': /pins_place\(workspace\) != 0/,
    privileges: /pins_drop_privileges\(\) != 0/,
    'the init itself': /prctl\(PR_SET_DUMPABLE, 0, 0, 0, 0\) != 0/,
    Landlock: /landlock_restrict\(writable\) != 0/,
    'system calls': /fence_load\(&refusals\) != 0/,
  };

  test.each(Object.entries(parts))(
    '%s: there is no sandbox then',
    async (_, guard) => {
      using directory = makeDirectory();
      const findInit = () => makeInit([], [['init.c', guard, '1']]);
      const provider = createBubblewrap({ path: '', home: '/' }, { findInit, toFence, groups: findGroups() });
      const spec = { ...defaultSandbox, directory: openSync(directory.path, 'r'), workspacePath: '/workspace' };
      await expect(provider.open(spec)).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
    },
    tenMinutes,
  );
});

describe('the judge', () => {
  const about = { id: 'X1', title: 'made up', guards: ['files'] } as const;
  const judge = async (attempt: Escape['attempt'], options = {}) => {
    const [report] = await attemptAll([{ ...about, attempt }], options);
    return report?.outcome;
  };

  test('takes a canary in an answer for an escape, whatever the case says', async () => {
    const outcome = await judge(async (ground) => {
      await ground.run(`echo '${ground.canary}'`);
      return { held: true };
    });
    expect(outcome).toEqual({ held: false, how: 'bash told what is in the canary' });
  });

  test('looks at the answers and canaries of further grounds too', async () => {
    const leak = await judge(async (ground) => {
      const own = await ground.open({});
      await own.call('write', { file_path: 'x', content: ground.canary });
      await own.call('grep', { pattern: 'canary', output_mode: 'content' });
      return { skipped: 'so it says' };
    });
    expect(leak).toMatchObject({ held: false });
    const touched = await judge(async (ground) => {
      writeFileSync(join((await ground.open({})).outside, 'canary'), 'changed');
      return { held: true };
    });
    expect(touched).toEqual({ held: false, how: 'the canary is not as it was' });
  });

  test('does not take a case for held that threw or never ended', async () => {
    const thrown = await judge(() => Promise.reject(new Error('no such program')));
    expect(thrown).toEqual({ held: false, how: 'could not be attempted: no such program' });
    const late = await judge(({ run }) => run('sleep 50').then(() => ({ held: true })), { deadlineMs: 300 });
    expect(late).toEqual({ held: false, how: 'could not be attempted: it did not end within 0.3 s' });
  });

  test('leaves nothing behind, tells in order, and stops when asked', async () => {
    using place = makeOwnPlace();
    const stop = new AbortController();
    const told: string[] = [];
    const list = Array.from({ length: 6 }, (_, index) => ({
      ...about,
      id: `X${index}`,
      attempt: async ({ run }: Parameters<Escape['attempt']>[0]) => {
        await run(index % 2 === 0 ? 'sleep 0.3' : 'true');
        if (index === 3) stop.abort();
        return { held: true } as const;
      },
    }));
    const onResult = ({ id }: EscapeReport) => told.push(id);
    const reports = await attemptAll(list, { onResult, signal: stop.signal });
    expect(told).toEqual(idsOf(reports));
    expect(told.slice(0, 2)).toEqual(['X0', 'X1']);
    expect(told).not.toContain('X5');
    expect(readdirSync(place.path)).toEqual([]);
  });
});
