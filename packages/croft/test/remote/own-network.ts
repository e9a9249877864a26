import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { collect, croft, makeDirectory } from '../support/harness.ts';
import { hasToolchains } from '../support/toolchains.ts';

const programs = { ip: '/usr/sbin/ip', nsenter: '/usr/bin/nsenter' };

/** Why no network namespace can be made here, or `undefined`. */
export async function whyNoNetwork(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can make a network';
  return (await hasToolchains('iproute')) ? undefined : 'there is no ip';
}

export type OwnNetwork = ReturnType<typeof makeNetwork>;

/** Makes a network namespace with one cable to this one. Named after this process, so that no other test uses it. */
export function makeNetwork() {
  const name = `croft-test-${process.pid}`;
  const [here, there] = [`ch${process.pid}`, `ct${process.pid}`];
  // Addresses of the range reserved for tests.
  const subnet = `198.${18 + ((process.pid >> 8) % 2)}.${process.pid % 256}`;
  const ip = (...args: readonly string[]) => execFileSync(programs.ip, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const remove = () => ip('netns', 'delete', name);
  ip('netns', 'add', name);
  try {
    ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name);
    ip('address', 'add', `${subnet}.1/30`, 'dev', here);
    ip('link', 'set', here, 'up');
    ip('-n', name, 'address', 'add', `${subnet}.2/30`, 'dev', there);
    ip('-n', name, 'link', 'set', there, 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
  } catch (thrown) {
    remove();
    throw thrown;
  }
  return {
    /** Address of this end. */
    address: `${subnet}.1`,
    /** Pulls the cable at the other end. */
    pull: () => void ip('-n', name, 'link', 'set', there, 'down'),
    mend: () => void ip('-n', name, 'link', 'set', there, 'up'),
    /** Command prefix that runs a program there. Everything else, including control groups, is this machine's. */
    enter: [programs.nsenter, `--net=/run/netns/${name}`] as const,
    /** Removes the network and the cable. */
    [Symbol.dispose]: () => void remove(),
  };
}

export interface RunnerInNetworkOptions {
  readonly url: string;
  readonly token: string;
  readonly args?: readonly string[];
}

/** Starts a real `croft runner` in that network. */
export function startRunnerIn(
  { enter: [program, net] }: OwnNetwork,
  { url, token, args = [] }: RunnerInNetworkOptions,
) {
  const [data, root] = [makeDirectory(), makeDirectory()];
  writeFileSync(data.at('token'), token, { mode: 0o600 });
  const given = ['--server', url, '--token-file', data.at('token'), '--data', data.path, '--root', root.path];
  const child = spawn(program, [net, croft, 'runner', ...given, ...args], {
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  return {
    ...{ child, root: root.path, output: collect(child) },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }
      data[Symbol.dispose]();
      root[Symbol.dispose]();
    },
  };
}
