import { statSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeOwnDirectory } from '../lib/own-directory.ts';

export const staticEtc = join(import.meta.dirname, '../../native/etc');

/** What programs look for in /etc, and nothing that is about this machine or its people. */
const systemSettings = [
  ...['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'mime.types', 'protocols', 'services'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'ca-certificates', 'pki/tls', 'pki/ca-trust', 'crypto-policies', 'fonts'],
  ...['java-17-openjdk', 'java-21-openjdk', 'maven', 'gradle', 'python3', 'perl', 'R', 'php', 'terminfo', 'magic'],
];
const ownSettings = ['passwd', 'group', 'hosts', 'nsswitch.conf', 'gitconfig'];

/** What is shown of /etc, by its name in it. */
export const shownSettings: ReadonlyMap<string, string> = new Map([
  ...systemSettings.map((name) => [name, `/etc/${name}`] as const),
  ...ownSettings.map((name) => [name, join(staticEtc, name)] as const),
]);

/** Those who clean /tmp take what is older. */
const freshMs = 24 * 3_600_000;

interface Copy {
  /** Nothing where it could not be made, which is not tried again for every sandbox. */
  readonly directory: string | undefined;
  readonly stamp: string;
  readonly madeAt: number;
}

/**
 * A directory with copies of what is shown of /etc: one mount in place of many, each of which takes time. It is made
 * while others go on, so that nobody waits for it, and made anew when something changes; until then there is none. A
 * program that opens a single sandbox does not need it.
 */
export function createEtc(settings = shownSettings): () => string | undefined {
  let [asked, isMaking] = [0, false];
  let copy: Copy | undefined;
  const renew = async (stamp: string, old = copy?.directory) => {
    isMaking = true;
    copy = { directory: await copyAll(settings), stamp, madeAt: Date.now() };
    isMaking = false;
    // Sandboxes that are open hold what they see of it.
    if (old !== undefined) await rm(old, { recursive: true, force: true });
  };
  return () => {
    const stamp = stampOf(settings);
    if (copy?.stamp === stamp && Date.now() - copy.madeAt < freshMs && isWhole(copy)) return copy.directory;
    if (++asked > 1 && !isMaking) void renew(stamp);
    return undefined;
  };
}

async function copyAll(settings: ReadonlyMap<string, string>): Promise<string | undefined> {
  const directory = makeOwnDirectory('etc');
  try {
    await chmod(directory, 0o755);
    for (const [name, source] of settings) await copyOne(source, join(directory, name));
    return directory;
  } catch {
    await rm(directory, { recursive: true, force: true });
    return undefined;
  }
}

async function copyOne(source: string, target: string): Promise<void> {
  const stats = statSync(source, { throwIfNoEntry: false });
  if (!stats) return;
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  // A link itself may lead to where nothing is inside; those in a directory lead to each other or to /usr.
  if (stats.isDirectory()) await cp(source, target, { recursive: true, verbatimSymlinks: true });
  else await copyFile(source, target);
}

function stampOf(settings: ReadonlyMap<string, string>): string {
  return [...settings.values()]
    .map((source) => statSync(source, { throwIfNoEntry: false }))
    .map((stats) => (stats ? `${stats.ino}:${stats.mtimeMs}:${stats.size}` : ''))
    .join();
}

function isWhole({ directory }: Copy): boolean {
  return directory === undefined || statSync(join(directory, 'passwd'), { throwIfNoEntry: false }) !== undefined;
}
