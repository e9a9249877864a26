import { boot, ways } from '../packages/croft/test/vm/machine.ts';

const [, , way, ...argv] = process.argv;
const as = ways.find((known) => known === way);
if (as === undefined || argv.length === 0) {
  console.error(
    `npm run vm -- ${ways.join('|')} COMMAND …: runs it in a Linux that has control groups version 2 alone`,
  );
  process.exit(2);
}
const onOutput = (text: string) => void process.stdout.write(text);
const { code } = await boot({ jobs: [{ as, argv }], withinMs: 60 * 60_000, onOutput });
process.exitCode = code ?? 1;
