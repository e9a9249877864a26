import { basename } from 'node:path';
import type { Called, Escape, Ground } from './escape.ts';
import { canaryName, tells, watchOver } from './outside.ts';
import type { ToolCall } from './paths-calls.ts';
import { type Problem, verdict } from './verdict.ts';

const lastsMs = 1500;
/** As many of each kind of answer, or the race did not take place. */
const enough = 5;

/** Something else than was looked at stands there when it is used. */
export const pathsRace: readonly Escape[] = [
  {
    id: 'A6',
    title: 'directories and files swapped for links while the file tools go through them',
    guards: ['files'],
    async attempt(ground) {
      const changes = watchOver(ground.outside);
      const shells = await Promise.all([startSwapping(ground, 'live'), startSwapping(ground, 'other')]);
      const { answered, refused, problems } = await race(ground);
      for (const shell_id of shells) await ground.call('kill_shell', { shell_id });
      const outcome = verdict(problems, changes());
      const isRace = answered >= enough && refused >= enough;
      if ('held' in outcome && outcome.held && !isRace) {
        return { skipped: `nothing was swapped in time: ${answered} answers, ${refused} refusals` };
      }
      return outcome;
    },
  },
];

/** A directory, a link to it and a file, each of which is in turn what it says and a link out. */
async function startSwapping(ground: Ground, at: string): Promise<unknown> {
  const [out, file] = [`../../${basename(ground.outside)}`, canaryName(ground)];
  const command = `mkdir -p ${at}/dir ${at}/in; cd ${at}; echo inside > dir/${file}; echo inside > in/${file}
    ln -s ${out} out; ln -s ${out}/${file} fileout; echo inside > filein; touch ready
    while :; do
      mv dir kept; mv out dir; ln -sfn ${out} link; cp -P fileout f; mv f file.txt
      mv dir out; mv kept dir; ln -sfn in link; cp filein f; mv f file.txt
      [ -e dir/${file} ] || echo inside > dir/${file}
    done 2>/dev/null`;
  const { structured } = await ground.call('bash', { command, run_in_background: true });
  await ground.run(`until [ -e ${at}/ready ]; do sleep 0.01; done`);
  return structured.shell_id;
}

async function race(ground: Ground) {
  const tally = { answered: 0, refused: 0, problems: [] as Problem[] };
  const file = canaryName(ground);
  const endAt = performance.now() + lastsMs;
  const lanes = ['live', 'other', 'live', 'other'].map(async (at, lane) => {
    for (let turn = 0; performance.now() < endAt && tally.problems.length === 0; turn += 1) {
      const calls = lane < 2 ? writes(file, at, `${lane}-${turn}`) : reads(file, at);
      for (const call of calls) count(tally, ground, call, await ground.call(...call));
    }
  });
  await Promise.all(lanes);
  return tally;
}

function reads(file: string, at: string): ToolCall[] {
  return [
    ['read', { file_path: `${at}/dir/${file}` }],
    ['read', { file_path: `${at}/link/${file}` }],
    ['read', { file_path: `${at}/file.txt` }],
    ['list', { path: `${at}/dir` }],
  ];
}

function writes(file: string, at: string, turn: string): ToolCall[] {
  return [
    ['write', { file_path: `${at}/dir/new-${turn}`, content: 'inside\n' }],
    ['write', { file_path: `${at}/link/a-${turn}/b`, content: 'inside\n' }],
    ['move', { from: `${at}/dir/${file}`, to: `taken/${turn}` }],
    ['write', { file_path: `own/${turn}`, content: 'inside\n' }],
    ['move', { from: `own/${turn}`, to: `${at}/dir/moved-${turn}` }],
    ['delete', { file_path: `${at}/dir/${file}` }],
    ['delete', { file_path: `${at}/link/`, recursive: true }],
  ];
}

function count(tally: Awaited<ReturnType<typeof race>>, { canary }: Ground, [tool]: ToolCall, answer: Called): void {
  const told = tells(answer, canary, tool);
  if (told) tally.problems.push(told);
  if (!answer.isError) tally.answered += 1;
  if (answer.text.includes('outside workspace root')) tally.refused += 1;
}
