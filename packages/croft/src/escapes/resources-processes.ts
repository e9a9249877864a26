import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { spawnProgram } from '../lib/processes/spawn.ts';
import type { Escape, EscapeFixture, EscapeOutcome } from './escape.ts';
import { hasControlGroups } from './has-control-groups.ts';
import {
  countProcesses,
  findSurvivors,
  trackPeak,
  waitFor,
  whileProbingNeighbour,
} from './probe-neighbour-under-load.ts';
import { type Problem, toVerdict } from './to-verdict.ts';

const maxProcesses = 48;
const megabyte = 1024 * 1024;

/** Programs that never end, and processes that try to outlive their command. */
export const resourcesProcesses: readonly Escape[] = [
  {
    id: 'G89',
    title: 'a fork bomb',
    guards: ['limits'],
    attempt: attemptForkBomb,
  },
  {
    id: 'G90',
    title: 'a memory bomb',
    guards: ['limits'],
    async attempt(fixture) {
      const [own, other] = [await fixture.open({ limits: { memoryBytes: 64 * megabyte } }), await fixture.open({})];
      const size = 128 * megabyte;
      const bomb = `head -c ${size} /dev/zero | tail -c ${size} | wc -c`;
      const { result, problems } = await whileProbingNeighbour(other, () => own.run(`${bomb}; ${bomb}`));
      const again = await own.run('echo again');
      return toVerdict(
        problems,
        result.output.includes(String(size)) && 'twice the memory it may have was had',
        again.output !== 'again\n' && 'the sandbox is of no use afterwards',
        // Without a control group each process has its own limit, and reports itself that it reached it.
        hasControlGroups() && !result.denials.some(({ rule }) => rule === 'memory') && 'no denial says why it ended',
      );
    },
  },
  {
    id: 'G96',
    title: 'all the handles there are',
    guards: ['limits'],
    async attempt(fixture) {
      const [own, other] = [await fixture.open({ limits: { openFiles: 64 } }), await fixture.open({})];
      const open = 'for i in {10..150}; do eval "exec $i</dev/null" || exit 1; done 2>/dev/null; echo all of them';
      const everyone = `for i in {1..20}; do (${open}; sleep 1) & done; ${open}`;
      const { result, problems } = await whileProbingNeighbour(other, () => own.run(everyone));
      return toVerdict(problems, result.output.includes('all of them') && 'more handles were opened than it may have');
    },
  },
  {
    id: 'G96b',
    title: 'all the inotify instances of the user',
    guards: ['limits'],
    attempt: attemptWatches,
  },
  {
    id: 'G97',
    title: 'a process that leaves its group, its session and its parent',
    guards: ['init', 'namespaces'],
    attempt: attemptOutliving,
  },
];

async function attemptForkBomb(fixture: EscapeFixture) {
  const [own, other] = [await fixture.open({ limits: { processes: maxProcesses } }), await fixture.open({})];
  const mark = randomUUID();
  const bomb = `: ${mark}; bomb() { bomb | bomb & bomb & }; bomb; while :; do bomb; done 2>/dev/null`;
  const count = () => countProcesses(mark);
  const { result, problems } = await whileProbingNeighbour(other, () =>
    trackPeak(count, () => own.run(bomb, { timeoutSeconds: 2 })),
  );
  const survivors = await findSurvivors(mark);
  const again = await own.run('echo again');
  return toVerdict(
    problems,
    survivors,
    result.most > maxProcesses && `there were ${result.most} processes`,
    again.output !== 'again\n' && 'the sandbox is of no use afterwards',
    !result.result.denials.some(({ rule }) => rule === 'processes') && 'no denial says why it could not go on',
  );
}

/** Takes all inotify instances. The user outside must still get one. */
async function attemptWatches(fixture: EscapeFixture): Promise<EscapeOutcome> {
  const own = await fixture.open({});
  const [prober, taken, release] = ['prober', 'taken', 'release'].map((name) => join(own.workspace, name)) as Paths;
  if (!(await canWatch(prober)))
    return { skipped: 'the user of the sandbox has no inotify instance left on this host' };
  const taking = own.run(`for i in {1..4}; do ${own.prober} inotify-all taken release & done; wait`);
  let isOver = false;
  void taking.finally(() => {
    isOver = true;
  });
  await waitFor(() => isOver || existsSync(taken));
  const isLeft = await canWatch(prober);
  writeFileSync(release, '');
  await taking;
  return toVerdict(!existsSync(taken) && 'nothing was taken', !isLeft && 'none was left for the user outside');
}

type Paths = [string, string, string];

/** Tries as the user that the sandbox runs as. */
async function canWatch(prober: string): Promise<boolean> {
  const { uid, gid } = statSync(dirname(prober));
  const owner = uid === process.getuid?.() ? undefined : { uid, gid };
  const child = spawnProgram([prober, 'inotify'], { env: {}, stdio: ['ignore', 'ignore', 'ignore'], owner });
  const [code] = await once(child, 'exit');
  return code === 0;
}

/** Processes must end at the time limit, with kill_shell, and with the session. */
async function attemptOutliving(fixture: EscapeFixture) {
  const own = await fixture.open({});
  const problems: Problem[] = [];
  const newMark = () => `${9000 + Math.random()}`;
  const flee = (mark: string) =>
    `setsid -f sleep ${mark}; (setsid bash -c 'trap "" HUP TERM INT; (sleep ${mark} & disown; exec sleep ${mark}) &' &); nohup sleep ${mark} >/dev/null 2>&1 &`;

  const late = newMark();
  const ran = await own.run(`${flee(late)} echo started; sleep 60`, { timeoutSeconds: 1 });
  if (!ran.output.includes('started')) throw new Error(`nothing was started: ${ran.output}`);
  problems.push((await findSurvivors(late)) && 'it outlived the time it had');
  if (problems.some(Boolean)) return toVerdict(problems);

  const killed = newMark();
  const { structured } = await own.call('bash', { command: `${flee(killed)} sleep 60`, run_in_background: true });
  await own.run(
    `until [ "$(cat /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '^${killed}$')" -ge 4 ]; do sleep 0.02; done`,
  );
  await own.call('kill_shell', { shell_id: structured.shell_id });
  problems.push((await findSurvivors(killed)) && 'it outlived the end of its command');

  const left = newMark();
  await own.run(flee(left));
  await own.reopen();
  problems.push((await findSurvivors(left)) && 'it outlived its session');
  return toVerdict(problems);
}
