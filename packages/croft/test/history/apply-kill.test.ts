import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { onDisk, prepareTree } from './trees.ts';

const applier = join(import.meta.dirname, '../fixtures/tree-applier.ts');

/** A directory that is made is nobody else's until all of it is there. */
function inTheMaking(shown: string | undefined): string | undefined {
  return shown?.startsWith('directory ') ? 'directory 700' : undefined;
}

test('kill −9 in the middle of an apply leaves every file whole, old or new, and the apply can be repeated', async () => {
  const fixture = prepareTree();
  for (let file = 0; file < 40; file++) writeFileSync(fixture.at(`f${file}`), `one ${file} `.repeat(3000));
  mkdirSync(fixture.at('old/deep'), { recursive: true });
  writeFileSync(fixture.at('old/deep/a'), 'a');
  symlinkSync('f1', fixture.at('link'));
  const tree = await fixture.open();
  const one = (await tree.capture({ scope: 'all' })).root;
  const was = onDisk(fixture.path);
  for (let file = 0; file < 40; file += 2) writeFileSync(fixture.at(`f${file}`), `two ${file} `.repeat(3000));
  rmSync(fixture.at('old'), { recursive: true });
  rmSync(fixture.at('link'));
  symlinkSync('f2', fixture.at('link'));
  mkdirSync(fixture.at('new/deep'), { recursive: true });
  writeFileSync(fixture.at('new/deep/b'), 'b');
  chmodSync(fixture.at('f1'), 0o755);
  const other = (await tree.capture({ scope: 'all' })).root;
  const is = onDisk(fixture.path);

  for (const delay of [0, 3, 10, 25, 60, 2, 40, 90]) {
    const child = spawn(process.execPath, [applier, fixture.path, fixture.data, one, other], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === 'begin') setTimeout(() => child.kill('SIGKILL'), delay);
    }
    await exited;
    const found = Object.entries(onDisk(fixture.path)).filter(([path]) => !/(^|\/)\.croft-tmp-/.test(path));
    for (const [path, shown] of found) expect([was[path], is[path], inTheMaking(is[path])]).toContain(shown);
    // A path that both trees have is never missing.
    const paths = new Set(found.map(([path]) => path));
    expect(Object.keys(was).filter((path) => path in is && !paths.has(path))).toEqual([]);
    const here = (await tree.capture({ scope: 'all' })).root;
    await tree.apply(await tree.diff(here, one));
    expect((await tree.capture({ scope: 'all' })).root).toBe(one);
  }
}, 120_000);
