import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { collect, croft, makeDirectory } from '../harness.ts';
import { hasToolchains } from '../toolchains.ts';

const programs = { ip: '/usr/sbin/ip', nsenter: '/usr/bin/nsenter' };

/** Why there can be no network of its own here, if so. */
export async function whyNoNetwork(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can make a network';
  return (await hasToolchains('iproute')) ? undefined : 'there is no ip';
}

export type OwnNetwork = ReturnType<typeof makeNetwork>;

/** A network with one cable, whose other end is here. Named after this process, so that no other test has the same. */
export function makeNetwork() {
  const name = `croft-test-${process.pid}`;
  const [here, there] = [`ch${process.pid}`, `ct${process.pid}`];
  // Of the addresses that nobody has, which are set aside for tests.
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
    /** Of this end. */
    address: `${subnet}.1`,
    /** The cable, at the other end. */
    pull: () => void ip('-n', name, 'link', 'set', there, 'down'),
    mend: () => void ip('-n', name, 'link', 'set', there, 'up'),
    /** What runs a program there. The rest of the machine is as it is here, its control groups too. */
    enter: [programs.nsenter, `--net=/run/netns/${name}`] as const,
    /** The cable goes with it. */
    [Symbol.dispose]: () => void remove(),
  };
}

export interface RunnerThere {
  readonly url: string;
  readonly token: string;
  readonly args?: readonly string[];
}

/** A real `croft runner` in that network. */
export function startRunnerIn({ enter: [program, net] }: OwnNetwork, { url, token, args = [] }: RunnerThere) {
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
