import type { Escape, EscapeFixture } from './escape.ts';
import { type Listener, listenEverywhere } from './recording-listener.ts';
import { type Problem, toVerdict } from './to-verdict.ts';

/** Attempts with the network policy `deny-all`. */
export const networkClosed: readonly Escape[] = [
  {
    id: 'E61',
    title: 'TCP and UDP to this machine, at every address it has',
    guards: ['network'],
    attempt: async (fixture) => toVerdict(await withListeners((all) => dial(fixture, all))),
  },
  {
    id: 'E61b',
    title: 'an interface or a route of this machine',
    guards: ['network'],
    async attempt(fixture) {
      // Kernels without IPv6 make cat print an error that looks like an interface.
      const { output } = await fixture.run('cat /proc/net/dev /proc/net/route /proc/net/ipv6_route 2>/dev/null');
      const names = [...output.matchAll(/^\s*([\w.-]+):/gm)].map(([, name]) => name);
      const routed = output.split('\n').filter((line) => /^\w+\t[0-9A-F]{8}\t/.test(line));
      if (!names.includes('lo')) throw new Error(`there is not even a loopback: ${output}`);
      return toVerdict(
        names.filter((name) => name !== 'lo').map((name) => `the interface ${name} is there`),
        routed.map((line) => `a route is there: ${line.replaceAll('\t', ' ')}`),
      );
    },
  },
  {
    id: 'E63',
    title: 'data in the labels of a name that is looked up',
    guards: ['network'],
    async attempt(fixture) {
      const query = String.raw`\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x06secret\x07example\x00\x00\x01\x00\x01`;
      const ask = (way: string) => (all: readonly Listener[]) => {
        const asked = all.map(({ address, port }) => `printf '${query}' > /dev/${way}/${address}/${port}`);
        return fixture.run(`exec 2>/dev/null\n${asked.join('\n')}`);
      };
      const problems = [...(await withListeners(ask('udp'))), ...(await withListeners(ask('tcp')))];
      const { output } = await fixture.run('grep -s nameserver /etc/resolv.conf; timeout 5 getent hosts example.com');
      return toVerdict(problems, output !== '' && `a name can be looked up: ${output.trimEnd()}`);
    },
  },
  {
    id: 'E76',
    title: 'a server that runs in another sandbox',
    guards: ['network'],
    attempt: attemptNeighbour,
  },
  {
    id: 'E78',
    title: 'the network after the sandbox was closed and opened again',
    guards: ['network'],
    async attempt(fixture) {
      const own = await fixture.open({});
      await own.run('true');
      await own.reopen();
      return toVerdict(await withListeners((all) => dial(own, all)));
    },
  },
];

async function withListeners(work: (listeners: readonly Listener[]) => Promise<unknown>): Promise<Problem[]> {
  await using stack = new AsyncDisposableStack();
  const listeners = await listenEverywhere();
  for (const listener of listeners) stack.use(listener);
  await work(listeners);
  return (await Promise.all(listeners.map((listener) => listener.findHeard()))).flat();
}

function dial(fixture: EscapeFixture, listeners: readonly Listener[]) {
  const words = listeners.flatMap(({ address, port }) =>
    ['tcp', 'udp'].map((way) => `timeout 2 bash -c 'echo from inside > /dev/${way}/${address}/${port}'`),
  );
  return fixture.run(`exec 2>/dev/null\n${words.join('\n')}`);
}

/** Uses `git daemon` as the server, which is there wherever git is. */
async function attemptNeighbour(fixture: EscapeFixture) {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const [one, other] = [await fixture.open({}), await fixture.open({})];
  const command = `git daemon --listen=127.0.0.1 --port=${port} --base-path=. --export-all`;
  await one.call('bash', { command, run_in_background: true });
  const knock = `timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>/dev/null`;
  const waited = await one.run(`for i in {1..50}; do ${knock} && exit 0; sleep 0.1; done; exit 1`);
  if (waited.exitCode !== 0) return { skipped: 'there is no git daemon to be a server in a sandbox' };
  const { exitCode } = await other.run(knock);
  return toVerdict(exitCode === 0 && 'a server in another sandbox was reached');
}
