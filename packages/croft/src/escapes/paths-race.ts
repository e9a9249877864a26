import { basename } from 'node:path';
import type { AttackCall } from './attack-calls.ts';
import type { CalledTool, Escape, EscapeFixture } from './escape.ts';
import { type Problem, toVerdict } from './to-verdict.ts';
import { canaryName, revealsSecret, watchDirectory } from './watch-outside-workspace.ts';

const lastsMs = 1500;
/** Fewer answers of either kind mean that the race did not happen. */
const enough = 5;

/** Attacks between check and use: the checked path is swapped before it is used. */
export const pathsRace: readonly Escape[] = [
  {
    id: 'A6',
    title: 'directories and files swapped for links while the file tools go through them',
    guards: ['files'],
    async attempt(fixture) {
      const changes = watchDirectory(fixture.outside);
      const shells = await Promise.all([startSwapping(fixture, 'live'), startSwapping(fixture, 'other')]);
      const { answered, refused, problems } = await race(fixture);
      for (const shell_id of shells) await fixture.call('kill_shell', { shell_id });
      const outcome = toVerdict(problems, changes());
      const isRace = answered >= enough && refused >= enough;
      if ('held' in outcome && outcome.held && !isRace) {
        return { skipped: `nothing was swapped in time: ${answered} answers, ${refused} refusals` };
      }
      return outcome;
    },
  },
];

/** Starts a loop that swaps a directory, a link and a file for links that lead outside, and back. */
async function startSwapping(fixture: EscapeFixture, at: string): Promise<unknown> {
  const [out, file] = [`../../${basename(fixture.outside)}`, canaryName(fixture)];
  const command = `mkdir -p ${at}/dir ${at}/in; cd ${at}; echo inside > dir/${file}; echo inside > in/${file}
    ln -s ${out} out; ln -s ${out}/${file} fileout; echo inside > filein; touch ready
    while :; do
      mv dir kept; mv out dir; ln -sfn ${out} link; cp -P fileout f; mv f file.txt
      mv dir out; mv kept dir; ln -sfn in link; cp filein f; mv f file.txt
      [ -e dir/${file} ] || echo inside > dir/${file}
    done 2>/dev/null`;
  const { structured } = await fixture.call('bash', { command, run_in_background: true });
  await fixture.run(`until [ -e ${at}/ready ]; do sleep 0.01; done`);
  return structured.shell_id;
}

async function race(fixture: EscapeFixture) {
  const tally = { answered: 0, refused: 0, problems: [] as Problem[] };
  const file = canaryName(fixture);
  const endAt = performance.now() + lastsMs;
  const lanes = ['live', 'other', 'live', 'other'].map(async (at, lane) => {
    for (let turn = 0; performance.now() < endAt && tally.problems.length === 0; turn += 1) {
      const calls = lane < 2 ? writes(file, at, `${lane}-${turn}`) : reads(file, at);
      for (const call of calls) count(tally, fixture, call, await fixture.call(...call));
    }
  });
  await Promise.all(lanes);
  return tally;
}

function reads(file: string, at: string): AttackCall[] {
  return [
    ['read', { file_path: `${at}/dir/${file}` }],
    ['read', { file_path: `${at}/link/${file}` }],
    ['read', { file_path: `${at}/file.txt` }],
    ['list', { path: `${at}/dir` }],
  ];
}

function writes(file: string, at: string, turn: string): AttackCall[] {
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

function count(
  tally: Awaited<ReturnType<typeof race>>,
  { canary }: EscapeFixture,
  [tool]: AttackCall,
  answer: CalledTool,
): void {
  const revealed = revealsSecret(answer, canary, tool);
  if (revealed) tally.problems.push(revealed);
  if (!answer.isError) tally.answered += 1;
  if (answer.text.includes('outside workspace root')) tally.refused += 1;
}
