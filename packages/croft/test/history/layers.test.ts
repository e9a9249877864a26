import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../../src/core/commands/run-command.ts';
import { createDiskFiles } from '../../src/disk/disk-files.ts';
import { createLayers } from '../../src/history/overlay/layers.ts';
import { openSandbox } from '../support/sandboxes/open-sandbox.ts';
import { canOverlay, kinds, mountsIn, openLayersFixture, summarizeChanges } from './layers-fixture.ts';

const signal = new AbortController().signal;
const find = { maxPaths: 1000, signal };

describe.each(kinds)('a layer (%s)', (kind) => {
  test('starts as the workspace is, and its writes stay in it', async () => {
    const { workspace, open } = openLayersFixture(kind, { 'a.txt': 'one', 'sub/b.txt': 'two' });
    {
      await using layer = await open();
      expect(layer.kind).toBe(kind);
      expect(readFileSync(join(layer.path, 'sub/b.txt'), 'utf8')).toBe('two');
      writeFileSync(join(layer.path, 'a.txt'), 'changed');
      rmSync(join(layer.path, 'sub'), { recursive: true });
    }
    expect(readFileSync(workspace.at('a.txt'), 'utf8')).toBe('one');
    expect(readFileSync(workspace.at('sub/b.txt'), 'utf8')).toBe('two');
  });

  test('leaves nothing behind', async () => {
    const { data, open } = openLayersFixture(kind, { a: '1' });
    const layer = await open();
    writeFileSync(join(layer.path, 'new'), 'x');
    await layer[Symbol.asyncDispose]();
    expect(readdirSync(data.at('layers'))).toEqual([]);
    expect(mountsIn(data.path)).toEqual([]);
  });

  test('tells what was added, modified and deleted, with contents', async () => {
    const { contents, open } = openLayersFixture(kind, {
      keep: 'k',
      change: 'old',
      gone: 'g',
      'deep/er/x': 'x',
      'deep/y': 'y',
    });
    await using layer = await open();
    writeFileSync(join(layer.path, 'change'), 'new');
    rmSync(join(layer.path, 'gone'));
    rmSync(join(layer.path, 'deep/er'), { recursive: true });
    mkdirSync(join(layer.path, 'made/empty'), { recursive: true });
    writeFileSync(join(layer.path, 'made/file'), 'made');
    chmodSync(join(layer.path, 'deep/y'), 0o755);
    symlinkSync('../outside', join(layer.path, 'link'));
    const { changes, alsoChanged } = await layer.findChanges(find);
    expect(summarizeChanges(changes)).toEqual([
      'M change',
      'D deep/er/x',
      'M deep/y',
      'D gone',
      'A link',
      'A made/empty',
      'A made/file',
    ]);
    expect(alsoChanged).toEqual([]);
    const after = changes.find(({ path }) => path === 'change')?.after;
    expect(contents.get(after?.hash ?? '')?.toString()).toBe('new');
  });

  test('reports no change if nothing was done, or if it was undone', async () => {
    const { open } = openLayersFixture(kind, { a: 'a', 'b/c': 'c' });
    await using layer = await open();
    writeFileSync(join(layer.path, 'a'), 'x');
    writeFileSync(join(layer.path, 'a'), 'a');
    renameSync(join(layer.path, 'b'), join(layer.path, 'd'));
    renameSync(join(layer.path, 'd'), join(layer.path, 'b'));
    expect((await layer.findChanges(find)).changes).toEqual([]);
  });

  test('reads through directories that changed places, and through one in the place of another', async () => {
    const { open } = openLayersFixture(kind, {
      'a/same': 'one',
      'a/x': '1',
      'b/same': 'two',
      'b/sub/y': '2',
      'c/z': 'z',
    });
    await using layer = await open();
    const at = (name: string) => join(layer.path, name);
    renameSync(at('a'), at('t'));
    renameSync(at('b'), at('a'));
    renameSync(at('t'), at('b'));
    rmSync(at('c'), { recursive: true });
    writeFileSync(at('c'), 'a file now');
    const { changes } = await layer.findChanges(find);
    expect(summarizeChanges(changes)).toEqual([
      'M a/same',
      'A a/sub/y',
      'D a/x',
      'M b/same',
      'D b/sub/y',
      'A b/x',
      'A c',
      'D c/z',
    ]);
  });

  test('a directory that was emptied and filled again has the new content', async () => {
    const { open } = openLayersFixture(kind, { 'd/one': '1', 'd/two': '2', 'd/sub/three': '3' });
    await using layer = await open();
    rmSync(join(layer.path, 'd'), { recursive: true });
    mkdirSync(join(layer.path, 'd'));
    writeFileSync(join(layer.path, 'd/two'), '2');
    expect(summarizeChanges((await layer.findChanges(find)).changes)).toEqual(['D d/one', 'D d/sub/three']);
  });

  test('reports the deletion of everything', async () => {
    const { workspace, open } = openLayersFixture(kind, { a: '1', 'b/c/d': '2', '.git/HEAD': 'ref' });
    await using layer = await open();
    spawnSync('find', [layer.path, '-mindepth', '1', '-delete']);
    expect(summarizeChanges((await layer.findChanges(find)).changes)).toEqual(['D .git/HEAD', 'D a', 'D b/c/d']);
    expect(readdirSync(workspace.path).sort()).toEqual(['.git', 'a', 'b']);
  });

  test('names those of its changes that also changed in the workspace meanwhile', async () => {
    const { workspace, open } = openLayersFixture(kind, { both: 'o', theirs: 'o', mine: 'o', doomed: 'o' });
    await using layer = await open();
    // The clock that the kernel writes down changes by ticks.
    await new Promise((resolve) => setTimeout(resolve, 30));
    writeFileSync(join(layer.path, 'both'), 'layer');
    writeFileSync(join(layer.path, 'mine'), 'layer');
    rmSync(join(layer.path, 'doomed'));
    for (const name of ['both', 'theirs', 'doomed', 'brand-new']) writeFileSync(workspace.at(name), 'workspace');
    const { changes, alsoChanged } = await layer.findChanges(find);
    expect(alsoChanged).toContain('both');
    expect(alsoChanged).not.toContain('mine');
    expect(summarizeChanges(changes)).toContain('M mine');
    expect(summarizeChanges(changes)).not.toContain('D brand-new');
    expect(summarizeChanges(changes)).not.toContain('M theirs');
  });

  test('hostile trees: odd names, links out, whiteouts of other file systems, hard links', async () => {
    const {
      workspace,
      lower: _,
      open,
    } = openLayersFixture(kind, {
      '.wh.file': 'not a whiteout',
      '.wh..wh..opq': 'nor this',
      'a\nb\\c:d,e': 'odd',
      'trusted.overlay.opaque': 'y',
    });
    const raw = Buffer.concat([Buffer.from(`${workspace.path}/`), Buffer.from([0xff, 0x41, 0xfe])]);
    writeFileSync(raw, 'bytes');
    symlinkSync('/etc/passwd', workspace.at('out'));
    symlinkSync('/etc', workspace.at('outdir'));
    writeFileSync(workspace.at('one'), 'shared');
    linkSync(workspace.at('one'), workspace.at('two'));
    spawnSync('mkfifo', [workspace.at('pipe')]);
    spawnSync('setfattr', ['-n', 'user.overlay.opaque', '-v', 'y', workspace.path]);
    await using layer = await open();
    const names = readdirSync(layer.path, { encoding: 'buffer' }).map((name) => name.toString('latin1'));
    expect(names).toContain('\xffA\xfe');
    expect(names).toContain('a\nb\\c:d,e');
    expect(readlinkSync(join(layer.path, 'outdir'))).toBe('/etc');
    rmSync(join(layer.path, 'out'));
    mkdirSync(join(layer.path, 'out'));
    writeFileSync(join(layer.path, 'out/of'), 'mine');
    writeFileSync(Buffer.concat([Buffer.from(`${layer.path}/`), Buffer.from([0xff, 0x41, 0xfe])]), 'other');
    writeFileSync(join(layer.path, 'one'), 'no longer shared');
    const { changes } = await layer.findChanges(find);
    expect(summarizeChanges(changes).filter((line) => !line.endsWith(' two'))).toEqual([
      'M one',
      'D out',
      'A out/of',
      'M \udcffA\udcfe',
    ]);
    expect(readFileSync(workspace.at('one'), 'utf8')).toBe('shared');
    expect(existsSync('/etc/of')).toBe(false);
  });

  test('keeps modes and owners, and its root belongs to the owner of the workspace', async () => {
    const { workspace, open } = openLayersFixture(kind, { run: '#!/bin/sh', 'locked/in': 'x' });
    chmodSync(workspace.at('run'), 0o751);
    chmodSync(workspace.at('locked'), 0o555);
    chmodSync(workspace.path, 0o750);
    if (canOverlay) spawnSync('chown', ['-R', '1500:1501', workspace.path]);
    await using layer = await open();
    const traits = (path: string) => (({ uid, gid, mode }) => ({ uid, gid, mode }))(lstatSync(path));
    for (const name of ['', 'run', 'locked', 'locked/in'])
      expect(traits(join(layer.path, name))).toEqual(traits(workspace.at(name)));
  });

  test('refuses more changes than asked for, without blocking', async () => {
    const { open } = openLayersFixture(kind, {});
    await using layer = await open();
    for (let index = 0; index < 12; index += 1) writeFileSync(join(layer.path, `f${index}`), 'x');
    await expect(layer.findChanges({ maxPaths: 10, signal })).rejects.toMatchObject({ code: 'E_TOO_LARGE' });
  });

  test('refuses a sparse file before it is read', async () => {
    const { contents, open } = openLayersFixture(kind, {});
    await using layer = await open();
    writeFileSync(join(layer.path, 'holes'), '');
    truncateSync(join(layer.path, 'holes'), 2 ** 40);
    await expect(layer.findChanges({ ...find, maxBytes: 2 ** 30 })).rejects.toMatchObject({ code: 'E_TOO_LARGE' });
    expect(contents.size).toBe(0);
  });

  test('copies a workspace with a sparse file as sparse', async () => {
    const { workspace, open } = openLayersFixture(kind, { holes: Buffer.from('start') });
    truncateSync(workspace.at('holes'), 64 * 2 ** 20);
    appendFileSync(workspace.at('holes'), 'end');
    await using layer = await open();
    const { size, blocks } = statSync(join(layer.path, 'holes'));
    expect(size).toBe(64 * 2 ** 20 + 3);
    expect(blocks * 512).toBeLessThan(8 * 2 ** 20);
    expect(readFileSync(join(layer.path, 'holes')).equals(readFileSync(workspace.at('holes')))).toBe(true);
    expect((await layer.findChanges(find)).changes).toEqual([]);
  });

  test('stores a large content completely', async () => {
    const { contents, open } = openLayersFixture(kind, {});
    await using layer = await open();
    const large = Buffer.alloc(3 * 1024 * 1024 + 7, 'large ');
    writeFileSync(join(layer.path, 'large'), large);
    const [change] = (await layer.findChanges(find)).changes;
    expect(contents.get(change?.after?.hash ?? '')?.equals(large)).toBe(true);
  });

  test('serves sandboxes and Files, and shows nothing of its implementation', async () => {
    const { workspace, open } = openLayersFixture(kind, { 'a.txt': 'hello', 'd/e': 'e' });
    await using layer = await open();
    const sandbox = await openSandbox(layer.path);
    const command = 'cat a.txt && mv d d2 && rm a.txt && echo new > b.txt && ls -A && stat -c %u . && ls -A ..';
    const result = await runCommand(sandbox, {
      argv: ['bash', '-c', command],
      ...{ environment: {}, timeoutMs: 20_000, signal, bytes: undefined, redact: (text: string) => text },
    });
    expect(result.exitCode, result.output).toBe(0);
    expect(result.stdout).not.toMatch(/upper|work\n|merged/);
    await sandbox.close();
    const files = createDiskFiles({ handle: layer.directoryFd, names: ['/workspace'] });
    expect((await files.read('b.txt')).bytes.toString()).toBe('new\n');
    await files.rename('d2', 'd3');
    await files.write('d3/f', Buffer.from('f'));
    expect(summarizeChanges((await layer.findChanges(find)).changes)).toEqual([
      'D a.txt',
      'A b.txt',
      'D d/e',
      'A d3/e',
      'A d3/f',
    ]);
    expect(readdirSync(workspace.path).sort()).toEqual(['a.txt', 'd']);
  });
});

