import { readFileSync, readlinkSync } from 'node:fs';
import type { ListeningPort, SandboxUsage } from '../../core/commands/sandbox.ts';
import type { Group } from '../../lib/cgroup/find-groups.ts';
import { proxyPort } from '../egress.ts';
import type { MeasuringThread } from '../growth/measuring-thread.ts';

interface SandboxUsageOptions {
  /** Process id, on this machine, of the sandbox's first process. */
  readonly pid: number;
  readonly namespace: string | undefined;
  /** Absent: the processes of the namespace are added up. */
  readonly group?: Pick<Group, 'usage' | 'processorMs'> | undefined;
  readonly thread: MeasuringThread;
}

const listening = '0A';
const maxPorts = 100;

/** Measures the resources that the programs of a sandbox use. */
export function createUsageReader(options: SandboxUsageOptions): () => Promise<SandboxUsage> {
  return async () => ({ ...(await readUse(options)), ports: readListeningPorts(options.pid) });
}

async function readUse({ namespace, group, thread }: SandboxUsageOptions): Promise<Omit<SandboxUsage, 'ports'>> {
  // A control group counts threads, and no processes.
  const used = namespace === undefined ? undefined : await thread.ask('processor', { namespace });
  const processorMs = group?.processorMs?.() ?? used?.processorMs;
  const memoryBytes = group ? group.usage().memoryBytes : await readMemory(thread, namespace);
  return { processes: used?.processes, memoryBytes, processorMs };
}

async function readMemory(thread: MeasuringThread, namespace: string | undefined): Promise<number | undefined> {
  if (namespace === undefined) return undefined;
  return (await thread.ask('usage', { namespace, memoryBytes: Number.POSITIVE_INFINITY })).memoryBytes;
}

/**
 * Returns the addresses at which programs of a sandbox listen; none for a sandbox that shares the network of this
 * machine, whose ports are not its own.
 */
export function readListeningPorts(pid: number): ListeningPort[] {
  if (networkOf(pid) === networkOf('self')) return [];
  const found = ['tcp', 'tcp6'].flatMap((table) => parseListeners(readTable(pid, table)));
  const own = found.filter(({ port, address }) => port !== proxyPort || address !== '127.0.0.1');
  return [...new Map(own.map((one) => [`${one.address} ${one.port}`, one])).values()]
    .sort((one, other) => one.port - other.port)
    .slice(0, maxPorts);
}

function networkOf(pid: number | 'self'): string {
  return readlinkSync(`/proc/${pid}/ns/net`);
}

function readTable(pid: number, table: string): string {
  try {
    return readFileSync(`/proc/${pid}/net/${table}`, 'utf8');
  } catch {
    // The kernel has no IPv6, or the sandbox has ended.
    return '';
  }
}

/** Reads a table of the kernel: `sl local_address rem_address st …`, with addresses such as `0100007F:0BB8`. */
export function parseListeners(table: string): ListeningPort[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    return state === listening ? [{ port: Number.parseInt(port, 16), address: toAddress(address) }] : [];
  });
}

/** The bytes of each word of four are in the order of the processor, which is little-endian. */
function toAddress(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join('.');
  const text = bytes.join('').toLowerCase();
  if (/^0{32}$/.test(text)) return '::';
  if (/^0{31}1$/.test(text)) return '::1';
  return (text.match(/.{4}/g) ?? []).map((word) => word.replace(/^0{1,3}/, '')).join(':');
}
