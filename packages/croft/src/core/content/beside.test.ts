import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../../test/harness.ts';
import { createDiskFiles } from '../../disk/files.ts';
import { openRoot } from '../../disk/handles.ts';
import { leaveOutBeside } from './beside.ts';

const directories = ['src/app/deep', 'src/lib', 'test', '.git', 'odd name', 'odd name ', 'x!', 'a{b}', '-rf'];

async function leaveOut(pattern: string): Promise<string[]> {
  using ground = makeDirectory();
  for (const directory of directories) mkdirSync(ground.at(directory), { recursive: true });
  writeFileSync(ground.at('file.txt'), '');
  symlinkSync('src', ground.at('link'));
  const files = createDiskFiles({ handle: openRoot(ground.path), names: [] });
  return (await leaveOutBeside(pattern, files)).toSorted();
}

const besideSource = ['--glob=!/-rf', '--glob=!/.git', '--glob=!/test'];

test.each([
  ['src/*.ts', besideSource],
  ['src/app/**/x', [...besideSource, '--glob=!/src/lib']],
  ['src/app/deep/x', [...besideSource, '--glob=!/src/lib']],
  ['src/[al]*/x', besideSource],
  ['src/gone/x', besideSource],
  ['.git/x', ['--glob=!/-rf', '--glob=!/src', '--glob=!/test']],
])('%s can match nothing in directories with other names', async (pattern, left) => {
  expect(await leaveOut(pattern)).toEqual(left.toSorted());
});

// One that has to be written otherwise in a pattern is no reason to be wrong about it.
test.each([
  ...['*.ts', 'src', '**/app/x', '{src,test}/x', '!src/x', '/src/x', './src/x', '../x', 's\\rc/x', 'odd name/x'],
  ...['gone/x', 'file.txt/x', 'link/app/x', ''],
])('%j is searched for everywhere', async (pattern) => {
  expect(await leaveOut(pattern)).toEqual([]);
});
