import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { proxyEnvironment } from '../../../src/lib/net/http-proxy/proxy-environment.ts';
import { makeDirectory } from '../harness.ts';
import { native } from './native-sources.ts';

export const relayPort = 3128;

/** A minimal init: starts a relay, then the program. */
const main = `
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "relay/relay.h"
int main(int count, char **words) {
  if (count < 4) return 98;
  int listener = relay_listen((uint16_t)atoi(words[1]));
  if (listener < 0) return perror("relay_listen"), 99;
  if (fork() == 0) {
    relay_run(listener, words[2]);
    perror("relay_run");
    _exit(1);
  }
  execvp(words[3], words + 3);
  return 97;
}`;

/** Compiles the relay like the init, with stricter warnings. */
export function buildRelay() {
  const directory = makeDirectory();
  const program = directory.at('relay');
  writeFileSync(directory.at('main.c'), main);
  const flags = ['-O2', '-Wall', '-Wextra', '-Werror', '-static', '-iquote', native];
  execFileSync('cc', [...flags, '-o', program, directory.at('main.c'), join(native, 'relay/relay.c')]);
  return { program, [Symbol.dispose]: directory[Symbol.dispose] };
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Inside {
  readonly relay: string;
  /** Socket of the proxy on the host. */
  readonly socketPath: string;
  /** Command that makes the network namespace. By default bubblewrap. */
  readonly wrapper?: readonly string[];
}

/** Runs a program in its own network namespace, with the relay as the only way out. */
export async function runInside({ relay, socketPath, wrapper }: Inside, argv: readonly string[]): Promise<Outcome> {
  const fence = wrapper ?? [
    ...['bwrap', '--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', '--ro-bind', '/', '/'],
    ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', '--ro-bind', socketPath, '/run/proxy.sock'],
  ];
  const path = wrapper ? socketPath : '/run/proxy.sock';
  const [program = '', ...args] = [...fence, relay, String(relayPort), path, ...argv];
  const env = { PATH: '/usr/bin:/bin', ...proxyEnvironment(`http://127.0.0.1:${relayPort}`) };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => stream.setEncoding('utf8').toArray());
  const [code] = await once(child, 'close');
  return { code, stdout: (await stdout)!.join(''), stderr: (await stderr)!.join('') };
}
