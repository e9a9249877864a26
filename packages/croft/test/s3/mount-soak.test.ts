import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  asOtherTool,
  type BucketLocation,
  makeData,
  newBucketLocation,
  openMount,
} from '../support/s3/mount-fixture.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('soak')) ?? '';
const seconds = Number(process.env.CROFT_SOAK_S ?? 15);

interface Edit {
  readonly did: 'append' | 'create' | 'remove';
  readonly path: string;
  readonly token?: string;
  readonly had?: string;
}

interface Reported {
  readonly edits: readonly Edit[];
  readonly conflicts: readonly { path: string; kept: string; reason: string }[];
}

function runChild(settings: {
  location: BucketLocation;
  data: string;
  name: string;
  forMs: number;
}): Promise<Reported[]> {
  const script = join(import.meta.dirname, 'mount-soak-child.ts');
  const options = { maxBuffer: 1 << 28 };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script, JSON.stringify(settings)], options, (error, out, err) => {
      if (error) reject(new Error(`${error.message}\n${err}`));
      else
        resolve(
          out
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line)),
        );
    });
  });
}

describe.skipIf(!server)('two servers that edit one workspace', () => {
  test('no update is lost: each acknowledged one is there, or was removed by a server that had seen it', {
    timeout: seconds * 1000 + 120_000,
  }, async () => {
    using data = makeData();
    const location = newBucketLocation(server!, bucket);
    const servers = ['a', 'b'].map((name) => ({
      name,
      location,
      data: join(data.path, name),
      forMs: seconds * 1000,
    }));
    const reported = (await Promise.all(servers.map(runChild))).flat();
    const tool = asOtherTool(location);
    const there = await tool.all();
    const [edits, conflicts] = [reported.flatMap(({ edits }) => edits), reported.flatMap(({ conflicts }) => conflicts)];
    expect(edits.length).toBeGreaterThan(20);
    // A token is wherever it can be read: at its path, or in what was kept beside it.
    const everything = Object.values(there).join('\n').split('\n');
    // What was removed while somebody changed it came back.
    const removals = reported.flatMap(({ edits: own, conflicts: clashes }) =>
      own.filter(({ path }) => !clashes.some((clash) => clash.path === path)),
    );
    const taken = new Set(removals.flatMap(({ had }) => had?.split('\n') ?? []));
    const left = new Set(everything);
    const lost = edits.flatMap(({ token }) => token ?? []).filter((token) => !left.has(token) && !taken.has(token));
    expect(lost).toEqual([]);
    // A writer without a reported conflict finds its content in the file itself.
    for (const { edits: own, conflicts: clashes } of reported) {
      const disputed = new Set(clashes.map(({ path }) => path));
      for (const { did, path, token = '' } of own.filter(
        ({ path }) => path.startsWith('shared/') && !disputed.has(path),
      ))
        expect(
          there[path]?.split('\n').filter((line) => line === token),
          `${did} ${path}`,
        ).toEqual([token]);
    }
    const third = await openMount({ data: join(data.path, 'third'), bucketLocation: location });
    expect(Object.keys(there).some((key) => there[key]?.startsWith('croft: deleted'))).toBe(false);
    await third.close();
    console.info(`${reported.length} commits, ${edits.length} edits, ${conflicts.length} conflicts`);
    tool.close();
  });
});