describe('layers of a killed server', () => {
  test.runIf(canOverlay)('are removed by the next: mounts and files, and never the files below them', async () => {
    const { workspace, data, layers } = openLayersFixture('overlay', { precious: 'yes' });
    const script = `
      import { openSync } from 'node:fs';
      import { createLayers } from '${join(import.meta.dirname, '../../src/history/overlay/layers.ts')}';
      const layers = createLayers({ parent: process.argv[1] });
      const layer = await layers.open({ lowerFd: openSync(process.argv[2]), store: {} });
      console.log(layer.kind);
      process.kill(process.pid, 'SIGKILL');
    `;
    const { stdout } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', script, '--', data.at('layers'), workspace.path],
      { encoding: 'utf8' },
    );
    expect(stdout).toBe('overlay\n');
    expect(mountsIn(data.path)).toHaveLength(1);
    await layers.sweep();
    expect(mountsIn(data.path)).toEqual([]);
    expect(readdirSync(data.at('layers'))).toEqual([]);
    expect(readFileSync(workspace.at('precious'), 'utf8')).toBe('yes');
  });

  test('are kept if their server is alive', async () => {
    const { data, layers, open } = openLayersFixture('overlay', { a: '1' });
    await using layer = await open();
    await createLayers({ parent: data.at('layers') }).sweep();
    await layers.sweep();
    expect(statSync(join(layer.path, 'a')).size).toBe(1);
  });
});

test.runIf(canOverlay)(
  'an owner who cannot reach the data directory gets no layer that another user would run in',
  async () => {
    const { workspace, data, open } = openLayersFixture('overlay', { a: '1' });
    spawnSync('chown', ['1500:1500', workspace.path]);
    chmodSync(data.path, 0o700);
    await expect(open()).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
    expect(mountsIn(data.path)).toEqual([]);
  },
);

test('too large a copy is refused, and nothing of it is left', async () => {
  const { data, lower, layers } = openLayersFixture('copy', { big: Buffer.alloc(10_000) });
  await expect(layers.open({ lowerFd: lower, store: {} as never, maxBytes: 5000 })).rejects.toMatchObject({
    code: 'E_QUOTA',
  });
  expect(readdirSync(data.at('layers'))).toEqual([]);
});
