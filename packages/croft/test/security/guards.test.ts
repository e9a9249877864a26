import { once } from 'node:events';
import { chmodSync, globSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Escape, Guard } from '../../src/escapes/escape.ts';
import { escapes } from '../../src/escapes/index.ts';
import * as whole from '../../src/escapes/run-escapes.ts';
import { createConcurrencyLimit } from '../../src/lib/concurrency/concurrency-limit.ts';
import { makeDirectory } from '../support/harness.ts';
import { useOwnTemporaryDirectory } from '../support/own-temporary-directory.ts';
import { keepPrivileges, withTerminal } from '../support/sandboxes/bubblewrap-starters.ts';
import { loadUnguardedEscapes, type Replacement } from '../support/sandboxes/load-unguarded-escapes.ts';
import * as naive from '../support/sandboxes/naive-modules.ts';
import { createInitMaker, type InitEdit, type InitMaker } from '../support/sandboxes/weaken-init.ts';
import { shareNetwork, weaken } from '../support/sandboxes/weaken-provider.ts';

/** Every case, seen to get out where what holds it is not there. No switch of the product does that. */

const tenMinutes = 600_000;
/** More would wait for each other. */
const atOnce = createConcurrencyLimit(2);

interface Removal {
  readonly what: string;
  readonly ids: readonly string[];
  readonly parts?: readonly Replacement[];
  readonly provider?: () => whole.RunEscapesOptions['provider'];
  /** How often it is attempted, where it depends on who else is at work on this machine. */
  readonly tries?: number;
}

const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

let inits: ReturnType<typeof makeDirectory>;
let makeInit: InitMaker;
let freePort: number;
beforeAll(async () => {
  inits = makeDirectory();
  chmodSync(inits.path, 0o755);
  makeInit = createInitMaker(inits.path);
  freePort = await findFreePort();
});
afterAll(() => inits[Symbol.dispose]());

/** Held by more than one guard, each of which is enough: all of them are taken away. */
const layered = ['A18', 'B26b', 'B28', 'B37'];

/** Guards of the program itself, outside the sandbox. Each entry takes one away and names the escapes that then succeed. */
const server: readonly Removal[] = [
  { what: 'handles of a history', ids: ['A24'], parts: [naive.followingHistory], tries: 3 },
  { what: 'private directories', ids: ['A22', 'A22b'], parts: [naive.openDirectories] },
  { what: 'an end of options', ids: ['D59'], parts: [naive.searchesWithOptions, naive.naiveSearches] },
  { what: 'an end of waiting', ids: ['G94'], parts: [naive.patientWaiting] },
  { what: 'buffers of a size', ids: ['G95'], parts: [naive.endlessBuffers] },
];

const proxy: readonly Removal[] = [
  { what: 'one spelling of a host', ids: ['E67'], parts: [naive.lenientTargets, naive.openJudge] },
  { what: 'the hello of a tunnel', ids: ['E69'], parts: [naive.blindTunnels] },
  { what: 'one host of a request', ids: ['E71'], parts: [naive.trustingForm] },
  { what: 'one end of a request', ids: ['E72'], parts: [naive.trustingForm, naive.lenientParser] },
  { what: 'no other way than the proxy', ids: ['E75'], provider: () => weaken([], besideProxy()) },
  { what: 'no more than is read', ids: ['E79'], parts: [naive.keepingProxy] },
];

const closedNetwork = ['C49', 'E61', 'E61b', 'E63', 'E76', 'E78'];

const apart: readonly Removal[] = [
  ...server,
  ...proxy,
  { what: 'the network of its own', ids: closedNetwork, provider: () => weaken(['network'], { makeInit }) },
  {
    what: 'the walk from the root and the search box',
    ids: ['A1b', 'A4b'],
    parts: [naive.naiveFiles, naive.naiveSearches],
  },
  { what: 'paths as they are written', ids: ['A12'], parts: [naive.spellingFiles] },
  { what: 'words for what went wrong', ids: ['A20'], parts: [naive.tellingFiles] },
  { what: 'the walk from the root, for a look', ids: ['A6'], parts: [naive.checkedFiles], tries: 3 },
  { what: 'a session of its own', ids: ['B35b'], provider: () => weaken(['init'], inSessionOf()) },
  {
    what: 'a limit of what is held by a mount',
    ids: ['G93e'],
    provider: () => weaken([], { makeInit, edits: heldByMounts }),
  },
  { what: 'a share of the processors', ids: ['G94b'], provider: () => weaken(['limits'], { makeInit }), tries: 5 },
  ...layered.map((id) => ({ what: `every layer of ${id}`, ids: [id], provider: () => without(guardsOf(id)) })),
];

const heldByMounts: readonly InitEdit[] = [
  [
    'init/control-files/find-control-files.c',
    /unreadable_count\+\+ < MAX_UNREADABLE \? add_guarded_file\(path\) : 0/,
    'add_guarded_file(path)',
  ],
];

/** A guard that no option of bubblewrap removes needs another way to start it. */
function without(guards: readonly Guard[]) {
  return weaken(guards, { makeInit, starter: guards.includes('privileges') ? keepPrivileges(inits.path) : [] });
}

