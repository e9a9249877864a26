import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const s3Keys = { accessKeyId: 'croft-test', secretAccessKey: 'croft-test-secret-of-the-gateway' };

export interface Gateway extends AsyncDisposable {
  readonly endpoint: string;
  /** Kills it as in a power cut: every connection ends without a word. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
  /** Stops it with SIGSTOP: the kernel accepts connections, and nothing is answered until `resume`. */
  hang(): void;
  resume(): void;
}

/** Starts Ceph as children of this process: one monitor, one store in memory, one gateway. */
export async function startCluster(baseDirectory: string): Promise<Gateway> {
  const [monitorPort, port] = [await findPort(), await findPort()];
  const config = writeConfig(baseDirectory, monitorPort);
  const started: Daemon[] = [];
  const begin = (program: string, name: string) => {
    const daemon = startDaemon(program, [...config.args, '-i', name]);
    started.unshift(daemon);
  };
  await makeMonitor(baseDirectory, monitorPort, config);
  begin('ceph-mon', 'a');
  await addStore(config);
  begin('ceph-osd', '0');
  const ceph = (...args: readonly string[]) => run('timeout', ['60', 'ceph', ...config.args, ...args]);
  await ceph('osd', 'crush', 'add', 'osd.0', '1.0', 'root=default', 'host=h');
  const gateway = await startGatewayAt(baseDirectory, 'a', port);
  await addUser(config);
  return {
    ...gateway,
    // Stops the gateway first and the monitor last: a store without its monitor hangs.
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      for (const daemon of started) await daemon.end();
    },
  };
}

/** Starts another gateway to the cluster in `fixture`, for tests that kill it. */
export async function startGatewayAt(baseDirectory: string, name: string, port: number): Promise<Gateway> {
  const frontend = `beast endpoint=127.0.0.1:${port} tcp_nodelay=1`;
  const args = [...configAt(baseDirectory).args, '-n', `client.rgw.${name}`, `--rgw_frontends=${frontend}`];
  let daemon = startDaemon('radosgw', args);
  await mustListen(port);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    kill: () => daemon.end('SIGKILL'),
    hang: () => daemon.signal('SIGSTOP'),
    resume: () => daemon.signal('SIGCONT'),
    async restart() {
      await daemon.end('SIGKILL');
      daemon = startDaemon('radosgw', args);
      await mustListen(port);
    },
    [Symbol.asyncDispose]: () => daemon.end('SIGKILL'),
  };
}

interface Daemon {
  signal(signal: NodeJS.Signals): void;
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** The daemon ends with this process. */
function startDaemon(program: string, args: readonly string[]): Daemon {
  const child = spawn('setpriv', ['--pdeathsig=KILL', '--', program, ...args, '-f'], { cwd: '/', stdio: 'ignore' });
  return { signal: (signal) => void child.kill(signal), end: (signal = 'SIGKILL') => end(child, signal) };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

interface ClusterConfig {
  readonly args: readonly string[];
  readonly fsid: string;
}

function configAt(baseDirectory: string): Pick<ClusterConfig, 'args'> {
  return { args: ['-c', join(baseDirectory, 'ceph.conf')] };
}

function writeConfig(baseDirectory: string, monitorPort: number): ClusterConfig {
  const fsid = randomUUID();
  for (const directory of ['mon', 'osd', 'run']) mkdirSync(join(baseDirectory, directory), { recursive: true });
  const settings = {
    ...{ fsid, mon_host: `v2:127.0.0.1:${monitorPort}`, public_addr: '127.0.0.1', cluster_addr: '127.0.0.1' },
    ...{ auth_cluster_required: 'none', auth_service_required: 'none', auth_client_required: 'none' },
    ...{ ms_mon_client_mode: 'crc', ms_mon_service_mode: 'crc', ms_client_mode: 'crc' },
    ...{ osd_pool_default_size: 1, osd_pool_default_min_size: 1, osd_pool_default_pg_num: 4 },
    ...{ osd_pool_default_pg_autoscale_mode: 'off', osd_crush_chooseleaf_type: 0, mon_allow_pool_size_one: true },
    ...{ mon_data_avail_crit: 1, mon_data_avail_warn: 1, mon_data: join(baseDirectory, 'mon') },
    // Gateways notify each other of new buckets, and would wait half a minute for one that was killed.
    ...{ osd_default_notify_timeout: 1, client_notify_timeout: 1, osd_client_watch_timeout: 3 },
    ...{ run_dir: join(baseDirectory, 'run'), admin_socket: join(baseDirectory, 'run', '$name.$pid.asok') },
    ...{ log_file: join(baseDirectory, '$name.log'), pid_file: '', rgw_data: baseDirectory },
    ...{ osd_data: join(baseDirectory, 'osd'), osd_objectstore: 'memstore', memstore_device_bytes: 4 * 1024 ** 3 },
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(join(baseDirectory, 'ceph.conf'), ['[global]', ...lines, ''].join('\n'));
  return { ...configAt(baseDirectory), fsid };
}

async function makeMonitor(baseDirectory: string, port: number, { args, fsid }: ClusterConfig): Promise<void> {
  const map = join(baseDirectory, 'monmap');
  await run('monmaptool', ['--create', '--clobber', '--fsid', fsid, '--addv', 'a', `[v2:127.0.0.1:${port}]`, map]);
  await run('ceph-mon', [...args, '--mkfs', '-i', 'a', '--monmap', map]);
}

async function addStore({ args }: ClusterConfig): Promise<void> {
  const id = randomUUID();
  await run('timeout', ['60', 'ceph', ...args, 'osd', 'new', id, '0']);
  await run('ceph-osd', [...args, '-i', '0', '--mkfs', '--osd-uuid', id]);
}

async function addUser({ args }: ClusterConfig): Promise<void> {
  const keys = [`--access-key=${s3Keys.accessKeyId}`, `--secret-key=${s3Keys.secretAccessKey}`];
  const user = ['--uid=croft', '--display-name=croft', '--max-buckets=100000', ...keys];
  await run('timeout', ['60', 'radosgw-admin', ...args, '-n', 'client.rgw.a', 'user', 'create', ...user]);
}

async function mustListen(port: number): Promise<void> {
  for (let tries = 0; tries < 1800; tries += 1) {
    if (await accepts(port)) return;
    await pause(50);
  }
  throw new Error('the gateway does not listen');
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isConnected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isConnected;
}

export async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
