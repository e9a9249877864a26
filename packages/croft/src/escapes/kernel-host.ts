import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Escape, Ground } from './escape.ts';
import { probe, throughOf } from './probe.ts';
import { verdict } from './verdict.ts';

/** What of the machine itself can be reached. */
export const kernelHost: readonly Escape[] = [
  {
    id: 'B34',
    title: 'a setting of the kernel',
    guards: ['mounts', 'namespaces'],
    async attempt(ground) {
      // As root, if that is who runs the server: to anybody else the files themselves say no.
      const own = await ground.open({ owner: 'server' });
      const settings = ['sys/kernel/core_pattern', 'sys/kernel/modprobe', 'sysrq-trigger', 'sys/vm/drop_caches'];
      const probed = await probe(
        own,
        settings.map((name) => `open-to-write /proc/${name}`),
      );
      const { output } = await own.run(
        'find /proc/s[a-z]* /proc/irq /proc/bus /proc/fs -type f -writable 2>/dev/null | head -3',
      );
      return verdict(throughOf(probed), output !== '' && `can be written: ${output.trimEnd().replaceAll('\n', ', ')}`);
    },
  },
  {
    id: 'B34b',
    title: 'the devices and parts of the machine',
    guards: ['mounts'],
    async attempt(ground) {
      const { output } = await ground.run(
        'ls -d /sys/* /boot /dev/[smvhn]d[a-z]* /dev/kmsg /dev/mem /dev/kvm 2>/dev/null; exit 0',
      );
      return verdict(output !== '' && `there are: ${output.trimEnd().split('\n').slice(0, 3).join(', ')}`);
    },
  },
  {
    id: 'B36',
    title: 'a socket of a service outside',
    guards: ['mounts'],
    async attempt(ground) {
      const path = join(ground.outside, 'service.sock');
      await using _service = await listen(path);
      chmodSync(path, 0o777);
      await ground.run(`ln -sfn ${path} service.sock; ln -sfn ${ground.outside} beside`);
      const probed = await probe(
        ground,
        [path, 'service.sock', 'beside/service.sock'].map((at) => `connect ${at}`),
      );
      return verdict(throughOf(probed), await knownSockets(ground));
    },
  },
  {
    id: 'B37',
    title: 'a socket outside that has no path',
    guards: ['network', 'landlock'],
    async attempt(ground) {
      const name = `croft-escape-${randomUUID()}`;
      await using _service = await listen(`\0${name}`);
      return verdict(throughOf(await probe(ground, [`connect-abstract ${name}`])));
    },
  },
];

/** Where services of a machine and of whoever works on it are found. */
async function knownSockets(ground: Ground) {
  const places = [
    '/run/docker.sock',
    '/var/run/docker.sock',
    '/run/containerd',
    '/run/dbus',
    '/run/user',
    '/tmp/.X11-unix',
  ];
  const { output } = await ground.run(
    `ls -d ${places.join(' ')} 2>/dev/null; env | grep -E '^(SSH_AUTH_SOCK|DISPLAY|DBUS)'; exit 0`,
  );
  return output !== '' && `there are: ${output.trimEnd().replaceAll('\n', ', ')}`;
}

async function listen(path: string) {
  const server = createServer((socket) => socket.end()).listen(path);
  await once(server, 'listening');
  return { [Symbol.asyncDispose]: async () => void server.close() };
}
