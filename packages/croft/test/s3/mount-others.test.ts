import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { S3Mount } from '../../src/storages/s3/mount/s3-mount.ts';
import {
  asOtherTool,
  type BucketLocation,
  connect,
  makeData,
  newBucketLocation,
  openMount,
} from '../support/s3/mount-fixture.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('others')) ?? '';
const signal = new AbortController().signal;

describe.skipIf(!server)('a bucket that other tools use too', () => {
  let location: BucketLocation;
  let data: ReturnType<typeof makeData>;
  let tool: ReturnType<typeof asOtherTool>;
  let opened: S3Mount[];
  beforeEach(() => {
    location = newBucketLocation(server!, bucket);
    data = makeData();
    tool = asOtherTool(location);
    opened = [];
  });
  afterEach(async () => {
    for (const mount of opened) await mount.close();
    tool.close();
    data[Symbol.dispose]();
  });
  async function open(options: Partial<Parameters<typeof openMount>[0]> = {}): Promise<S3Mount> {
    const mount = await openMount({ data: data.path, bucketLocation: location, ...options });
    opened.push(mount);
    return mount;
  }
  const close = async (mount: S3Mount) => {
    opened = opened.filter((each) => each !== mount);
    await mount.close();
  };
  const read = (mount: S3Mount, path: string) => readFileSync(join(mount.directory, path), 'utf8');
  const put = (mount: S3Mount, path: string, text: string) => writeFileSync(join(mount.directory, path), text);

  test('any S3 tool reads committed files, by their ordinary names', async () => {
    const mount = await open();
    mkdirSync(join(mount.directory, 'src/ü'), { recursive: true });
    put(mount, 'src/ü/a b.ts', 'text');
    await mount.commit(signal);
    expect(await tool.keys()).toEqual(['src/ü/a b.ts']);
    expect(await tool.read('src/ü/a b.ts')).toBe('text');
    expect(await tool.metadata('src/ü/a b.ts')).toMatchObject({ 'croft-kind': 'file', 'croft-mode': '644' });
  });

  test('files that other tools write, change and remove are found by the next look at the whole bucket', async () => {
    await tool.write('from/tool.txt', 'one');
    const mount = await open();
    expect(read(mount, 'from/tool.txt')).toBe('one');
    expect(statSync(join(mount.directory, 'from/tool.txt')).mode & 0o777).toBe(0o644);
    await close(mount);
    await tool.write('from/tool.txt', 'two');
    await tool.write('new', 'n');
    const again = await open();
    expect(read(again, 'from/tool.txt')).toBe('two');
    expect(read(again, 'new')).toBe('n');
  });

  test('our change never overwrites a write of another tool meanwhile', async () => {
    await tool.write('f', 'start');
    const mount = await open();
    await tool.write('f', 'by the tool');
    put(mount, 'f', 'ours');
    const refused = await mount.commit(signal).catch((thrown) => thrown);
    expect(refused.code).toBe('E_CONFLICT');
    expect(await tool.read('f')).toBe('by the tool');
    expect(await tool.read(refused.details.conflicts[0].kept)).toBe('ours');
  });

  test('hostile keys never reach the disk, are reported once, and block nothing', async () => {
    const outside = join(data.path, 'outside');
    const hostile = [
      '../../outside',
      'a/../../../outside',
      '/etc/croft-test',
      'a//b',
      './x',
      'd/..',
      '%{2e}%{2e}/%{2e}%{2e}/outside',
    ];
    for (const key of [...hostile, `${'n'.repeat(300)}`, 'good']) await tool.write(key, 'x');
    const onWarning = vi.fn();
    const mount = await open({ onWarning });
    expect(readdirSync(mount.directory)).toEqual(['good']);
    expect(existsSync(outside)).toBe(false);
    expect(existsSync('/etc/croft-test')).toBe(false);
    expect(onWarning.mock.calls.length).toBe(hostile.length + 1);
    put(mount, 'good', 'changed');
    await mount.commit(signal);
    expect((await tool.keys()).length).toBe(hostile.length + 2);
  });

  test('a key that is a file and a directory: the directory is shown, and both objects stay', async () => {
    for (const key of ['a', 'a-b', 'a/b', 'a/c/d', 'z/y', 'z']) await tool.write(key, key);
    const mount = await open();
    expect(readdirSync(mount.directory).toSorted()).toEqual(['a', 'a-b', 'z']);
    expect(read(mount, 'a/b') + read(mount, 'a/c/d') + read(mount, 'z/y')).toBe('a/ba/c/dz/y');
    put(mount, 'a/b', 'changed');
    await mount.commit(signal);
    expect(await tool.all()).toMatchObject({ a: 'a', 'a/b': 'changed', z: 'z', 'z/y': 'z/y' });
  });

  test('a file on one side and a directory of the same name on the other: both are kept', async () => {
    const [ours, theirs] = [await open(), await open({ data: join(data.path, 'second') })];
    put(ours, 'a', 'a file');
    mkdirSync(join(theirs.directory, 'a'));
    put(theirs, 'a/b', 'in a directory');
    await ours.commit(signal);
    await theirs.commit(signal);
    await ours.refresh(signal);
    await ours.commit(signal).catch(() => {});
    await theirs.refresh(signal);
    const shown = (mount: S3Mount) => readdirSync(mount.directory, { recursive: true }).map(String).toSorted();
    expect(shown(ours)).toEqual(shown(theirs));
    const aside = shown(ours).find((name) => name.startsWith('a.conflict-'));
    expect(read(theirs, aside ?? '')).toBe('a file');
    expect(read(ours, 'a/b')).toBe('in a directory');
  });

  test('a service without conditional writes is opened by one server only', async () => {
    const objects = connect(location);
    const careless = { ...objects, probe: async () => ({ isConditional: false, reason: 'it ignored If-Match' }) };
    await expect(open({ objects: careless })).rejects.toThrow(/conditional writes \(it ignored If-Match\)/);
    await tool.write('f', 'x');
    const mount = await open({ objects: careless, access: 'read-only' });
    expect(read(mount, 'f')).toBe('x');
    put(mount, 'f', 'not committed');
    expect(await mount.commit(signal)).toEqual({ committed: [], conflicts: [], queued: [] });
    expect(await tool.read('f')).toBe('x');
  });

  test('a path too long for a key is reported, and the others are stored', async () => {
    const mount = await open();
    const deep = Array.from({ length: 8 }, () => 'd'.repeat(150)).join('/');
    mkdirSync(join(mount.directory, deep), { recursive: true });
    put(mount, `${deep}/f`, 'x');
    put(mount, 'fine', 'x');
    const refused = await mount.commit(signal).catch((thrown) => thrown);
    expect(refused.code).toBe('E_NAME_TOO_LONG');
    expect(refused.details.committed).toContain('fine');
    expect(await tool.read('fine')).toBe('x');
    rmSync(join(mount.directory, 'd'.repeat(150)), { recursive: true });
    expect((await mount.commit(signal)).committed).toEqual([]);
  });

  test('a second server with the same data directory is refused', async () => {
    await open();
    await expect(open()).rejects.toThrow(/another server/);
  });

  test('a tombstone of a dead server does not block a path for ever', { timeout: 60_000 }, async () => {
    const objects = connect(location);
    const key = `${location.namespace}/f`;
    const body = Buffer.from('croft: deleted\n');
    const metadata = { 'croft-kind': 'deleted', 'croft-write': 'somebody-who-died' };
    await objects.put(key, { size: body.length, open: () => body }, { metadata });
    const mount = await open();
    expect(readdirSync(mount.directory)).toEqual([]);
    put(mount, 'f', 'mine');
    expect((await mount.commit(signal)).committed).toEqual(['f']);
    expect(await tool.read('f')).toBe('mine');
    objects.close();
  });
});
