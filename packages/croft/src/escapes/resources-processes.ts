import { randomUUID } from 'node:crypto';
import type { Escape, Ground } from './escape.ts';
import { hasGroups } from './host.ts';
import { countProcesses, findSurvivors, watchMost, whileAsking } from './meanwhile.ts';
import { type Problem, verdict } from './verdict.ts';

const maxProcesses = 48;
const megabyte = 1024 * 1024;

/** Programs without end, and programs that outlive theirs. */
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
    async attempt(ground) {
      const [own, other] = [await ground.open({ limits: { memoryBytes: 64 * megabyte } }), await ground.open({})];
      const size = 128 * megabyte;
      const bomb = `head -c ${size} /dev/zero | tail -c ${size} | wc -c`;
      const { result, problems } = await whileAsking(other, () => own.run(`${bomb}; ${bomb}`));
      const again = await own.run('echo again');
      return verdict(
        problems,
        result.output.includes(String(size)) && 'twice the memory it may have was had',
        again.output !== 'again\n' && 'the sandbox is of no use afterwards',
        // Without a group each process has its own limit, and says itself that it came to it.
        hasGroups() && !result.denials.some(({ rule }) => rule === 'memory') && 'nobody says why it ended',
      );
    },
  },
  {
    id: 'G96',
    title: 'all the handles there are',
    guards: ['limits'],
    async attempt(ground) {
      const [own, other] = [await ground.open({ limits: { openFiles: 64 } }), await ground.open({})];
      const open = 'for i in {10..150}; do eval "exec $i</dev/null" || exit 1; done 2>/dev/null; echo all of them';
      const everyone = `for i in {1..20}; do (${open}; sleep 1) & done; ${open}`;
      const { result, problems } = await whileAsking(other, () => own.run(everyone));
      return verdict(problems, result.output.includes('all of them') && 'more handles were opened than it may have');
    },
  },
  {
    id: 'G97',
    title: 'a process that leaves its group, its session and its parent',
    guards: ['init', 'namespaces'],
    attempt: attemptOutliving,
  },
];

async function attemptForkBomb(ground: Ground) {
  const [own, other] = [await ground.open({ limits: { processes: maxProcesses } }), await ground.open({})];
  const mark = randomUUID();
  const bomb = `: ${mark}; bomb() { bomb | bomb & bomb & }; bomb; while :; do bomb; done 2>/dev/null`;
  const count = () => countProcesses(mark);
  const { result, problems } = await whileAsking(other, () =>
    watchMost(count, () => own.run(bomb, { timeoutSeconds: 2 })),
  );
  const survivors = await findSurvivors(mark);
  const again = await own.run('echo again');
  return verdict(
    problems,
    survivors,
    result.most > maxProcesses && `there were ${result.most} processes`,
    again.output !== 'again\n' && 'the sandbox is of no use afterwards',
    !result.result.denials.some(({ rule }) => rule === 'processes') && 'nobody says why it could not go on',
  );
}

/** Ended by time, by hand, and with the session. */
async function attemptOutliving(ground: Ground) {
  const own = await ground.open({});
  const problems: Problem[] = [];
  const newMark = () => `${9000 + Math.random()}`;
  const flee = (mark: string) =>
    `setsid -f sleep ${mark}; (setsid bash -c 'trap "" HUP TERM INT; (sleep ${mark} & disown; exec sleep ${mark}) &' &); nohup sleep ${mark} >/dev/null 2>&1 &`;

  const late = newMark();
  const ran = await own.run(`${flee(late)} echo started; sleep 60`, { timeoutSeconds: 1 });
  if (!ran.output.includes('started')) throw new Error(`nothing was started: ${ran.output}`);
  problems.push((await findSurvivors(late)) && 'it outlived the time it had');
  if (problems.some(Boolean)) return verdict(problems);

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
  return verdict(problems);
}