/** Attacks that block the whole server, or move the files of everybody. */
const alone = ['B43', 'G98'];
const isApart = (id: string) => alone.includes(id) || apart.some(({ ids }) => ids.includes(id));

const byModule: Partial<Record<Guard, readonly Replacement[]>> = {
  files: [naive.naiveFiles],
  network: [naive.openJudge, naive.rebindingResolver],
  redaction: [naive.openSecrets],
};

const removals: readonly Removal[] = [
  ...Map.groupBy(
    escapes.filter(({ id }) => !isApart(id)),
    ({ guards: [first] }) => first,
  ),
]
  .map(([guard, held]): Removal => {
    const parts = byModule[guard];
    return {
      what: guard,
      ids: idsOf(held),
      // The share of one attack depends on the load of others.
      ...(guard === 'limits' && { tries: 3 }),
      ...(parts ? { parts } : { provider: () => weaken([guard], { makeInit }) }),
    };
  })
  .concat(apart);

function guardsOf(id: string): readonly Guard[] {
  return (escapes.find((one) => one.id === id) as Escape).guards;
}

/** The relay of a sandbox listens in the network of this machine then, where another program may have its port. */
function besideProxy() {
  const edits: InitEdit[] = [['relay/relay.h', /RELAY_PORT 3128/, `RELAY_PORT ${freePort}`]];
  return { makeInit, edits, change: shareNetwork };
}

/** As a server has one that somebody started by hand. */
function inSessionOf() {
  const edits: InitEdit[] = [['init/commands/command-subreaper.c', /setsid\(\);/, '']];
  const change = (fence: string[]) => fence.filter((word) => word !== '--new-session');
  return { makeInit, edits, change, starter: withTerminal(inits.path) };
}

async function findFreePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

/** What some machines do not have: calls by other numbers, control groups, a server in git, an older kernel. */
const ofSomeMachines = ['B32', 'B32b', 'B41', 'E76', 'G94b'];

type Attempt = () => Promise<readonly whole.EscapeReport[]>;

const gotOut = ({ outcome }: whole.EscapeReport) =>
  'held' in outcome && !outcome.held && !outcome.how.startsWith('could not be attempted');
const isMissing = ({ id, outcome }: whole.EscapeReport) => 'skipped' in outcome && ofSomeMachines.includes(id);

async function expectOut(attempt: Attempt, tries = 1): Promise<void> {
  const reports = (await attempt()).filter((report) => !isMissing(report));
  if (tries > 1 && !reports.every(gotOut)) return expectOut(attempt, tries - 1);
  expect(idsOf(reports.filter(gotOut)), JSON.stringify(reports, null, 1)).toEqual(idsOf(reports));
}

describe('with a guard taken away', { concurrent: true }, () => {
  const attempts = new Map<Removal, Attempt>();
  beforeAll(async () => {
    for (const removal of removals) {
      const { runEscapes } = removal.parts ? await loadUnguardedEscapes(removal.parts) : whole;
      const options = { only: removal.ids, provider: removal.provider?.() };
      attempts.set(removal, () => runEscapes(options));
    }
  }, tenMinutes);

  test.each(removals)('without $what: $ids', { timeout: tenMinutes }, async (removal) => {
    await atOnce.run(() => expectOut(attempts.get(removal) as Attempt, removal.tries));
  });
});

describe('with a guard taken away that other attacks would not notice', () => {
  test('backtracking patterns hold up the server: G98', { timeout: tenMinutes }, async () => {
    const { runEscapes } = await loadUnguardedEscapes([naive.backtrackingPatterns]);
    await expectOut(() => runEscapes({ only: ['G98'] }));
  });

  test('a program in the workspace is run by a lookup there: B43', {
    timeout: tenMinutes,
  }, async () => {
    using folder = useOwnTemporaryDirectory();
    const isThere = (name: string) => globSync(join(folder.path, `croft-*/escape-*/workspace/bin/${name}`))[0];
    const { runEscapes } = await loadUnguardedEscapes([naive.programsFrom(isThere)]);
    await expectOut(() => runEscapes({ only: ['B43'] }));
  });
});

describe('with the requirement of an attack, and every guard in place', () => {
  test('a terminal of the server cannot be reached: B35b', { timeout: tenMinutes }, async () => {
    const provider = weaken([], { makeInit, starter: withTerminal(inits.path) });
    const [report] = await whole.runEscapes({ only: ['B35b'], provider });
    expect(report?.outcome).toEqual({ held: true });
  });

  test('an address is judged after its name is resolved: E64', { timeout: tenMinutes }, async () => {
    const { runEscapes } = await loadUnguardedEscapes([naive.rebindingResolver]);
    const [report] = await runEscapes({ only: ['E64'] });
    expect(report?.outcome).toEqual({ held: true });
  });

  test.each(layered)('%s is stopped if only its first guard is gone', { timeout: tenMinutes }, async (id) => {
    const provider = without(guardsOf(id).slice(0, 1));
    const [report] = await whole.runEscapes({ only: [id], provider });
    expect(report?.outcome).toEqual({ held: true });
  });

  test('every attack is listed with its guard, once', () => {
    const seen = [...removals.flatMap(({ ids }) => ids), ...alone];
    expect(seen.sort()).toEqual(idsOf(escapes).sort());
  });
});
